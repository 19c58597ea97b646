import cython
from routerd.wire.connection cimport Connection
from routerd.wire.relay cimport Relay

cdef object _OVER
cdef Py_ssize_t _HEADER_SIZE
cdef Py_ssize_t _ALWAYS_ALLOWED
cdef Py_ssize_t _WORK_MAX


@cython.final
cdef class Input:
    cdef readonly Connection connection
    cdef public bint is_header_due
    cdef public bint is_waiting
    cdef readonly bint is_framing_lost
    cdef bytearray _partial
    cdef bytearray _held
    cdef Py_ssize_t _resume_at

    @cython.locals(connection=Connection, stop=Py_ssize_t)
    cpdef Py_ssize_t take(self, object data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t enough) except -1
    cpdef bytearray stop_waiting(self)
    cpdef void drop(self)

    cdef Py_ssize_t _receive(self, object data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t stop) except -1
    cdef void _hold(self, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(partial=bytearray, stop=Py_ssize_t)
    cdef Py_ssize_t _complete_partial(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    cdef Py_ssize_t _wanted(self, bytearray partial) except -1
    cdef Py_ssize_t _checked_size(self, Py_ssize_t size) except -1
    @cython.locals(connection=Connection, relay=Relay, view="const unsigned char*", size=Py_ssize_t)
    cdef Py_ssize_t _walk(self, object data, Py_ssize_t pos, Py_ssize_t end, Py_ssize_t stop) except -1
