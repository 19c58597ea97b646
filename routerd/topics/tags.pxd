import cython

cdef Py_ssize_t _KEY_OCTETS
cdef Py_ssize_t _TAG_OCTETS_MAX
cdef int _HASHED
cdef list _LENGTHS


cpdef bytes delivery_tag(bytes key, bytes tag)
cpdef bytes key_of(bytes tag)
@cython.locals(length=int, own=Py_ssize_t)
cpdef bint is_delivery_tag(bytes tag) except -1
