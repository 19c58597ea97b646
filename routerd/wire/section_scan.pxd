cimport cython

cdef int _HEADER
cdef int _MESSAGE_ANNOTATIONS
cdef int _PROPERTIES
cdef int _DATA
cdef int _AMQP_SEQUENCE
cdef int _AMQP_VALUE
cdef int _FOOTER
cdef Py_ssize_t _SHORT
cdef Py_ssize_t _MALFORMED
cdef dict _CODES_BY_NAME
cdef unsigned int _SIZE8
cdef unsigned int _SIZE32
cdef unsigned int _DESCRIPTOR
cdef bytes _WIDTH_TABLE
cdef const unsigned char* _widths

cpdef bint follows(int code, int last) noexcept
cpdef unsigned int read_u32(const unsigned char* view, Py_ssize_t at) noexcept
@cython.locals(wanted=cython.Py_ssize_t, width=cython.uint)
cpdef Py_ssize_t skip_value(const unsigned char* view, Py_ssize_t at, Py_ssize_t end) noexcept
cpdef Py_ssize_t descriptor_end(const unsigned char* view, Py_ssize_t start, Py_ssize_t end) noexcept
@cython.locals(code=int, kind=int)
cpdef bint may_carry_annotations(const unsigned char* view, Py_ssize_t start, Py_ssize_t end) noexcept
cpdef bint is_past_annotations(const unsigned char* view, Py_ssize_t at, Py_ssize_t end) noexcept
@cython.locals(constructor=cython.uint)
cpdef int section_code(const unsigned char* view, Py_ssize_t start, Py_ssize_t stop) except -1
@cython.locals(constructor=cython.uint, is_right=bint, stop=cython.Py_ssize_t)
cpdef Py_ssize_t section_end(const unsigned char* view, Py_ssize_t value, Py_ssize_t end, int code) noexcept
