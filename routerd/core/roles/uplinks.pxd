import cython
from routerd.core.delivery.credit cimport Credit
from routerd.core.delivery.intake cimport Intake
from routerd.core.directory.directory cimport Directory
from routerd.core.directory.naming cimport phase_of
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport ConnectionRole, LinkRole
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.claims cimport Claims
from routerd.core.roles.control cimport ControlRole
from routerd.core.roles.ends cimport Ends
from routerd.core.roles.trunks cimport Trunks
from routerd.core.roles.address_routes cimport AddressRoutes
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link


@cython.final
cdef class Uplinks:
    cdef public LinkRole outlet_role
    cdef public LinkRole inlet_role
    cdef public LinkRole notice_role
    cdef str _router_id
    cdef Directory _directory
    cdef Attaching _attaching
    cdef AddressRoutes _routes
    cdef Trunks _trunks
    cdef object _requests
    cdef readonly object active
    cdef dict _reserve
    cdef long long _news_count
    cdef dict _consumed
    cdef dict _produced

    cpdef void lost(self, Peer peer)
    cpdef void answered(self, Link link)
    cpdef void outlet_ended(self, Outlet outlet)
    cpdef void take_notice(self, bytes octets)
    cpdef void consumers_changed(self, Address address)
    cpdef void producers_changed(self, Address address)
    cpdef void end_turn(self)


cdef class UplinkRole(ConnectionRole):
    cdef Uplinks _uplinks
    cdef Claims _claims

    cpdef void opened(self, object peer, object performative)
    cpdef void closed(self, object peer)
    cpdef void attached(self, object peer, Link link, object performative)


cdef class UplinkOutletRole(LinkRole):
    cdef Credit _credit
    cdef Ends _ends
    cdef Trunks _trunks
    cdef Uplinks _uplinks

    cpdef void flow(self, object end)
    @cython.locals(outlet=Outlet)
    cpdef void answered(self, object end)
    @cython.locals(outlet=Outlet, was_open=bint)
    cpdef void ended(self, object end, object error)


cdef class UplinkInletRole(LinkRole):
    cdef Directory _directory
    cdef Intake _intake
    cdef Credit _credit
    cdef Ends _ends
    cdef Uplinks _uplinks

    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    @cython.locals(inlet=Inlet)
    cpdef void answered(self, object end)
    @cython.locals(inlet=Inlet, address=Address)
    cpdef void ended(self, object end, object error)


cdef class NoticeRole(ControlRole):
    cdef Uplinks _uplinks

    cpdef void take(self, Inlet inlet, bytes octets)
    cpdef void left(self, Inlet inlet)
