import cython
from routerd.topics.records cimport Entry


@cython.final
cdef class Publisher:
    cdef readonly object name
    cdef readonly bytes key
    cdef readonly object claim
    cdef public object link
    cdef readonly bint may_return
    cdef readonly double attached_at
    cdef public double left_at
    cdef readonly dict entries
    cdef readonly dict settling
    cdef public long long notice
    cdef public bint is_ending
    cdef public Py_ssize_t unnumbered
    cdef public long long credit
    cdef readonly long long octets
    cdef public long long accepted
    cdef public long long rejected
    cdef public long long unknown

    cpdef void add(self, Entry entry)
    cpdef void remove(self, Entry entry)
    cpdef void fill(self, Entry entry, object payload, Py_ssize_t size)
