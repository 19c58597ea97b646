cimport cython
from libc.stdint cimport int64_t

cdef dict _codes_by_name
cdef object _new_str
cdef list _familiar_octets
cdef list _familiar_symbols
cdef Py_ssize_t _SLOTS


cdef class Reader:
    cdef object _data
    cdef const unsigned char* view
    cdef readonly Py_ssize_t pos
    cdef readonly Py_ssize_t end
    cdef readonly Py_ssize_t list_end
    cdef int _depth
    cdef long long _count_limit
    cdef Py_ssize_t _size_limit
    cdef long long _weightless

    cpdef int reset(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    cdef int begin(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    cpdef int peek(self) except -1

    @cython.locals(at=cython.Py_ssize_t)
    cdef int _constructor(self) except -1
    @cython.locals(start=cython.Py_ssize_t)
    cdef Py_ssize_t _take(self, Py_ssize_t count, Py_ssize_t at) except -1
    @cython.locals(view="const unsigned char*", first=cython.uint)
    cdef unsigned int _u32(self, Py_ssize_t at) noexcept
    @cython.locals(size=cython.Py_ssize_t)
    cdef Py_ssize_t _size(self, int code, Py_ssize_t at) except -1
    @cython.locals(width=cython.Py_ssize_t, start=cython.Py_ssize_t, count=cython.longlong)
    cdef int64_t _count(self, int code, Py_ssize_t at, Py_ssize_t stop) except -1
    @cython.locals(octets=bytes)
    cdef bytes octets(self, Py_ssize_t start, Py_ssize_t stop)
    @cython.locals(size=cython.Py_ssize_t, start=cython.Py_ssize_t)
    cdef bytes _binary(self, int code, Py_ssize_t at)
    @cython.locals(size=cython.Py_ssize_t, start=cython.Py_ssize_t)
    cdef object _string(self, int code, Py_ssize_t at)
    @cython.locals(view="const unsigned char*", other="const unsigned char*", same=cython.Py_ssize_t)
    cdef bint _matches(self, Py_ssize_t start, Py_ssize_t size, bytes octets) noexcept
    @cython.locals(size=cython.Py_ssize_t, start=cython.Py_ssize_t, slot=cython.Py_ssize_t)
    cdef object _symbol(self, int code, Py_ssize_t at)
    cdef bint _truth(self, int number, Py_ssize_t at) except -1

    @cython.locals(at=cython.Py_ssize_t, code=cython.int, start=cython.Py_ssize_t, high=cython.longlong)
    cpdef int64_t read_descriptor(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef int64_t read_list(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int, count=cython.longlong)
    cpdef int64_t read_map_start(self) except -2
    @cython.locals(size=cython.Py_ssize_t, stop=cython.Py_ssize_t, count=cython.longlong)
    cdef int64_t _step_into(self, int code, Py_ssize_t at) except -1

    @cython.locals(at=cython.Py_ssize_t)
    cpdef bint read_null(self) except -1
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef int read_boolean(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef int read_ubyte(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int, start=cython.Py_ssize_t)
    cpdef int read_ushort(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef int64_t read_uint(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int, start=cython.Py_ssize_t, high=cython.ulonglong)
    cpdef object read_ulong(self)
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef object read_string(self)
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef object read_symbol(self)
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef object read_binary(self)
    @cython.locals(at=cython.Py_ssize_t)
    cpdef int64_t read_four(self) except -2
    @cython.locals(
        at=cython.Py_ssize_t, code=cython.int, size=cython.Py_ssize_t, stop=cython.Py_ssize_t, count=cython.longlong,
        symbols=list,
    )
    cpdef tuple read_symbols(self)


cdef Py_ssize_t _slot(Py_ssize_t size, Py_ssize_t middle) except -1
cdef object _wrong(str wanted, int code, Py_ssize_t at)
