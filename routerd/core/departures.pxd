import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.passage cimport Passage, Passages, section
from routerd.core.settlement cimport Settlement
from routerd.core.way cimport Way
from routerd.wire.delivery cimport Delivery
from routerd.wire.sections cimport Sections

cdef long long _OVERLOADED
cdef long long _OUTSTANDING_MAX
cdef int _HEADER
cdef bytes _NOTHING


cdef class Departures(Settlement):
    cdef readonly str router_id
    cdef readonly bint is_edge_router
    cdef readonly object network
    cdef Py_ssize_t hops_max
    cdef double paths_changed_at
    cdef readonly Passages passages
    cdef readonly long long transit
    cdef Sections _header
    cdef Outlet picked
    cdef Delivery read_last
    cdef Passage passage_read
    cdef Passage routed
    cdef bytes _plain_entry
    cdef Py_ssize_t _plain_count

    @cython.locals(origin=str)
    cdef bint may_take(self, Address address, Way way, Passage passage) except -1
    @cython.locals(way=Way)
    cdef bint has_destination(self, Address address, Passage passage) except -1
    cdef bint may_detour(self, Address address, Way way, Passage passage) except -1
    cdef list ways_for(self, Address address, Passage passage)
    @cython.locals(way=Way)
    cdef Way choose_way(self, Address address, Passage passage, Outlet local, int priority, bint is_partial)
    @cython.locals(
        limit="long long",
        value="long long",
        best=Way,
        way=Way,
        outlet=Outlet,
        ways=list,
        count=Py_ssize_t,
        at=Py_ssize_t,
        _=Py_ssize_t,
    )
    cdef Way _least_loaded(self, Address address, Passage passage, Outlet local, int priority, bint is_partial)
    @cython.locals(best=Way, way=Way)
    cdef Way _detour(self, Address address, Passage passage, int priority, bint is_partial)
    @cython.locals(ways=list, count=Py_ssize_t, at=Py_ssize_t, chosen=Py_ssize_t, best=Way, way=Way, _=Py_ssize_t)
    cdef Way _nearest(self, Address address, Passage passage, int priority, bint is_partial)
    @cython.locals(view="const unsigned char*", at=Py_ssize_t)
    cdef int priority_of(self, Address address, object data, Py_ssize_t start, Py_ssize_t end) except -1
    @cython.locals(header=Sections)
    cdef int _priority_in(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    @cython.locals(passage=Passage, entry=bytes, count=Py_ssize_t)
    cdef Py_ssize_t marked(
        self,
        Inlet inlet,
        Address address,
        Delivery delivery,
        object data,
        Py_ssize_t start,
        Py_ssize_t end,
        bint is_partial,
    ) except -1
    cdef tuple _entry_of(
        self, Inlet inlet, Address address, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial
    )
    cdef bint has_to_mark(self, Inlet inlet, Way way) except -1
    cdef void departed(self, Inlet inlet, Way way, Delivery out)
