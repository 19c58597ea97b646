import cython
from routerd.core.clock cimport Clock
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport LinkRole
from routerd.core.links.routed_end cimport RoutedEnd
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.routed_traffic cimport RoutedTraffic
from routerd.wire.connection cimport Connection
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link
from routerd.wire.session cimport Session

cdef object _TOO_LONG
cdef object _NO_ROOM
cdef object _OPENED
cdef object _MAPPED
cdef object _ATTACH_RCVD
cdef object _ATTACH_SENT
cdef object _ATTACHED
cdef object _DETACH_RCVD
cdef object _DETACH_SENT
cdef tuple _BEGUN
cdef tuple _DETACHING


@cython.final
cdef class Wish:
    cdef readonly Peer to
    cdef readonly str name
    cdef readonly object performative
    cdef readonly object source
    cdef readonly object target
    cdef readonly object route
    cdef readonly str address


@cython.final
cdef class RoutedLinks:
    cdef public LinkRole role
    cdef Clock _clock
    cdef object _observer
    cdef Attaching _attaching
    cdef RoutedTraffic _traffic
    cdef object _totals
    cdef readonly dict pending
    cdef readonly dict namesakes

    @cython.locals(near=RoutedEnd)
    cpdef void connect(self, Peer peer, Link link, Wish wish, str address, bint is_resumable)
    @cython.locals(
        wish=Wish, connection=Connection, earlier=Link, link=Link, far=RoutedEnd, session=Session, is_sender=bint
    )
    cdef void _attach(self, RoutedEnd near)
    cdef Session _session(self, Peer peer)
    @cython.locals(end=RoutedEnd)
    cdef Session _shared_session(self, Peer peer)
    @cython.locals(near=RoutedEnd, link=Link, size="unsigned long long")
    cpdef void answered(self, RoutedEnd far, object performative)
    @cython.locals(link=Link)
    cdef void _refuse(self, RoutedEnd near, object error)
    @cython.locals(link=Link, other=RoutedEnd)
    cpdef void detaching(self, RoutedEnd end, bint closed, object error)
    @cython.locals(other=RoutedEnd, link=Link, near=RoutedEnd, again=RoutedEnd)
    cpdef void ended(self, RoutedEnd end, object error)
    @cython.locals(link=Link)
    cdef void _follow(self, RoutedEnd end, RoutedEnd other, object error)
    @cython.locals(closed=bint)
    cdef void _lose(self, RoutedEnd end, RoutedEnd other, object error)
    @cython.locals(link=Link)
    cdef void _detach(self, RoutedEnd end, bint closed, object error)
    @cython.locals(peer=Peer)
    cdef void _forget(self, RoutedEnd end)
    cdef void _leave_queue(self, RoutedEnd near)
    @cython.locals(end=RoutedEnd, other=RoutedEnd, link=Link)
    cpdef void violated(self, Peer peer, object error)
    @cython.locals(end=RoutedEnd)
    cpdef void each_second(self, double now)
    @cython.locals(link=Link, other=RoutedEnd)
    cdef void _give_up(self, RoutedEnd end)
    @cython.locals(end=RoutedEnd)
    cpdef void close_all(self, Peer peer, object error)


cdef class RoutedRole(LinkRole):
    cdef RoutedLinks _links
    cdef RoutedTraffic _traffic

    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    cpdef void ended(self, object end, object error)
