import cython


@cython.final
cdef class Ranges:
    cdef list _firsts
    cdef list _lasts

    cpdef list spans(self)
    @cython.locals(at=Py_ssize_t)
    cpdef bint has(self, long long number) except -1
    cpdef list numbers(self)
    @cython.locals(last="long long")
    cpdef void add(self, long long number)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t)
    cpdef void add_range(self, long long first, long long last)
    cpdef void update(self, Ranges other)
    cpdef void discard(self, long long number)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, below="long long", above="long long")
    cpdef void discard_range(self, long long first, long long last)
    cpdef void subtract(self, Ranges other)
    @cython.locals(both=Ranges, mine=Py_ssize_t, theirs=Py_ssize_t)
    cpdef Ranges shared(self, Ranges other)
    @cython.locals(made=Ranges)
    cpdef Ranges copy(self)
    @cython.locals(taken=Ranges)
    cpdef Ranges take(self)


@cython.final
cdef class Acknowledged:
    cdef dict _by_version

    @cython.locals(known=Ranges)
    cpdef void add(self, long long version, Ranges numbers)
    @cython.locals(found=Ranges)
    cpdef Ranges at_least(self, long long version)
    @cython.locals(known=Ranges)
    cpdef void forget(self, Ranges numbers)
