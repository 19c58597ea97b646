import cython
from routerd.core.peer cimport Peer
from routerd.core.router cimport Router
from routerd.io.busy_poll cimport BusyPoll
from routerd.wire.connection cimport Connection

cdef Py_ssize_t _STEP


cdef class Pipe:
    cdef readonly Turn turn
    cdef readonly Peer peer
    cdef readonly Connection connection
    cdef public object socket
    cdef public object tracer
    cdef public bint is_ready
    cdef public double deadline
    cdef bint _is_behind

    @cython.locals(octets=bytearray)
    cpdef flush(self, double now)
    cpdef put(self, bytearray octets)
    cpdef finish(self)


@cython.final
cdef class Turn:
    cdef readonly Router router
    cdef object _host
    cdef object _call_soon
    cdef BusyPoll _busy_poll
    cdef bytearray _buffer
    cdef readonly object buffer_view
    cdef object _end
    cdef bint _is_end_due
    cdef bint _is_more_due
    cdef double _began
    cdef public double longest_s

    @cython.locals(
        now=double, router=Router, connection=Connection, peer=Peer, was_open=bint, at=Py_ssize_t
    )
    cpdef received(self, Pipe pipe, Py_ssize_t size)
    cpdef due(self, double began=*)
    @cython.locals(now=double, router=Router)
    cpdef end(self)
    @cython.locals(router=Router, awake=list, connection=Connection, peer=Peer, shell=object)
    cpdef bint write(self, double now, Connection spared) except -1
