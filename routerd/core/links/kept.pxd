import cython
from routerd.core.links.parked cimport Parked


@cython.final
cdef class Kept:
    cdef readonly Parked message
    cdef readonly set tried
    cdef public bint is_over
