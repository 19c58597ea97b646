import cython
from routerd.wire cimport c_memory as memory
from routerd.wire.section_scan cimport descriptor_end, read_u32, skip_value
from routerd.wire.sections cimport Sections

cdef int _HEADER
cdef int _MESSAGE_ANNOTATIONS
cdef int _ABSENT
cdef int _NEEDS_MORE
cdef bytes _NOTHING
cdef Py_ssize_t _SPLICED_SIZE


@cython.final
cdef class RouterAnnotations:
    cdef readonly bytes user
    cdef readonly Py_ssize_t user_count
    cdef readonly object error
    cdef readonly str to
    cdef readonly int phase
    cdef readonly str ingress
    cdef readonly Py_ssize_t hops
    cdef readonly tuple steps
    cdef readonly str ingress_as_written
    cdef readonly bint is_streaming
    cdef readonly str path
    cdef public str key
    cdef readonly bint has_passed_us
    cdef readonly frozenset passed
    cdef readonly bytes stripped
    cdef readonly bytes onward


@cython.final
cdef class AnnotationReader:
    cdef str _own
    cdef bint _marks_path
    cdef dict _remembered
    cdef bytes _last
    cdef RouterAnnotations _last_annotations
    cdef Sections _sections
    cdef public bint takes_anything
    cdef public Py_ssize_t place
    cdef public Py_ssize_t stop
    cdef readonly RouterAnnotations unmarked
    cdef readonly bytearray spliced
    cdef bytearray _kept

    cpdef tuple entry(self, object to, int phase)
    cpdef bytes diverted(self, RouterAnnotations annotations, str to, int phase)
    cpdef void forget_keys(self)
    @cython.locals(view="const unsigned char*", last="const unsigned char*", size=Py_ssize_t)
    cdef bint _is_last(self, object data, Py_ssize_t at, Py_ssize_t stop) except -1
    @cython.locals(
        view="const unsigned char*", at=Py_ssize_t, kind=int, code=int, stop=Py_ssize_t, annotations=RouterAnnotations
    )
    cpdef RouterAnnotations read(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(
        view="const unsigned char*",
        source="const unsigned char*",
        target="unsigned char*",
        total=Py_ssize_t,
        size=Py_ssize_t,
        at=Py_ssize_t,
    )
    cpdef Py_ssize_t splice(
        self, object data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t place, Py_ssize_t stop, bytes annotations
    ) except -1
    @cython.locals(annotations=RouterAnnotations)
    cdef RouterAnnotations _recall(self, bytes octets)
    @cython.locals(sections=Sections, presence=int, view="const unsigned char*")
    cdef RouterAnnotations _search(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(view="const unsigned char*")
    cdef bint is_no_message(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    @cython.locals(view="const unsigned char*", at=Py_ssize_t, key_end=Py_ssize_t, entry_end=Py_ssize_t, end=Py_ssize_t)
    cdef RouterAnnotations _decoded(self, bytes octets)


cpdef bytes section(bytes entries, Py_ssize_t count)
