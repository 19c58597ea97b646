import cython
from routerd.core.delivery.credit cimport Credit
from routerd.core.delivery.intake cimport Intake
from routerd.core.delivery.queues cimport Queues
from routerd.core.directory.directory cimport Directory
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport ConnectionRole, LinkRole
from routerd.core.links.sibling_streams cimport Streams
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.demand cimport Demand
from routerd.core.roles.ends cimport Ends
from routerd.core.roles.fabric cimport Fabric
from routerd.core.roles.link_routing cimport LinkRouting
from routerd.core.roles.address_routes cimport AddressRoutes
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link

cdef object _NO_ADDRESS
cdef object _ATTACHED
cdef object _OPENED


@cython.final
cdef class Siblings:
    cdef Directory _directory
    cdef Queues _queues
    cdef Attaching _attaching
    cdef Demand _demand
    cdef Fabric _fabric
    cdef AddressRoutes _routes
    cdef object _link_routes
    cdef LinkRouting _routing
    cdef long long _worker
    cdef readonly tuple version
    cdef long long _sequence
    cdef object _awaiting

    cpdef void await_workers(self, Outlet outlet)
    cpdef void connected(self, Peer peer, object performative)
    cpdef void lost(self, Peer peer)
    @cython.locals(outlet=Outlet, before=Py_ssize_t, is_wanted=bint)
    cpdef void refresh(self, Address address, bint has_message=*)
    cdef void _retire(self, object neighbour, Outlet outlet)
    @cython.locals(outlet=Outlet)
    cdef void _attach(self, object neighbour, Address address, Py_ssize_t consumers)
    @cython.locals(link=Link)
    cpdef void answered(self, Outlet outlet)
    @cython.locals(link=Link, streams=Streams)
    cpdef void stream_answered(self, Outlet outlet)
    @cython.locals(address=Address)
    cpdef void attached(self, Peer peer, Link link, object performative)
    @cython.locals(directory=Directory, uneven=dict, address=Address)
    cpdef void end_turn(self)
    @cython.locals(directory=Directory, streams=Streams)
    cdef void _even_streams(self)


cdef class FabricRole(ConnectionRole):
    cdef Siblings _siblings

    cpdef void opened(self, object peer, object performative)
    cpdef void closed(self, object peer)
    cpdef void attached(self, object peer, Link link, object performative)


cdef class FabricOutletRole(LinkRole):
    cdef Directory _directory
    cdef Queues _queues
    cdef Credit _credit
    cdef Ends _ends
    cdef AddressRoutes _routes
    cdef Siblings _siblings

    cpdef void flow(self, object end)
    @cython.locals(outlet=Outlet)
    cpdef void answered(self, object end)
    @cython.locals(outlet=Outlet, was_open=bint)
    cpdef void ended(self, object end, object error)
    cdef void _stream_ended(self, Outlet outlet)


cdef class FabricInletRole(LinkRole):
    cdef Directory _directory
    cdef Intake _intake
    cdef Credit _credit
    cdef Ends _ends

    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    @cython.locals(inlet=Inlet, address=Address)
    cpdef void ended(self, object end, object error)
