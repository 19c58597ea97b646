import cython

cdef Py_ssize_t _CANDIDATES_MAX
cdef int _OPEN
cdef long long _NUMBER_MAX
cdef int _LAST_OUTCOME
cdef object _NO_LARGE
cdef object _NO_WHOLE
cdef object _NO_SMALL


@cython.final
cdef class Late:
    cdef int flow
    cdef int path
    cdef long long time_us
    cdef long long stamp_us
    cdef long long key
    cdef long long size
    cdef int priority
    cdef int hop
    cdef int choice
    cdef list cells


@cython.final
cdef class Rows:
    cdef object columns
    cdef object register
    cdef dict late
    cdef bint is_over
    cdef Py_ssize_t open
    cdef Py_ssize_t count
    cdef Py_ssize_t _cells
    cdef Py_ssize_t _rows_max
    cdef Py_ssize_t _cells_max
    cdef Py_ssize_t _latency_count
    cdef Py_ssize_t _key_count
    cdef Py_ssize_t _choice_count
    cdef Py_ssize_t _cause_count
    cdef long long[::1] _times
    cdef long long[::1] _latencies
    cdef long long[::1] _keys
    cdef int[::1] flow_numbers
    cdef int[::1] _path_numbers
    cdef int[::1] _sizes
    cdef int[::1] _last_cells
    cdef signed char[::1] _priorities
    cdef signed char[::1] _choices
    cdef int[::1] _outcomes
    cdef int[::1] _causes
    cdef signed char[::1] _hops
    cdef int[::1] _links
    cdef int[::1] _costs
    cdef int[::1] _outstanding

    cdef bint is_full(self) noexcept
    cdef Py_ssize_t room(self, Py_ssize_t candidates) except -1
    @cython.locals(at=Py_ssize_t)
    cdef Py_ssize_t begin(self, int flow, int path, int hop, long long size) noexcept
    @cython.locals(at=Py_ssize_t)
    cdef void describe(self, long long time_us, long long stamp_us, int priority, long long key) noexcept
    @cython.locals(at=Py_ssize_t, cell=Py_ssize_t, number=Py_ssize_t)
    cdef void consider(self, int link, long long cost, long long outstanding, bint is_chosen) noexcept
    @cython.locals(late=Late)
    cdef int grow(self, Py_ssize_t at, long long octets) except -1
    cdef void complete(self, Py_ssize_t at, int outcome, int cause, long long now_us) noexcept
    @cython.locals(at=Py_ssize_t, cells=list, i=Py_ssize_t)
    cdef Py_ssize_t write_late(self, Late late) except -1
    @cython.locals(at=Py_ssize_t)
    cdef object hand_over(self, bint keeps_open)
    @cython.locals(late=Late, cell=Py_ssize_t)
    cdef Late _late(self, Py_ssize_t at)
    cdef int _let_go(self) except -1
