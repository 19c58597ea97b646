import cython

cdef double _CONTENDED_S
cdef double _REST_S
cdef double _RECENT_S

@cython.final
cdef class BusyPoll:
    cdef object _call_soon
    cdef object _look
    cdef double _span_s
    cdef double _patience_s
    cdef double _worked_at
    cdef double _rest_until
    cdef bint _is_awake

    cpdef bint is_busy(self, double now) except -1
    cpdef worked(self, double now)
    @cython.locals(now=double)
    cpdef look(self)
