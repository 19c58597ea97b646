from routerd.core.links.peer cimport Peer
from routerd.wire.connection cimport Connection
from routerd.wire.handler cimport Handler


cdef class InnerConnection(Handler):
    cdef readonly Peer peer
    cdef readonly object _router
    cdef readonly Connection _near
    cdef readonly Connection _far

    cpdef void flush(self, double now)
    cpdef bint carry(self, double now) except -1
    cpdef bint carry_down(self, double now) except -1
    cpdef bint carry_up(self, double now) except -1
    cpdef void abort(self)
