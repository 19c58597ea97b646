import cython
from routerd.topics.port cimport Port
from routerd.topics.ranges cimport Ranges
from routerd.topics.records cimport Entry

cdef Py_ssize_t _TOGETHER
cdef Py_ssize_t _OCTETS


@cython.final
cdef class Copies:
    cdef Port _port
    cdef object _directory
    cdef dict _routers
    cdef object _name
    cdef object _claim
    cdef Ranges _numbers
    cdef list _tags
    cdef list _ages_ms
    cdef list _payloads
    cdef Py_ssize_t _octets

    cpdef void send(self, object name, object claim, Entry entry)
    cpdef void flush(self)
    cpdef void repeat(self, str router, object name, object claim, list entries)
    cpdef Py_ssize_t age_ms(self, Entry entry) except -1
    cdef void _add(self, Entry entry)
    cdef bint _is_full(self) except -1
    cdef void _emit(self, list routers)
