import cython
from routerd.core.links.end cimport End
from routerd.core.links.peer cimport Peer
from routerd.core.links.trunk cimport Trunk
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session

cdef Py_ssize_t _BURST


@cython.final
cdef class WaitingTransfer:
    cdef readonly Delivery delivery
    cdef readonly bytearray octets


@cython.final
cdef class RoutedEnd(End):
    cdef readonly Peer peer
    cdef readonly Link link
    cdef readonly Sender sender
    cdef readonly Receiver receiver
    cdef readonly Trunk trunk
    cdef readonly bint is_near
    cdef public RoutedEnd other
    cdef public str address
    cdef public bint is_resumable
    cdef public object wish
    cdef public object prefixes
    cdef public str plain_address
    cdef public object reason
    cdef public bint has_left
    cdef public object detach_due
    cdef public object waiting
    cdef public Delivery dropped
    cdef readonly long long held
    cdef public double dry_since

    @cython.locals(session=Session)
    cpdef bint is_stuck(self) except -1
    cpdef void wait(self)
    cpdef void hold(self)
    @cython.locals(held="long long")
    cpdef void let_go(self)
