import cython
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.address_route cimport AddressRoute

cdef long long _OVERLOADED
cdef long long _OUTSTANDING_MAX


@cython.final
cdef class Routing:
    cdef PathRules _rules
    cdef Outlet _picked

    @cython.locals(outlet=Outlet)
    cdef Outlet choose(self, Arrival arrival, Address address, bint is_local_only)
    cdef bint _finds_route(self, Arrival arrival, Address address, Outlet local) except -1
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
