import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.credit cimport Credit
from routerd.core.delivery.intake cimport Intake
from routerd.core.delivery.queues cimport Queues
from routerd.core.directory.directory cimport Directory
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport ConnectionRole, LinkRole
from routerd.core.links.trunk cimport Trunk
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.control cimport ControlRole
from routerd.core.roles.ends cimport Ends
from routerd.core.roles.link_routing cimport LinkRouting
from routerd.core.roles.address_routes cimport AddressRoutes
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link

cdef object _NOT_YET


@cython.final
cdef class Trunks:
    cdef public LinkRole outlet_role
    cdef public LinkRole inlet_role
    cdef public LinkRole control_role
    cdef Clock _clock
    cdef object _settings
    cdef object _observer
    cdef Directory _directory
    cdef Queues _queues
    cdef Attaching _attaching
    cdef AddressRoutes _routes
    cdef LinkRouting _routing
    cdef public list events
    cdef readonly dict wanting

    cpdef void connected(self, Peer peer, object performative)
    cpdef void lost(self, Peer peer)
    cpdef void down(self, Trunk trunk)
    cpdef void outlet_answered(self, Outlet outlet)
    cpdef void outlet_ended(self, Outlet outlet)
    @cython.locals(trunk=Trunk)
    cpdef void open_streams(self)
    cdef void _look_after_streams(self, Trunk trunk)
    cdef void _do_without_streams(self, Trunk trunk)


cdef class TrunkRole(ConnectionRole):
    cdef Trunks _trunks

    cpdef void opened(self, object peer, object performative)
    cpdef void closed(self, object peer)
    cpdef void attached(self, object peer, Link link, object performative)


cdef class TrunkControlRole(ControlRole):
    cdef Trunks _trunks

    cpdef void take(self, Inlet inlet, bytes octets)
    cpdef void left(self, Inlet inlet)


cdef class TrunkInletRole(LinkRole):
    cdef Intake _intake
    cdef Credit _credit
    cdef Ends _ends

    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    @cython.locals(inlet=Inlet)
    cpdef void answered(self, object end)
    cpdef void ended(self, object end, object error)


cdef class TrunkOutletRole(LinkRole):
    cdef Credit _credit
    cdef Ends _ends
    cdef Trunks _trunks

    cpdef void flow(self, object end)
    cpdef void answered(self, object end)
    @cython.locals(outlet=Outlet, was_open=bint)
    cpdef void ended(self, object end, object error)
