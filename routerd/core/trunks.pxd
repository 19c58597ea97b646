import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.core.naming cimport Naming
from routerd.core.outlet cimport Outlet
from routerd.core.passage cimport Passage
from routerd.core.peer cimport Peer
from routerd.core.siblings cimport Siblings
from routerd.core.trunk cimport Trunk
from routerd.core.way cimport Way
from routerd.wire.link cimport Link

cdef object _NOT_A_ROUTER
cdef object _NOT_YET
cdef object _NO_ROUTE


cdef class Trunks(Siblings):
    cdef readonly object settings
    cdef readonly dict trunks
    cdef object _token
    cdef object _space
    cdef Naming _naming
    cdef list _events
    cdef dict _retiring
    cdef dict _passing
    cdef object _expectations

    cpdef void own_link_answered(self, Link link)
    cpdef void router_outlet_ended(self, Outlet outlet)
    cpdef void router_inlet_ended(self, Inlet inlet)
    cpdef void trunk_connected(self, Peer peer, object performative)
    cpdef void trunk_lost(self, Peer peer)
    cdef void control_arrived(self, Inlet inlet, bytes octets)
    @cython.locals(key=str, address=Address)
    cdef Address expected_destination(self, Passage passage, str to)
    @cython.locals(trunk=Trunk)
    cdef bint is_expected(self, Inlet inlet, Address address) except -1
    @cython.locals(key=str, address=Address)
    cdef Address trunk_destination(self, Passage passage, str to)
    @cython.locals(address=Address)
    cpdef Address passing_address(self, str key)
    @cython.locals(way=Way)
    cdef void _attach_for_message(self, Address address)
