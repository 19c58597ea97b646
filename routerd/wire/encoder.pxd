cimport cython

cdef int _DEPTH
cdef object _U32
cdef object _U64
cdef object _I64
cdef object _SINGLE
cdef object _DOUBLE
cdef dict _RARE
cdef frozenset _KNOWN
cdef dict _INTEGER_FORMS
cdef dict _OTHER_FIXED
cdef dict _VARIABLE
cdef dict _COMPOUND
cdef tuple _MISFITS

@cython.locals(out=bytearray)
cpdef bytes encode(object value, int depth=*)
@cython.locals(start=cython.Py_ssize_t)
cpdef int encode_into(bytearray out, object value, int depth=*) except -1

cpdef int write_null(bytearray out) except -1
cpdef int write_boolean(bytearray out, bint value) except -1
cpdef int write_ubyte(bytearray out, long long value) except -1
cpdef int write_ushort(bytearray out, long long value) except -1
cpdef int write_uint(bytearray out, long long value) except -1
cpdef int write_ulong(bytearray out, object value) except -1
@cython.locals(octets=bytes)
cpdef int write_string(bytearray out, object text) except -1
@cython.locals(octets=bytes)
cpdef int write_symbol(bytearray out, object text) except -1
cpdef int write_binary(bytearray out, object octets) except -1
@cython.locals(start=cython.Py_ssize_t, contents=list)
cpdef int write_symbols(bytearray out, object symbols) except -1
cpdef Py_ssize_t open_compound(bytearray out, int code) except -1
@cython.locals(size=cython.Py_ssize_t, header=bytearray)
cpdef int close_compound(bytearray out, Py_ssize_t start, Py_ssize_t count) except -1

@cython.locals(size=cython.Py_ssize_t)
cdef int _write_variable(bytearray out, int code, bytes octets) except -1
cdef int _append_size(bytearray out, Py_ssize_t size) except -1
cdef int _append_u32(bytearray out, unsigned int value) except -1

cdef int _write(bytearray out, object value, int depth) except -1
cdef int _write_as(bytearray out, object value, object kind, int depth) except -1
cdef int _write_signed(bytearray out, object value, int short, int full) except -1
cdef int _write_nested(bytearray out, object value, object kind, int depth) except -1
cdef object _known_ancestor(object kind)
@cython.locals(start=cython.Py_ssize_t, count=cython.Py_ssize_t)
cdef int _write_compound(bytearray out, object value, int code, int depth) except -1
cdef Py_ssize_t _write_content(bytearray out, object value, int code, int depth) except -1

cdef int _write_elements(bytearray out, object values, object element, int depth) except -1
cdef int _write_integers(bytearray out, object values, object element) except -1
@cython.locals(longest=cython.Py_ssize_t, octets=bytes)
cdef int _write_contents(bytearray out, list contents, int code) except -1
cdef int _write_constants(bytearray out, object values, object element) except -1
@cython.locals(code=int, contents=list, narrow=bint, content=bytearray, count=cython.Py_ssize_t, longest=cython.Py_ssize_t)
cdef int _write_compounds(bytearray out, object values, object element, int depth) except -1
cdef int _write_counted(bytearray out, bytearray content, Py_ssize_t count, bint narrow) except -1
