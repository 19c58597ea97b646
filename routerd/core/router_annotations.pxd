import cython
from routerd.wire.annotation_edit cimport AnnotationEdit

cdef int _HEADER
cdef int _MESSAGE_ANNOTATIONS


@cython.final
cdef class RouterAnnotations:
    cdef AnnotationEdit _edit

    @cython.locals(at=Py_ssize_t)
    cpdef tuple without(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    cpdef tuple without_if_clear(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)


@cython.locals(view="const unsigned char*", code=int, kind=int)
cpdef bint may_carry_annotations(object data, Py_ssize_t start, Py_ssize_t end) except -1
