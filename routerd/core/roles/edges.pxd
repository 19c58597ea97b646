import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.credit cimport Credit
from routerd.core.directory.directory cimport Directory
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport ConnectionRole, LinkRole
from routerd.core.links.trunk cimport Trunk
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.claims cimport Claimant, Claims
from routerd.core.roles.control cimport ControlRole
from routerd.core.roles.ends cimport Ends
from routerd.core.roles.trunks cimport Trunks
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link


@cython.final
cdef class Edges:
    cdef Clock _clock
    cdef object _observer
    cdef Directory _directory
    cdef Trunks _trunks
    cdef object _link_routes
    cdef readonly dict heard
    cdef double _looked_at

    cpdef void connected(self, Peer peer)
    cpdef void lost(self, Peer peer)
    @cython.locals(peer=Peer, trunk=Trunk)
    cpdef void let_pass_large(self, Outlet outlet)
    @cython.locals(trunk=Trunk)
    cpdef void forget_side(self, Outlet outlet)
    cpdef bint answer_lookup(self, Peer peer, bytes octets) except -1


cdef class EdgeClaim(Claimant):
    cdef Clock _clock
    cdef Directory _directory
    cdef Attaching _attaching
    cdef Trunks _trunks
    cdef Edges _edges
    cdef dict _roles
    cdef LinkRole _tracker_role

    @cython.locals(role=LinkRole, inlet=Inlet)
    cpdef object claim(self, Peer peer, Link link, object performative)
    @cython.locals(outlet=Outlet)
    cdef object _claim_tracker(self, Peer peer, Link link, object performative)


cdef class EdgeRole(ConnectionRole):
    cdef Edges _edges
    cdef Claims _claims

    cpdef void opened(self, object peer, object performative)
    cpdef void closed(self, object peer)
    cpdef void attached(self, object peer, Link link, object performative)


cdef class HeartbeatRole(ControlRole):
    cdef Edges _edges

    cpdef void take(self, Inlet inlet, bytes octets)
    cpdef void left(self, Inlet inlet)


cdef class LookupRole(ControlRole):
    cdef Edges _edges

    @cython.locals(is_read=bint)
    cdef void _taken(self, Inlet inlet, Delivery delivery, bytes octets)


cdef class TrackerRole(LinkRole):
    cdef Directory _directory
    cdef Credit _credit
    cdef Ends _ends

    cpdef void flow(self, object end)
    @cython.locals(outlet=Outlet, was_open=bint)
    cpdef void ended(self, object end, object error)
