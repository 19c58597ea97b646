import cython
from routerd.wire.section_scan cimport read_u32

cdef Py_ssize_t _TAG_MAX
cdef Py_ssize_t _FIELDS_AT


@cython.locals(list_end=Py_ssize_t, count=int, at=Py_ssize_t, handle=int)
cpdef Py_ssize_t payload_of(
    const unsigned char* view, Py_ssize_t frame, long long remote_handle, bint is_settled
) noexcept
@cython.locals(at=Py_ssize_t)
cpdef unsigned int id_of(const unsigned char* view, Py_ssize_t frame) noexcept
@cython.locals(at=Py_ssize_t)
cpdef Py_ssize_t tag_of(const unsigned char* view, Py_ssize_t frame) noexcept
@cython.locals(at=Py_ssize_t)
cdef Py_ssize_t _id_at(const unsigned char* view, Py_ssize_t frame) noexcept
