import cython
from routerd.core.links.address cimport Address
from routerd.core.links.end cimport End
from routerd.core.links.parked cimport Collected
from routerd.core.links.peer cimport Peer
from routerd.core.links.recorded_flow cimport Flow
from routerd.core.links.trunk cimport Trunk
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver

cdef long long _REACH_LEAST
cdef long long _SMALL
cdef int _SETTLED


@cython.final
cdef class Inlet(End):
    cdef readonly Peer peer
    cdef public Trunk trunk
    cdef readonly Receiver link
    cdef public Address address
    cdef readonly bint is_fabric
    cdef readonly bint is_relay
    cdef public bint is_stream
    cdef public bint is_control
    cdef public bint is_shared
    cdef public bint is_withheld
    cdef public bytes entry
    cdef public Py_ssize_t entry_count
    cdef public bytes entry_section
    cdef public bint is_quiet
    cdef public object guard
    cdef public bint takes_modified
    cdef public bint resends
    cdef public bint diverts
    cdef readonly bint gives_credit_at_once
    cdef readonly bint strips
    cdef readonly Py_ssize_t capacity
    cdef readonly Py_ssize_t reach
    cdef readonly bint is_short
    cdef readonly Py_ssize_t least_room
    cdef readonly Py_ssize_t ample_credit
    cdef public bint is_in_step
    cdef readonly long long unserved
    cdef readonly long long turned_back
    cdef readonly long long drained
    cdef public Py_ssize_t parked
    cdef public Py_ssize_t waiting
    cdef public Delivery current
    cdef public Collected collected
    cdef public Flow flow
    cdef readonly long long octets_before
    cdef readonly long long deliveries_before

    cpdef void join(self, Trunk trunk)
    @cython.locals(link=Link)
    cpdef void share_session(self)
    cpdef void narrow(self, Py_ssize_t window)
    @cython.locals(link=Receiver, room=Py_ssize_t, address=Address)
    cpdef void top_up(self)
    @cython.locals(link=Receiver, room=Py_ssize_t, address=Address)
    cpdef void fill_up(self)
    cpdef bint is_served(self, Address address) noexcept
    @cython.locals(messages="long long", octets="long long", reach="long long")
    cdef void _measure(self)
    cdef void _set_reach(self, Py_ssize_t reach)
    cdef bint _has_cheap_waits(self, Address address) except -1
    cdef inline void _grant(self, Address address, Py_ssize_t room)
    @cython.locals(link=Receiver, taken=Py_ssize_t)
    cdef void _grant_in_step(self, Address address, Py_ssize_t room)
    @cython.locals(link=Receiver)
    cpdef void set_share(self, Py_ssize_t share)
    @cython.locals(link=Receiver, room=Py_ssize_t)
    cpdef void recall(self)
    cdef void drain(self)
    cpdef void was_turned_back(self)
    cpdef void call_off(self)
    cpdef void withdraw(self)
