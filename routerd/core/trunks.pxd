from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.peer cimport Peer
from routerd.core.ways cimport Ways
from routerd.wire.link cimport Link

cdef object _NOT_A_ROUTER
cdef object _NOT_YET


cdef class Trunks(Ways):
    cdef list _events
    cdef readonly dict wanting

    cpdef void own_link_answered(self, Link link)
    cpdef void router_outlet_ended(self, Outlet outlet)
    cpdef void router_inlet_ended(self, Inlet inlet)
    cpdef void trunk_connected(self, Peer peer, object performative)
    cpdef void trunk_lost(self, Peer peer)
    cdef void control_arrived(self, Inlet inlet, bytes octets)
