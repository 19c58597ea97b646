import cython
from routerd.wire.handles cimport HandleTable
from routerd.wire.link cimport Link
from routerd.wire.link_names cimport LinkNames
from routerd.wire.session cimport Session

cdef object _ATTACHED
cdef object _ATTACH_RCVD
cdef object _ATTACH_SENT
cdef object _DETACHED
cdef object _DETACH_PIPE
cdef object _DETACH_SENT
cdef object _RECV_DETACH
cdef object _SEND_DETACH
cdef Py_ssize_t _ATTACH_OVERHEAD


@cython.final
cdef class Attachments:
    cdef readonly Session session
    cdef readonly LinkNames names
    cdef readonly HandleTable local
    cdef readonly HandleTable remote
    cdef readonly dict abandoned

    # Not `long long`: Cython 3.3 writes the exception value of such a function wrongly.
    cpdef Py_ssize_t take_handle(self, Link link) except -1
    @cython.locals(handle="unsigned int", link=Link)
    cpdef void receive_attach(self, object performative)
    cdef void _check_answerable(self, object performative)
    @cython.locals(link=Link, abandoned=Link)
    cdef Link _claim(self, object performative)
    @cython.locals(link=Link)
    cdef Link _endpoint(self, object performative)
    @cython.locals(link=Link, was_detaching=bint, is_late_close=bint)
    cpdef void receive_detach(self, object performative)
    @cython.locals(link=Link)
    cpdef Link link_at(self, unsigned int handle)
    cpdef void report(self, Link link, bint closed, object error)
    cdef void _suspend(self, Link link, bint is_known_on)
