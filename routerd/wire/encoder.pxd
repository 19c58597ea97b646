cimport cython
from routerd.wire.writer cimport Writer

cdef int _DEPTH
cdef object _U32
cdef object _U64
cdef object _I64
cdef object _SINGLE
cdef object _DOUBLE
cdef dict _RARE
cdef frozenset _KNOWN
cdef frozenset _NESTED
cdef dict _INTEGER_FORMS
cdef dict _OTHER_FIXED
cdef dict _VARIABLE
cdef dict _COMPOUND
cdef tuple _MISFITS


@cython.final
cdef class Encoder(Writer):
    cpdef int write(self, object value, int depth=*) except -1
    cdef int _write_as(self, object value, object kind, int depth) except -1
    cdef int _write_int(self, long long value) except -1
    cdef int _write_long(self, object value) except -1
    @cython.locals(start=cython.Py_ssize_t)
    cdef int _write_nested(self, object value, object kind, int depth) except -1
    @cython.locals(start=cython.Py_ssize_t, count=cython.Py_ssize_t)
    cdef int _write_compound(self, object value, int code, int depth) except -1
    cdef Py_ssize_t _write_content(self, object value, int code, int depth) except -1

    @cython.locals(code=cython.int)
    cdef int _write_elements(self, object values, object element, int depth) except -1
    @cython.locals(code=cython.int)
    cdef int _write_integers(self, object values, object element) except -1
    cdef int _write_constants(self, object values, object element) except -1
    @cython.locals(code=cython.int, contents=list, is_narrow=cython.bint, encoder=Encoder, count=cython.Py_ssize_t)
    cdef int _write_compounds(self, object values, object element, int depth) except -1
    cdef int _write_counted(self, Py_ssize_t count, bytes octets, bint is_narrow) except -1


@cython.locals(encoder=Encoder)
cpdef bytes encode(object value, int depth=*)
@cython.locals(encoder=Encoder)
cpdef int encode_into(bytearray out, object value, int depth=*) except -1

cdef int _check_depth(int depth) except -1
cdef object _known_ancestor(object kind)
