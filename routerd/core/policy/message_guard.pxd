import cython
from routerd.wire.sections cimport Sections

cdef bytes _NOTHING


@cython.final
cdef class MessageGuard:
    cdef bytes _user
    cdef object _targets
    cdef str _user_name
    cdef object _settings
    cdef bint _reads_requests
    cdef bint _is_anonymous
    cdef bint _finds_own
    cdef Sections _sections

    @cython.locals(sections=Sections, user_id=bytes, is_own=bint)
    cpdef object refusal(self, str to, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    cdef bint _is_own(self, Sections sections) except -1
    cdef bint _is_forbidden(self, bytes octets) except -1
