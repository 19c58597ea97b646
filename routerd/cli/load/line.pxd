import cython
from routerd.cli.load.meter cimport Meter
from routerd.cli.load.roles cimport Role
from routerd.wire.connection cimport Connection
from routerd.wire.delivery cimport Delivery
from routerd.wire.handler cimport Handler
from routerd.wire.link cimport Link
from routerd.wire.session cimport Session

cdef Py_ssize_t _LIMIT
cdef object _SESSION_OFFERED
cdef object _LINK_OFFERED


cdef class Line(Handler):
    cdef readonly object loop
    cdef readonly object sock
    cdef readonly int fd
    cdef readonly Meter meter
    cdef readonly list roles
    cdef readonly object welcome
    cdef readonly object session
    cdef readonly bint is_awake
    cdef readonly bint is_open
    cdef readonly bint is_closing
    cdef readonly bint is_over
    cdef readonly bint is_blocked
    cdef object _unsent
    cdef Py_ssize_t _first_role
    cdef readonly Connection connection

    @cython.locals(size=Py_ssize_t)
    cpdef object read(self, bytearray buffer, double now)
    @cython.locals(role=Role, count=Py_ssize_t, step=Py_ssize_t, is_hungry=bint)
    cpdef object serve(self, double now)
    @cython.locals(sent=Py_ssize_t)
    cpdef object write(self, double now)
    cpdef object wake(self)
    @cython.locals(role=Role, due="long long", earliest="long long")
    cpdef long long due_ns(self) except -1

    @cython.locals(role=Role)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cpdef void on_disposition(self, Delivery delivery)
    cpdef void on_output(self, Connection connection)
