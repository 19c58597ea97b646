from routerd.wire.connection cimport Connection
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.delivery cimport Delivery
from routerd.wire.held_batch cimport HeldBatch
from routerd.wire.link cimport Link
from routerd.wire.session cimport Session


cdef class Handler:
    cpdef void on_authenticated(self, Connection connection)
    cpdef void on_authentication_failed(self, Connection connection)
    cpdef void on_opened(self, Connection connection, object performative)
    cpdef void on_closed(self, Connection connection, object error)
    cpdef void on_violation(self, Connection connection, object error)
    cpdef void on_session_begun(self, Session session, object performative)
    cpdef void on_session_flow(self, Session session)
    cpdef void on_session_ended(self, Session session, object error)
    cpdef void on_link_attached(self, Link link, object performative)
    cpdef void on_link_flow(self, Link link)
    cpdef void on_link_detaching(self, Link link, bint closed, object error)
    cpdef void on_link_detached(self, Link link, bint closed, object error)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cpdef void on_relayed(
        self, Link receiver, Link sender, Py_ssize_t count, DeliveryBatch batch, object data, Py_ssize_t start
    )
    cpdef void on_held(self, HeldBatch held)
    cpdef void on_hold_over(self, HeldBatch held)
    cpdef void on_accepted(self, DeliveryBatch batch, Py_ssize_t count)
    cpdef void on_parting(self, DeliveryBatch batch, Delivery delivery)
    cpdef void on_disposition(self, Delivery delivery)
    cpdef void on_output(self, Connection connection)
