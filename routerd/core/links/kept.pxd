import cython
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked


@cython.final
cdef class Kept:
    cdef readonly Parked message
    cdef readonly set tried
    cdef public bint is_over

    cdef void goes_to(self, Outlet outlet)
    cdef bint had(self, Outlet outlet) except -1
