cimport cython
from libc.stdint cimport int64_t

cdef object _new_int
cdef object _new_float
cdef object _new_str
cdef object _new_bytes
cdef tuple _SMALL_UINTS
cdef tuple _SMALL_ULONGS
cdef object _DOUBLE
cdef object _SINGLE
cdef dict _FAMILIAR_SYMBOLS
cdef dict _CODES_BY_NAME
cdef dict _NAMES_BY_CONSTRUCTOR
cdef bytes _FORM_TABLE
cdef const unsigned char* _forms
cdef unsigned int _FIXED
cdef unsigned int _SIZED
cdef unsigned int _UNKNOWN
cdef frozenset _PLAIN_KEYS
cdef Py_ssize_t _CHANCE_COLLISIONS


@cython.final
@cython.freelist(16)
cdef class Decoder:
    cdef object _data
    cdef const unsigned char* _view
    cdef readonly Py_ssize_t pos
    cdef readonly Py_ssize_t end
    cdef readonly Py_ssize_t list_end
    cdef int _depth
    cdef long long _count_limit
    cdef Py_ssize_t _size_limit
    cdef long long _weightless

    cpdef void reset(self, object data, Py_ssize_t start, Py_ssize_t end)
    cpdef object value(self)
    @cython.locals(at=cython.Py_ssize_t, code=cython.uint, form=cython.uint, wanted=cython.Py_ssize_t, size=cython.Py_ssize_t)
    cpdef void skip(self)
    cpdef int peek(self) except -2

    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cdef object _value(self, int depth)
    cdef object _content(self, int code, Py_ssize_t at, int depth)
    cdef object _described(self, Py_ssize_t at, int depth)
    cdef int _check_depth(self, int depth, Py_ssize_t at) except -1

    @cython.locals(at=cython.Py_ssize_t)
    cdef int _constructor(self) except -1
    @cython.locals(start=cython.Py_ssize_t)
    cdef Py_ssize_t _take(self, Py_ssize_t count, Py_ssize_t at) except -1
    @cython.locals(size=cython.Py_ssize_t)
    cdef Py_ssize_t _size(self, int code, Py_ssize_t at) except -1
    @cython.locals(octets=bytes)
    cdef bytes _octets(self, Py_ssize_t start, Py_ssize_t stop)

    @cython.locals(form=cython.uint, width=cython.uint, start=cython.Py_ssize_t)
    cdef object _fixed(self, int code, Py_ssize_t at)
    cdef object _of_no_octets(self, int code)
    @cython.locals(number=cython.int, signed=cython.int)
    cdef object _of_one_octet(self, int code, Py_ssize_t start, Py_ssize_t at)
    cdef bint _truth(self, int number, Py_ssize_t at) except -1
    @cython.locals(number=cython.uint)
    cdef object _of_four_octets(self, int code, Py_ssize_t start, Py_ssize_t at)
    @cython.locals(high=cython.uint, low=cython.uint, octets=bytes)
    cdef object _of_eight_octets(self, int code, Py_ssize_t start)
    @cython.locals(number=cython.int, octets=bytes)
    cdef object _of_other_width(self, int code, Py_ssize_t start)

    @cython.locals(size=cython.Py_ssize_t, kind=cython.int)
    cdef object _variable(self, int code, Py_ssize_t at)
    @cython.locals(start=cython.Py_ssize_t)
    cdef object _string(self, Py_ssize_t size, Py_ssize_t at)
    @cython.locals(start=cython.Py_ssize_t)
    cdef object _symbol(self, Py_ssize_t size, Py_ssize_t at)
    @cython.locals(start=cython.Py_ssize_t)
    cdef bytes _binary(self, Py_ssize_t size)

    @cython.locals(kind=cython.int, stop=cython.Py_ssize_t, count=cython.longlong, outer=cython.Py_ssize_t)
    cdef object _compound(self, int code, Py_ssize_t at, int depth)
    @cython.locals(size=cython.Py_ssize_t)
    cdef Py_ssize_t _open(self, int code, Py_ssize_t at) except -1
    @cython.locals(width=cython.Py_ssize_t, start=cython.Py_ssize_t, count=cython.longlong)
    cdef int64_t _count(self, int code, Py_ssize_t at, Py_ssize_t stop) except -1
    @cython.locals(mapping=dict, pairs=list)
    cdef object _map(self, long long count, Py_ssize_t at, int depth)
    @cython.locals(element=cython.Py_ssize_t, descriptors=list, code=cython.int, values=list)
    cdef object _array(self, long long count, Py_ssize_t at, int depth)
    @cython.locals(width=cython.uint)
    cdef int _check_elements(self, long long count, unsigned int form, Py_ssize_t at) except -1

    @cython.locals(at=cython.Py_ssize_t, code=cython.int, start=cython.Py_ssize_t, size=cython.Py_ssize_t, high=cython.uint)
    cpdef int64_t read_descriptor(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int, stop=cython.Py_ssize_t, count=cython.longlong)
    cpdef int64_t read_list(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int, stop=cython.Py_ssize_t, count=cython.longlong)
    cpdef int64_t read_map_start(self) except -2
    cpdef bint read_null(self) except -1
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef int read_boolean(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef int read_ubyte(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int, start=cython.Py_ssize_t)
    cpdef int read_ushort(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef int64_t read_uint(self) except -2
    @cython.locals(at=cython.Py_ssize_t, code=cython.int, start=cython.Py_ssize_t)
    cpdef object read_ulong(self)
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef object read_string(self)
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef object read_symbol(self)
    @cython.locals(at=cython.Py_ssize_t, code=cython.int)
    cpdef object read_binary(self)
    @cython.locals(code=cython.int)
    cpdef object read_map(self)
    @cython.locals(
        at=cython.Py_ssize_t, code=cython.int, stop=cython.Py_ssize_t, count=cython.longlong, symbols=list,
    )
    cpdef tuple read_symbols(self)


@cython.locals(decoder=Decoder)
cpdef object decode(object data, object limits=*)

cdef object _wrong(str wanted, int code, Py_ssize_t at)
cdef object _mapping(list pairs, Py_ssize_t at)
@cython.locals(wide=cython.ulonglong)
cdef object _single(bytes octets, unsigned int bits)
cdef unsigned int _u32(const unsigned char* view, Py_ssize_t at)
cdef unsigned long long _u64(unsigned long long high, unsigned long long low)
cdef long long _signed(long long number)
cdef long long _s64(unsigned int high, unsigned int low)
