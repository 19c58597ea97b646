import cython


@cython.final
cdef class Clock:
    cdef public double now
