import cython
from routerd.topics.ranges cimport Ranges
from routerd.topics.streams cimport ReceiveStream

cdef double _NEVER


@cython.final
cdef class Upstream:
    cdef readonly object place
    cdef readonly ReceiveStream stream
    cdef readonly dict numbered
    cdef public Ranges acknowledge
    cdef public Ranges knows
    cdef public double asked_at

    cpdef void begin_anew(self)
