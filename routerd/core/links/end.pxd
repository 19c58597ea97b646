from routerd.core.links.role cimport LinkRole

cdef object _ACCEPTED
cdef object _RELEASED


cdef class End:
    cdef readonly long long number
    cdef public LinkRole role
    cdef public bint is_open
    cdef public bint is_watched
    cdef public long long deliveries
    cdef public long long presettled
    cdef public long long dropped_presettled
    cdef public long long accepted
    cdef public long long rejected
    cdef public long long released
    cdef public long long modified
    cdef public long long delayed_1s
    cdef public long long delayed_10s

    cpdef tuple counters(self)
    cdef void count(self, object outcome)
    cdef void count_delay(self, double age) noexcept
