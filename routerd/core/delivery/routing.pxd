import cython
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.address_route cimport AddressRoute

cdef long long _OVERLOADED
cdef long long _OUTSTANDING_MAX
cdef Py_ssize_t _EVENED_MAX


@cython.final
cdef class Routing:
    cdef PathRules _rules
    cdef Outlet _picked

    @cython.locals(outlet=Outlet, peer=Peer, spared=Peer)
    cdef Outlet choose(self, Arrival arrival, Address address, bint is_local_only)
    cdef bint _finds_route(self, Arrival arrival, Address address, Outlet local, Peer spared) except -1
    @cython.locals(
        limit="long long",
        value="long long",
        best=AddressRoute,
        route=AddressRoute,
        outlet=Outlet,
        routes=list,
        count=Py_ssize_t,
        at=Py_ssize_t,
        priority=int,
        _=Py_ssize_t,
    )
    cdef AddressRoute _least_loaded(self, Arrival arrival, Address address, Outlet local)
    @cython.locals(
        outlets=list,
        routes=list,
        priority=int,
        level=double,
        part=double,
        included=Py_ssize_t,
        before=Py_ssize_t,
        load_of_all=double,
        weight_of_all="long long",
        outlet=Outlet,
        route=AddressRoute,
        load="long long",
        is_chosen=bint,
    )
    cdef Py_ssize_t part_of(self, Arrival arrival, Address address, Outlet chosen, Py_ssize_t behind) except -2
    @cython.locals(best=AddressRoute, route=AddressRoute)
    cdef AddressRoute _detour(self, Arrival arrival, Address address)
    @cython.locals(
        routes=list,
        count=Py_ssize_t,
        at=Py_ssize_t,
        chosen=Py_ssize_t,
        best=AddressRoute,
        route=AddressRoute,
        _=Py_ssize_t,
    )
    cdef AddressRoute _nearest(self, Arrival arrival, Address address)
