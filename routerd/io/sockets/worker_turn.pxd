import cython
from routerd.core.links.peer cimport Peer
from routerd.core.router cimport Router
from routerd.io.scheduling.busy_poll cimport BusyPoll
from routerd.wire.connection cimport Connection

cdef Py_ssize_t _READ_SIZE
cdef Py_ssize_t _LEAST_READ
cdef Py_ssize_t _STEP
cdef Py_ssize_t _FIRST_STEP
cdef Py_ssize_t _SHORTEST_STEP
cdef double _LONG_S
cdef double _SHORT_S
cdef double _SHARE_S
cdef double _REST_S
cdef Py_ssize_t _ANSWERS_MAX


cdef class Pipe:
    cdef readonly Turn turn
    cdef readonly Peer peer
    cdef readonly Connection connection
    cdef public object socket
    cdef public object tracer
    cdef public bint is_ready
    cdef public double deadline
    cdef public Py_ssize_t step_octets
    cdef public Py_ssize_t read_octets
    cdef public unsigned long turn_number
    cdef public double used_s
    cdef public bytearray rest
    cdef public Py_ssize_t rest_at
    cdef public bint is_put_off
    cdef public Py_ssize_t answered
    cdef public bint is_choked
    cdef public bint is_paused
    cdef readonly long long octets_in
    cdef readonly long long octets_out
    cdef bint _is_behind

    @cython.locals(octets=bytearray)
    cpdef flush(self, double now)
    cpdef put(self, bytearray octets)
    cpdef finish(self)
    cdef void spent(self, double seconds) noexcept
    cpdef keep(self, bytearray data, Py_ssize_t start, Py_ssize_t end)
    cpdef choke(self)
    cpdef heed_reading(self)


@cython.final
cdef class Turn:
    cdef readonly Router router
    cdef object _host
    cdef object _call_soon
    cdef BusyPoll _busy_poll
    cdef bytearray _buffer
    cdef readonly object buffer_view
    cdef readonly dict choked
    cdef object _put_off
    cdef object _go_on
    cdef bint _is_going_on
    cdef unsigned long _number
    cdef object _end
    cdef bint _is_end_due
    cdef bint _is_more_due
    cdef double _began
    cdef public double longest_s

    cpdef double begin(self) except -1
    @cython.locals(now=double, at=Py_ssize_t)
    cpdef received(self, Pipe pipe, Py_ssize_t size)
    cpdef double used_by(self, Pipe pipe) except -1
    cpdef put_off(self, Pipe pipe)
    @cython.locals(began=double, now=double, pipe=Pipe)
    cpdef go_on(self)
    @cython.locals(rest=bytearray, at=Py_ssize_t, end=Py_ssize_t)
    cdef _take_rest(self, Pipe pipe, double now)
    @cython.locals(
        connection=Connection, peer=Peer, was_open=bint, began=double, then=double, said=Py_ssize_t
    )
    cdef Py_ssize_t _take(self, Pipe pipe, bytearray data, Py_ssize_t at, Py_ssize_t end, double now) except -1
    cpdef due(self, double began=*)
    @cython.locals(now=double, router=Router)
    cpdef end(self)
    @cython.locals(router=Router, awake=list, connection=Connection, peer=Peer, shell=object)
    cpdef bint write(self, double now, Connection spared) except -1
