import cython


@cython.final
cdef class HandleTable:
    cdef list _dense
    cdef dict _sparse
    cdef unsigned int _lowest
    cdef list _freed
    cdef readonly Py_ssize_t count

    cpdef object get(self, unsigned int number)
    @cython.locals(size=Py_ssize_t)
    cpdef void put(self, unsigned int number, object value)
    cpdef void remove(self, unsigned int number)
    @cython.locals(number="unsigned int")
    cpdef unsigned int lowest_free(self)
