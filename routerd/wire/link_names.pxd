import cython
from routerd.wire.link cimport Link


@cython.final
cdef class LinkNames:
    cdef dict _senders
    cdef dict _receivers
    cdef public Py_ssize_t turned_away

    cpdef Link find(self, str name, bint is_sender)
    @cython.locals(names=dict)
    cpdef void add(self, Link link)
    @cython.locals(names=dict)
    cpdef void drop(self, Link link)
