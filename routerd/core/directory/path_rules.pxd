import cython
from routerd.core.annotations.passage cimport Passage
from routerd.core.clock cimport Clock
from routerd.core.links.address cimport Address
from routerd.core.links.way cimport Way


@cython.final
cdef class PathRules:
    cdef Clock _clock
    cdef object _network
    cdef str _router_id
    cdef bint _is_edge
    cdef public Py_ssize_t hops_max
    cdef public double changed_at

    @cython.locals(origin=str)
    cdef bint may_take(self, Address address, Way way, Passage passage) except -1
    cdef bint may_detour(self, Address address, Way way, Passage passage) except -1
    @cython.locals(way=Way)
    cdef bint has_destination(self, Address address, Passage passage) except -1
    cdef list ways_for(self, Address address, Passage passage)
    cdef bint runs_in_circles(self, Passage passage) except -1
