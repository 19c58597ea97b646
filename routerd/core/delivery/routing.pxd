import cython
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.way cimport Way

cdef long long _OVERLOADED
cdef long long _OUTSTANDING_MAX


@cython.final
cdef class Routing:
    cdef PathRules _rules
    cdef Outlet _picked

    @cython.locals(outlet=Outlet)
    cdef Outlet choose(self, Arrival arrival, Address address, bint is_local_only)
    cdef bint _finds_way(self, Arrival arrival, Address address, Outlet local) except -1
    @cython.locals(
        limit="long long",
        value="long long",
        best=Way,
        way=Way,
        outlet=Outlet,
        ways=list,
        count=Py_ssize_t,
        at=Py_ssize_t,
        priority=int,
        _=Py_ssize_t,
    )
    cdef Way _least_loaded(self, Arrival arrival, Address address, Outlet local)
    @cython.locals(best=Way, way=Way)
    cdef Way _detour(self, Arrival arrival, Address address)
    @cython.locals(ways=list, count=Py_ssize_t, at=Py_ssize_t, chosen=Py_ssize_t, best=Way, way=Way, _=Py_ssize_t)
    cdef Way _nearest(self, Arrival arrival, Address address)
