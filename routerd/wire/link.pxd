import cython
from routerd.wire.delivery cimport Delivery
from routerd.wire.flow cimport FlowFields
from routerd.wire.session cimport Session
from routerd.wire.transfer cimport TransferFields

cdef unsigned int _MASK
cdef object _ATTACHED
cdef object _ATTACH_RCVD
cdef object _DETACHED
cdef object _DETACH_RCVD
cdef object _RECV_ATTACH
cdef object _SEND_ATTACH
cdef object _SEND_DETACH
cdef bint _IS_BORN_BLANK
cdef Py_ssize_t _SPARES_MAX


cdef class Link:
    cdef public Session session
    cdef readonly str name
    cdef readonly bint is_sender
    cdef public object state
    cdef public bint is_attached
    cdef public long long handle
    cdef public long long remote_handle
    cdef readonly object source
    cdef readonly object target
    cdef readonly object remote_source
    cdef readonly object remote_target
    cdef readonly int snd_settle_mode
    cdef readonly int rcv_settle_mode
    cdef readonly unsigned long long max_message_size
    cdef public unsigned long long remote_max_message_size
    cdef public unsigned int delivery_count
    cdef public long long credit
    cdef public long long available
    cdef public bint drain
    cdef public Py_ssize_t unsettled_count
    cdef public long long octets_in
    cdef readonly unsigned int initial_delivery_count
    cdef public bint is_incomplete
    cdef public bint is_closed
    cdef readonly bint has_error
    cdef public bint is_stolen
    cdef public bint is_turned_away
    cdef public bint is_over
    cdef public bint is_reported
    cdef public bint is_flow_due
    cdef public bint is_relayed
    cdef readonly bint is_asked
    cdef public bint is_echo_due
    cdef public dict suspended
    cdef public unsigned int next_tag
    cdef Delivery _spare
    cdef Py_ssize_t _spares
    cdef public object flow_properties
    cdef public object context

    @cython.locals(delivery=Delivery)
    cdef Delivery new_delivery(self)
    cpdef void take_back(self, Delivery delivery)
    cpdef void drop_spares(self)
    cpdef void forget_suspended(self, Delivery delivery)
    cpdef void take_over(self, Link earlier)
    cpdef void move(self, object event)
    cpdef object check_move(self, object event)
    cpdef void receive_attach(self, object performative)
    cpdef long long credit_on_wire(self) except -1
    cpdef void receive_flow(self, FlowFields fields)
    cpdef void receive_transfer(self, TransferFields fields, object data, Py_ssize_t end)
    cpdef void forget_aborted(self)
    cpdef Py_ssize_t emit(self, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end, bint more) except -2
    cpdef void advertise(self)
    cdef void passed(self, unsigned int count)
    cpdef void drop_queued(self)
