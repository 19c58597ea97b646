import cython
from routerd.core.inside.exchange cimport Exchange, NextHop
from routerd.core.inside.inner_connection cimport InnerConnection
from routerd.core.links.address cimport Address
from routerd.core.links.fan_out cimport rank_of
from routerd.wire.connection cimport Connection
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.sections cimport Sections
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session

cdef Py_ssize_t _CAPACITY
cdef Py_ssize_t _SUBJECT_WITHIN
cdef object _RELEASED
cdef object _MAYBE_SEEN
cdef bytes _NOTHING
cdef object _UNKNOWN
cdef object _TOO_FAR_BEHIND


@cython.final
cdef class Passing:
    cdef readonly Delivery delivery
    cdef bint is_settled
    cdef bint is_complete
    cdef bint is_aborted
    cdef bytearray octets
    cdef bint is_collecting
    cdef Py_ssize_t due
    cdef Py_ssize_t waiting
    cdef Py_ssize_t open_copies
    cdef list under_way
    cdef Py_ssize_t frames
    cdef object outcome
    cdef int rank

    @cython.locals(rank=int)
    cdef void combine(self, object outcome) except *


cdef class ExchangeLoop(InnerConnection):
    cdef readonly Exchange exchange
    cdef readonly Receiver receiver
    cdef dict _addresses
    cdef Session _session
    cdef Sections _sections
    cdef Py_ssize_t _names
    cdef dict _former
    cdef dict _former_hops
    cdef Py_ssize_t _held

    @cython.locals(hop=NextHop)
    cpdef void on_opened(self, Connection connection, object performative)
    @cython.locals(had_output=bint)
    cpdef bint carry(self, double now) except -1
    @cython.locals(receiver=Receiver, room=Py_ssize_t)
    cdef void _top_up(self) except *
    @cython.locals(passing=Passing)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(sections=Sections)
    cdef object _subject_of(self, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(octets=bytearray)
    cdef void _collect(self, Passing passing, object data, Py_ssize_t start, Py_ssize_t end) except *
    @cython.locals(delivery=Delivery)
    cdef void _go_on(self, Passing passing, object data, Py_ssize_t start, Py_ssize_t end) except *
    @cython.locals(delivery=Delivery, octets=bytearray)
    cdef void _look_again(self, Passing passing, object data, Py_ssize_t start, Py_ssize_t end) except *
    @cython.locals(exchange=Exchange, hops=tuple, hop=NextHop, alternate=NextHop)
    cdef tuple _hops_for(self, object subject)
    @cython.locals(address=Address)
    cdef bint _has_destination(self, NextHop hop) except -1
    @cython.locals(hops=tuple, hop=NextHop, link=Sender, is_settled=bint, is_whole=bint, can_send=bint)
    cdef void _send(
        self, Delivery delivery, Passing passing, object subject, object data, Py_ssize_t start, Py_ssize_t end
    ) except *
    @cython.locals(delivery=Delivery, out=Delivery, is_partial=bint, is_settled=bint)
    cdef void _begin_copy(
        self, Passing passing, Sender link, object data, Py_ssize_t start, Py_ssize_t end
    ) except *
    cdef void _wait(self, Passing passing, NextHop hop) except *
    @cython.locals(session=Session)
    cdef void _keep(self, Passing passing, object data, Py_ssize_t start, Py_ssize_t end) except *
    @cython.locals(delivery=Delivery, out=Delivery, link=Sender, hop=NextHop, is_partial=bint, is_held=bint)
    cdef void _send_more(self, Passing passing, object data, Py_ssize_t start, Py_ssize_t end) except *
    @cython.locals(under_way=list, out=Delivery)
    cdef void _leave_links(self, Passing passing) except *
    @cython.locals(out=Delivery, link=Sender)
    cdef void _abort(self, Passing passing) except *
    @cython.locals(passing=Passing)
    cpdef void serve(self, NextHop hop) except *
    @cython.locals(passing=Passing)
    cpdef void release_waiting(self, NextHop hop) except *
    cdef void _wait_no_more(self, Passing passing) except *
    @cython.locals(held=Py_ssize_t)
    cdef void _let_go(self, NextHop hop) except *
    @cython.locals(passing=Passing)
    cpdef void on_disposition(self, Delivery delivery)
    @cython.locals(delivery=Delivery)
    cdef void _check(self, Passing passing) except *
    cdef void _decide(self, Delivery delivery, object outcome) except *
    @cython.locals(hop=NextHop)
    cpdef void on_session_flow(self, Session session)
    @cython.locals(hop=NextHop)
    cpdef void on_link_flow(self, Link link)
    @cython.locals(hop=NextHop, passing=Passing, out=Delivery)
    cpdef void on_link_detached(self, Link link, bint closed, object error)
