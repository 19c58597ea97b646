import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations


@cython.final
cdef class Flow:
    cdef object register
    cdef str key
    cdef long long egress_number
    cdef Py_ssize_t index
    cdef RouterAnnotations annotations
    cdef Flow following
