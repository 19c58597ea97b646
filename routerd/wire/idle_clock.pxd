import cython

cdef double _NEVER


@cython.final
cdef class IdleClock:
    cdef double _timeout_s
    cdef double _interval_s
    cdef double _heard
    cdef double _spoke

    cpdef void start(self, double now) noexcept
    cpdef void heard(self, double now) noexcept
    cpdef void spoke(self, double now) noexcept
    cpdef void keep_alive(self, double remote_timeout_s) noexcept
    cpdef double deadline(self, bint may_speak) noexcept
    cpdef bint is_peer_lost(self, double now) noexcept
    cpdef bint is_word_due(self, double now) noexcept
