import cython

cdef long long _STEPS
cdef long long _TWICE_STEPS
cdef long long _BUCKETS


@cython.final
cdef class LatencyHistogram:
    cdef long long _counts[4352]
    cdef readonly long long count
    cdef readonly long long least
    cdef readonly long long greatest

    @cython.locals(shift="long long", rest="long long", bucket="long long")
    cpdef void record(self, long long value)
    @cython.locals(rank="long long", seen="long long", bucket="long long")
    cpdef long long at(self, double fraction)
    @cython.locals(bucket="long long")
    cpdef void add(self, LatencyHistogram other)
    @cython.locals(bucket="long long", pairs=list)
    cpdef LatencyHistogram since(self, LatencyHistogram earlier)
    @cython.locals(bucket="long long", pairs=list)
    cpdef list counted(self)


cdef long long _ceiling(double number)
@cython.locals(shift="long long", rest="long long")
cdef long long _highest_in(long long bucket) except -1
