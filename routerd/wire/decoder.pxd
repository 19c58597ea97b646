cimport cython
from routerd.wire.reader cimport Reader

cdef object _new_int
cdef object _new_float
cdef object _new_str
cdef object _new_bytes
cdef tuple _SMALL_UINTS
cdef tuple _SMALL_ULONGS
cdef object _DOUBLE
cdef object _SINGLE
cdef bytes _form_table
cdef const unsigned char* _forms
cdef dict _names
cdef int _sized
cdef int _unknown
cdef int _WIDTH_MASK
cdef frozenset _PLAIN_KEYS
cdef Py_ssize_t _CHANCE_COLLISIONS


@cython.final
cdef class Decoder(Reader):
    cpdef object value(self)
    @cython.locals(code=cython.int)
    cpdef object read_map(self)
    @cython.locals(
        at=cython.Py_ssize_t, code=cython.int, form=cython.int, wanted=cython.Py_ssize_t, size=cython.Py_ssize_t
    )
    cpdef int skip(self) except -1

    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cdef object _value(self, int depth)
    @cython.locals(form=cython.int, kind=cython.int)
    cdef object _content(self, int code, Py_ssize_t at, int depth)
    cdef int _check_depth(self, int depth, Py_ssize_t at) except -1

    @cython.locals(start=cython.Py_ssize_t, octets=bytes)
    cdef object _fixed(self, int code, Py_ssize_t at, int width)
    cdef object _of_no_octets(self, int code)
    @cython.locals(number=cython.int, signed=cython.int)
    cdef object _of_one_octet(self, int code, Py_ssize_t start, Py_ssize_t at)
    @cython.locals(number=cython.int)
    cdef object _of_two_octets(self, int code, Py_ssize_t start)
    @cython.locals(number=cython.longlong, octets=bytes)
    cdef object _of_four_octets(self, int code, Py_ssize_t start, Py_ssize_t at)
    @cython.locals(high=cython.ulonglong, low=cython.ulonglong, octets=bytes, signed=cython.longlong)
    cdef object _of_eight_octets(self, int code, Py_ssize_t start)

    @cython.locals(size=cython.Py_ssize_t, stop=cython.Py_ssize_t, count=cython.longlong, outer=cython.Py_ssize_t)
    cdef object _compound(self, int code, Py_ssize_t at, int depth)
    @cython.locals(mapping=dict, pairs=list)
    cdef object _map(self, long long count, Py_ssize_t at, int depth)
    @cython.locals(descriptors=list, code=cython.int, values=list)
    cdef object _array(self, long long count, Py_ssize_t at, int depth)
    @cython.locals(width=cython.int)
    cdef int _check_elements(self, long long count, int form, Py_ssize_t at) except -1


@cython.locals(decoder=Decoder)
cpdef object decode(object data, object limits=*)

@cython.locals(form=cython.int)
cdef int _known_form(int code, Py_ssize_t at) except -1
cdef object _mapping(list pairs, Py_ssize_t at)
@cython.locals(payload=cython.ulonglong, wide=cython.ulonglong)
cdef object _single(bytes octets, unsigned long long bits)
