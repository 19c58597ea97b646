cimport cython

cdef Py_ssize_t _largest_size
cdef Py_ssize_t _ROOM
cdef Py_ssize_t _SHORT_COPY
cdef Py_ssize_t _NARROW_HEADER
cdef Py_ssize_t _WIDE_HEADER


cdef class Writer:
    cdef bytearray _data
    cdef unsigned char* _view
    cdef Py_ssize_t _room
    cdef readonly Py_ssize_t end

    cpdef int clear(self) except -1
    @cython.locals(octets=bytes)
    cpdef bytes octets(self)
    @cython.locals(at=cython.Py_ssize_t)
    cdef Py_ssize_t _reserve(self, Py_ssize_t count) except -1
    @cython.locals(at=cython.Py_ssize_t)
    cdef int _put(self, int octet) except -1
    @cython.locals(at=cython.Py_ssize_t)
    cdef int _put_two(self, int first, int second) except -1
    @cython.locals(at=cython.Py_ssize_t, view="unsigned char*")
    cdef int _put_word(self, unsigned int value) except -1
    cdef int _put_size(self, Py_ssize_t size) except -1
    @cython.locals(
        size=cython.Py_ssize_t, at=cython.Py_ssize_t, i=cython.Py_ssize_t, view="unsigned char*",
        source="const unsigned char*",
    )
    cpdef int put_octets(self, bytes octets) except -1

    cpdef int write_null(self) except -1
    cpdef int write_boolean(self, bint value) except -1
    cpdef int write_ubyte(self, unsigned int value) except -1
    cpdef int write_ushort(self, unsigned int value) except -1
    cpdef int write_uint(self, unsigned int value) except -1
    cpdef int write_ulong(self, unsigned long long value) except -1
    @cython.locals(octets=bytes)
    cpdef int write_string(self, object text) except -1
    cpdef int write_symbol(self, object text) except -1
    @cython.locals(contents=list, start=cython.Py_ssize_t)
    cpdef int write_symbols(self, object symbols) except -1
    cpdef int write_binary(self, bytes octets) except -1
    @cython.locals(size=cython.Py_ssize_t)
    cdef int _write_variable(self, int code, bytes octets) except -1
    @cython.locals(at=cython.Py_ssize_t)
    cpdef Py_ssize_t open_compound(self, int code) except -1
    @cython.locals(size=cython.Py_ssize_t)
    cpdef int close_compound(self, Py_ssize_t start, Py_ssize_t count) except -1
    cpdef int close_list(self, Py_ssize_t start, Py_ssize_t count) except -1
    @cython.locals(content=cython.Py_ssize_t, size=cython.Py_ssize_t, code=cython.int)
    cdef int _widen(self, Py_ssize_t start, Py_ssize_t count) except -1
    @cython.locals(longest=cython.Py_ssize_t, octets=bytes)
    cdef int _write_contents(self, list contents, int code) except -1


cdef bytes _ascii(object text)
