import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.queues cimport Queues
from routerd.core.directory.directory cimport Directory
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.trunk cimport Trunk
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.recording.journal cimport Journal
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.demand cimport Demand
from routerd.core.roles.fabric cimport Fabric
from routerd.wire.link cimport Link


@cython.final
cdef class AddressRoutes:
    cdef Clock _clock
    cdef Directory _directory
    cdef PathRules _rules
    cdef Journal _journal
    cdef Copies _copies
    cdef Queues _queues
    cdef Attaching _attaching
    cdef Demand _demand
    cdef Fabric _fabric
    cdef object _link_routes
    cdef long long _worker
    cdef long long _workers
    cdef bint _is_unsettled

    @cython.locals(had_routes=bint, route=AddressRoute)
    cdef void _reconsider(self, Address address)
    @cython.locals(route=AddressRoute)
    cpdef void find(self, Address address)
    @cython.locals(directory=Directory, address=Address)
    cpdef void each_second(self, double now)
    cpdef void no_news_of(self, Address address)
    cdef void _expect_no_more(self, Address address)
    @cython.locals(route=AddressRoute)
    cpdef void attach(self, Address address)
    @cython.locals(address=Address)
    cpdef void attach_all(self)
    cpdef void answered(self, Outlet outlet)
    @cython.locals(trunk=Trunk, address=Address, route=AddressRoute)
    cpdef void relay_attached(self, Peer peer, Link link, str key)
    @cython.locals(address=Address, route=AddressRoute)
    cpdef void trunk_lost(self, Trunk trunk)
    @cython.locals(retiring=dict, outlet=Outlet)
    cpdef void end_turn(self)
