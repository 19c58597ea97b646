cimport cython

cdef Py_ssize_t _BLOCK
cdef Py_ssize_t _PART
cdef Py_ssize_t _PARTS
cdef int _WIDE
cdef unsigned long long _LOW_BITS
cdef unsigned long long _ALL_BITS
cdef Py_ssize_t _VARINT_OCTETS
cdef object _ZERO
cdef object _LARGE_ZERO

ctypedef fused Whole:
    signed char
    int
    long long

@cython.locals(at=Py_ssize_t, least="long long", greatest="long long")
cpdef tuple range_of(const Whole[::1] values, Py_ssize_t count)
@cython.locals(at=Py_ssize_t, first="long long")
cpdef bint is_same(const Whole[::1] values, Py_ssize_t count)
@cython.locals(at=Py_ssize_t, flags="unsigned char[::1]", seen=bytearray)
cpdef list which_of(const int[::1] values, Py_ssize_t count, Py_ssize_t least, Py_ssize_t limit)
@cython.locals(at=Py_ssize_t, into="int[::1]")
cpdef object looked_up(const int[::1] table, const int[::1] values, Py_ssize_t count, Py_ssize_t least)
@cython.locals(at=Py_ssize_t, into="int[::1]")
cpdef object lowered(const Whole[::1] values, Py_ssize_t count, long long least)
@cython.locals(at=Py_ssize_t, number=Py_ssize_t, value="long long", into="long long[::1]", flags="int[::1]")
cpdef tuple present(const Whole[::1] values, Py_ssize_t count, long long absent)
@cython.locals(
    room=Py_ssize_t, row=Py_ssize_t, number=Py_ssize_t, start=Py_ssize_t, end=Py_ssize_t, _=Py_ssize_t,
    again="int[::1]", there="int[::1]",
)
cpdef tuple list_levels(const int[::1] ends, Py_ssize_t rows)
@cython.locals(
    size=Py_ssize_t, octets=bytearray, into="unsigned char[::1]", at=Py_ssize_t, end=Py_ssize_t, bits=int,
    held="unsigned long long", value="unsigned long long",
)
cpdef bytes packed(const Whole[::1] values, Py_ssize_t count, int width)
@cython.locals(
    blocks=Py_ssize_t, octets=bytearray, into="unsigned char[::1]", deltas="long long[::1]", end=Py_ssize_t,
    start=Py_ssize_t, number=Py_ssize_t, i=Py_ssize_t, least="long long", delta="long long",
)
cpdef bytes differences(const Whole[::1] values, Py_ssize_t count)
@cython.locals(
    widths=Py_ssize_t, part=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, i=Py_ssize_t, width=int,
    together="unsigned long long",
)
cdef Py_ssize_t _put_parts(
    unsigned char[::1] into, Py_ssize_t end, long long[::1] deltas, Py_ssize_t number, long long least
) noexcept
@cython.locals(
    low_width=int, done=Py_ssize_t, bits=int, i=Py_ssize_t, held="unsigned long long", value="unsigned long long",
)
cdef Py_ssize_t _put_part(
    unsigned char[::1] into, Py_ssize_t end, long long[::1] deltas, Py_ssize_t first, Py_ssize_t last,
    long long least, int width
) noexcept
cdef Py_ssize_t _put_varint(unsigned char[::1] into, Py_ssize_t end, unsigned long long value) noexcept
cdef unsigned long long _folded(long long value) noexcept
