cimport cython
from routerd.wire.section_scan cimport descriptor_end, follows, read_u32, section_code, section_end, skip_value

cdef int _HEADER
cdef int _DELIVERY_ANNOTATIONS
cdef int _MESSAGE_ANNOTATIONS
cdef int _PROPERTIES
cdef int _APPLICATION_PROPERTIES
cdef int _DATA
cdef int _FOOTER
cdef int _ABSENT
cdef int _FOUND
cdef int _NEEDS_MORE
cdef frozenset _IDENTIFIERS
cdef int _BODY_SLOT
cdef int _FOOTER_SLOT
cdef unsigned int _HEADER_FIELDS
cdef unsigned int _PROPERTIES_FIELDS
cdef Py_ssize_t _SHORT
cdef Py_ssize_t _MALFORMED


@cython.final
cdef class Sections:
    cdef object _data
    cdef object _limits
    cdef Py_ssize_t _end
    cdef Py_ssize_t _pos
    cdef Py_ssize_t _body_end
    cdef Py_ssize_t _field_end
    cdef Py_ssize_t _starts[7]
    cdef int _last
    cdef int _open
    cdef bint _partial
    cdef bint _is_over

    @cython.locals(slot=int)
    cpdef void reset(self, object data, Py_ssize_t start, Py_ssize_t end, bint partial) except *
    cpdef int find(self, int code) except -1
    @cython.locals(slot=int, presence=int, start=Py_ssize_t)
    cpdef tuple bounds(self, int code)
    @cython.locals(slot=int)
    cpdef Py_ssize_t annotations_place(self)

    @cython.locals(slot=int)
    cdef int _find(self, int code) except -1
    @cython.locals(presence=int)
    cdef int _presence(self, int code) except -1
    cdef void _scan(self, int code) except *
    @cython.locals(
        view="const unsigned char*", start=Py_ssize_t, value=Py_ssize_t, code=int, stop=Py_ssize_t, slot=int
    )
    cdef void _advance(self) except *
    cdef void _run_out(self, Py_ssize_t at) except *
    @cython.locals(view="const unsigned char*")
    cdef Py_ssize_t _value_start(self, Py_ssize_t start) except -2
    @cython.locals(view="const unsigned char*")
    cdef Py_ssize_t _stop(self, Py_ssize_t start, int code) except -2

    @cython.locals(
        view="const unsigned char*",
        at=Py_ssize_t,
        stop=Py_ssize_t,
        count="unsigned int",
        field_end=Py_ssize_t,
        _=int,
    )
    cdef Py_ssize_t _field(self, int code, unsigned int index) except -2
    @cython.locals(view="const unsigned char*")
    cdef object _unfit(self, Py_ssize_t at, str wanted)
    @cython.locals(view="const unsigned char*", at=Py_ssize_t)
    cdef object _boolean(self, int code, unsigned int index)
    @cython.locals(view="const unsigned char*", at=Py_ssize_t)
    cdef Py_ssize_t _uint(self, int code, unsigned int index) except -2
    @cython.locals(view="const unsigned char*", at=Py_ssize_t, start=Py_ssize_t)
    cdef str _text(self, unsigned int index)
    @cython.locals(view="const unsigned char*", at=Py_ssize_t, start=Py_ssize_t)
    cdef bytes _binary(self, unsigned int index)
    @cython.locals(at=Py_ssize_t)
    cdef object _identifier(self, unsigned int index)
    @cython.locals(start=Py_ssize_t, stop=Py_ssize_t)
    cdef object _map(self, int code)


cdef int _slot(int code) noexcept
