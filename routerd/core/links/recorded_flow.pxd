import cython
from routerd.core.annotations.passage cimport Passage


@cython.final
cdef class Flow:
    cdef object register
    cdef str key
    cdef long long egress_number
    cdef Py_ssize_t index
    cdef Passage passage
    cdef Flow following
