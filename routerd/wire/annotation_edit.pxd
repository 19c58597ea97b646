cimport cython
from routerd.wire.section_scan cimport descriptor_end, read_u32, skip_value
from routerd.wire.sections cimport Sections

cdef int _MESSAGE_ANNOTATIONS
cdef int _ABSENT
cdef int _NEEDS_MORE
cdef bytes _NOTHING
cdef Py_ssize_t _DESCRIPTOR_SIZE
cdef Py_ssize_t _MAP8_START
cdef Py_ssize_t _MAP32_START


@cython.final
cdef class AnnotationEdit:
    cdef bytes _put
    cdef Py_ssize_t _put_size
    cdef Py_ssize_t _put_count
    cdef frozenset _drop
    cdef bytes _prefix
    cdef Py_ssize_t _prefix_size
    cdef Sections _sections
    cdef Py_ssize_t _kept_size
    cdef Py_ssize_t _kept_count

    @cython.locals(sections=Sections, presence=int, place=Py_ssize_t)
    cpdef tuple apply(self, object data, Py_ssize_t start, Py_ssize_t end, bint partial=*)
    @cython.locals(
        view="const unsigned char*",
        value=Py_ssize_t,
        stop=Py_ssize_t,
        is_map8=bint,
        first=Py_ssize_t,
        count=Py_ssize_t,
    )
    cdef tuple _edit(self, object data, Py_ssize_t start, Py_ssize_t place, Py_ssize_t end)
    @cython.locals(at=Py_ssize_t, key_end=Py_ssize_t, entry_end=Py_ssize_t, _=Py_ssize_t)
    cdef void _measure(self, const unsigned char* view, Py_ssize_t first, Py_ssize_t stop, Py_ssize_t count) except *
    @cython.locals(size=Py_ssize_t, prefix="const unsigned char*", same=Py_ssize_t)
    cdef bint _drops(self, const unsigned char* view, Py_ssize_t at, Py_ssize_t stop) except -1
    @cython.locals(
        size=Py_ssize_t,
        count=Py_ssize_t,
        is_map8=bint,
        head=bytearray,
        target="unsigned char*",
        view="const unsigned char*",
        at=Py_ssize_t,
        key_end=Py_ssize_t,
        entry_end=Py_ssize_t,
        put="const unsigned char*",
    )
    cdef bytearray _compose(self, object data, Py_ssize_t start, Py_ssize_t place, Py_ssize_t first, Py_ssize_t stop)


@cython.locals(i=Py_ssize_t)
cdef Py_ssize_t _copy(
    unsigned char* target, Py_ssize_t at, const unsigned char* source, Py_ssize_t start, Py_ssize_t stop
) noexcept
cdef void _write_u32(unsigned char* target, Py_ssize_t at, Py_ssize_t number) noexcept
