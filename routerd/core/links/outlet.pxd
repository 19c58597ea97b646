import cython
from routerd.core.links.address cimport Address
from routerd.core.links.end cimport End
from routerd.core.links.peer cimport Peer
from routerd.core.links.trunk cimport Trunk
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.links.sibling_streams cimport Streams
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session

cdef Py_ssize_t _BURST
cdef Py_ssize_t _CHOKED


@cython.final
cdef class Outlet(End):
    cdef readonly Peer peer
    cdef public Trunk trunk
    cdef public Sender link
    cdef readonly Address address
    cdef readonly bint is_fabric
    cdef public AddressRoute route
    cdef public AddressRoute side
    cdef public Streams streams
    cdef public Outlet main
    cdef public Py_ssize_t place
    cdef readonly bint is_starved
    cdef public bint is_draining
    cdef readonly bint strips
    cdef readonly bint is_marked
    cdef readonly bint is_told
    cdef readonly bint is_dressed
    cdef public Py_ssize_t weight
    cdef public object waiting
    cdef public dict held
    cdef public Py_ssize_t stuck_octets
    cdef readonly Peer unheld_of
    cdef readonly Py_ssize_t unheld
    cdef public long long stalls
    cdef public double dry_since
    cdef readonly long long lead
    cdef public object source
    cdef public object recorded_in
    cdef public int recorded_as

    @cython.locals(link=Sender, session=Session)
    cpdef bint can_send(self) except -1
    cpdef Outlet link_for(self, bint is_partial)
    @cython.locals(load=Py_ssize_t)
    cpdef Py_ssize_t load(self) except -1
    @cython.locals(session=Session)
    cpdef bint is_stuck(self) except -1
    cpdef void ran_dry(self, double now)
    @cython.locals(credit="long long")
    cpdef void note_flow(self, double now)
    @cython.locals(session=Session)
    cpdef void wait_for_room(self)
    @cython.locals(session=Session)
    cpdef void wait_no_more(self)
    cdef void _starve(self)
    cdef bint is_choked(self, Py_ssize_t size) except -1
    cpdef void keep_unheld(self, Peer peer, Py_ssize_t size)
    cpdef void hold(self, Session session)
    cpdef void let_go(self)
