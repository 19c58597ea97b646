import cython

cdef int _DATA
cdef int _BINARY8
cdef int _BINARY32
cdef long long _NOTHING

@cython.locals(view="unsigned char*", i=int)
cpdef void put_stamp(bytearray message, Py_ssize_t at, unsigned long long stamp)
@cython.locals(view="unsigned char*", i=int)
cpdef void put_number(bytearray message, Py_ssize_t at, unsigned long long number)
@cython.locals(view="const unsigned char*", at=Py_ssize_t, kind=int)
cpdef Py_ssize_t body_place(object data, Py_ssize_t start, Py_ssize_t end) except -2
@cython.locals(view="const unsigned char*", at=Py_ssize_t, kind=int, stamp="unsigned long long", i=int)
cpdef long long stamp_in(object data, Py_ssize_t start, Py_ssize_t end) except -2
