import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.core.clock cimport Clock
from routerd.core.links.address cimport Address
from routerd.core.links.address_route cimport AddressRoute


@cython.final
cdef class PathRules:
    cdef Clock _clock
    cdef object _network
    cdef str _router_id
    cdef bint _is_edge
    cdef public Py_ssize_t hops_max
    cdef public double changed_at

    @cython.locals(origin=str)
    cdef bint may_take(self, Address address, AddressRoute route, RouterAnnotations annotations) except -1
    cdef bint may_detour(self, Address address, AddressRoute route, RouterAnnotations annotations) except -1
    @cython.locals(route=AddressRoute)
    cdef bint has_destination(self, Address address, RouterAnnotations annotations) except -1
    cdef list routes_for(self, Address address, RouterAnnotations annotations)
    cdef bint runs_in_circles(self, RouterAnnotations annotations) except -1
