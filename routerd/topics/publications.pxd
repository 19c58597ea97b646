import cython
from routerd.topics.records cimport Record

cdef Py_ssize_t _DEAD_KEPT


@cython.final
cdef class Publication:
    cdef readonly bytes key
    cdef readonly dict records
    cdef public bint has_news
    cdef public list map_order
    cdef list _order
    cdef Py_ssize_t _dead

    cpdef void begin_anew(self, list map_order)
    cpdef void append(self, Record record)
    @cython.locals(each=Record)
    cpdef void remove(self, Record record)
    @cython.locals(order=list, low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t, record=Record, found=list)
    cpdef list after(self, long long number)
