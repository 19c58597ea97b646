import cython
from routerd.core.links.address cimport Address
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.trunk cimport Trunk


@cython.final
cdef class AddressRoute:
    cdef readonly Address address
    cdef readonly long long trunk
    cdef readonly str next_hop
    cdef public Trunk end
    cdef public Outlet outlet
    cdef public Outlet beside
    cdef public bint is_refused
    cdef public tuple routers
    cdef public long long cost
    cdef public Py_ssize_t nearest
    cdef public Py_ssize_t outstanding
    cdef public object waiting
    cdef public object recorded_in
    cdef public int recorded_as

    @cython.locals(outlet=Outlet)
    cpdef Outlet pick(self, int priority, bint is_partial)
