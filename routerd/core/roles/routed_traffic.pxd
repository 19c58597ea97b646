import cython
from routerd.core.clock cimport Clock
from routerd.core.links.peer cimport Peer
from routerd.core.links.routed_end cimport RoutedEnd, WaitingTransfer
from routerd.wire cimport c_memory as memory
from routerd.wire.delivery cimport Delivery, DeliveryRing
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.relay cimport Relay
from routerd.wire.sender cimport Sender

cdef object _NO_MESSAGE
cdef object _STATE_TOO_LONG
cdef object _MODIFIED
cdef object _RELEASED
cdef Py_ssize_t _BURST
cdef long long _CREDIT_MAX
cdef object _ATTACH_SENT


@cython.final
cdef class RoutedTraffic:
    cdef Clock _clock

    @cython.locals(other=RoutedEnd, link=Link)
    cpdef void flow(self, RoutedEnd end)
    @cython.locals(sender=Link, receiver=Receiver, credit="long long")
    cdef void _pass_credit(self, RoutedEnd end, RoutedEnd other)
    @cython.locals(receiver=Link, sender=Sender, back="long long")
    cdef void _pass_count(self, RoutedEnd end, RoutedEnd other)
    @cython.locals(other=RoutedEnd, relay=Relay)
    cpdef void transfer(self, RoutedEnd end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    @cython.locals(sender=Sender, sent=Delivery)
    cdef bint _begin(
        self, RoutedEnd end, RoutedEnd other, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop
    ) except -1
    @cython.locals(end=RoutedEnd, other=RoutedEnd)
    cpdef void relayed(self, Link receiver, Link sender, Py_ssize_t count, DeliveryBatch batch)
    @cython.locals(end=RoutedEnd, other=RoutedEnd)
    cpdef void accepted(self, DeliveryBatch batch, Py_ssize_t count)
    @cython.locals(sender=Sender)
    cdef void _go_on(
        self,
        RoutedEnd end,
        RoutedEnd other,
        Delivery delivery,
        Delivery sent,
        object data,
        Py_ssize_t start,
        Py_ssize_t stop,
    )
    @cython.locals(other=RoutedEnd)
    cdef bint _is_empty(self, RoutedEnd end, Delivery delivery) except -1
    cdef void _drop(self, RoutedEnd end, RoutedEnd other, Delivery delivery, object outcome)
    cdef void _keep(
        self, RoutedEnd end, RoutedEnd other, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop
    )
    @cython.locals(end=RoutedEnd)
    cpdef void relieve(self, Peer peer)
    @cython.locals(other=RoutedEnd, link=Link, kept=WaitingTransfer, delivery=Delivery)
    cdef void _serve(self, RoutedEnd end)
    @cython.locals(counterpart=Delivery)
    cpdef void decided(self, Delivery delivery)
    cdef void _tell(self, Delivery delivery, object state, bint settled)
    @cython.locals(sent=Delivery, delivery=Delivery)
    cpdef void settle_left(self, RoutedEnd end)
    cpdef void send_detach(self, Link link, bint closed, object error)
    @cython.locals(sender=Sender, current=Delivery, before=Delivery, kept=WaitingTransfer)
    cpdef void cut(self, RoutedEnd end, RoutedEnd other)
    @cython.locals(link=Link, delivery=Delivery, counterpart=Delivery, kept=WaitingTransfer)
    cpdef void let_go(self, RoutedEnd end)


cdef void _count(RoutedEnd end, object outcome)
@cython.locals(ring=DeliveryRing)
cdef list _unsettled(Link link)
