import cython
from routerd.wire.annotation_edit cimport AnnotationEdit


@cython.final
cdef class AnnotationFilter:
    cdef AnnotationEdit _edit

    @cython.locals(at=Py_ssize_t)
    cpdef tuple without(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    cpdef tuple without_if_clear(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
