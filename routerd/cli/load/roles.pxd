import cython
from routerd.cli.load cimport c_clock as time
from routerd.cli.load.meter cimport Meter
from routerd.cli.load.stamps cimport body_place, put_number, put_stamp, stamp_in
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link
from routerd.wire.output cimport Output
from routerd.wire.receiver cimport Receiver
from routerd.wire.sections cimport Sections
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session

cdef object _UNMEASURED
cdef long long _NO_STAMP


cdef class Role:
    cdef readonly Meter meter
    cdef readonly str name
    cdef readonly str address
    cdef readonly bint is_ready

    cpdef object start(self, Session session)
    cpdef object attached(self, Link link)
    cpdef bint pump(self, Py_ssize_t limit) except -1
    cpdef void take(self, Receiver link, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cpdef long long due_ns(self) except -1


cdef class Producing(Role):
    cdef Sender link
    cdef bytearray _message
    cdef Py_ssize_t _stamp_at
    cdef bint _is_settled
    cdef long long _interval_ns
    cdef long long _next_ns

    cpdef void schedule(self, long long first_ns)
    @cython.locals(
        link=Sender, session=Session, output=Output, meter=Meter, message=bytearray, is_settled=bint, stamp="long long"
    )
    cpdef bint pump(self, Py_ssize_t limit) except -1


cdef class Consuming(Role):
    cdef long long _credit
    cdef bint _is_inside
    cdef long long _stamp


cdef class Requesting(Role):
    cdef Sender link
    cdef Py_ssize_t _size
    cdef bytearray _message
    cdef Py_ssize_t _stamp_at
    cdef Py_ssize_t _number_at
    cdef bint _is_settled
    cdef long long _in_flight
    cdef long long _credit
    cdef long long _open_requests
    cdef bint _is_inside
    cdef long long _stamp

    @cython.locals(link=Sender, meter=Meter, stamp="long long")
    cpdef bint pump(self, Py_ssize_t limit) except -1


cdef class Responding(Role):
    cdef Sender link
    cdef bint _is_settled
    cdef long long _credit
    cdef dict _reply_links
    cdef object _waiting
    cdef bytearray _partial
    cdef Sections _sections

    @cython.locals(body_at=Py_ssize_t)
    cdef object _reply(self, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(link=Sender)
    cdef bint _send(self, str reply_to, object reply) except -1


cdef class Standing(Role):
    cdef long long _asked_ns
