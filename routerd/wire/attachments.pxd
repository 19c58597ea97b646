import cython
from routerd.wire.delivery cimport Delivery, DeliveryRing
from routerd.wire.handles cimport HandleTable
from routerd.wire.link cimport Link
from routerd.wire.link_names cimport LinkNames
from routerd.wire.session cimport Session

cdef object _ATTACHED
cdef object _ATTACH_RCVD
cdef object _ATTACH_SENT
cdef object _DETACHED
cdef object _DETACH_PIPE
cdef object _DETACH_RCVD
cdef object _DETACH_SENT
cdef object _RECV_DETACH
cdef object _SEND_DETACH
cdef Py_ssize_t _ATTACH_OVERHEAD
cdef Py_ssize_t _TURNED_AWAY_MAX


@cython.final
cdef class Attachments:
    cdef readonly Session session
    cdef readonly LinkNames names
    cdef readonly HandleTable local
    cdef readonly HandleTable remote
    cdef readonly list abandoned

    @cython.locals(handle="unsigned int")
    cpdef void claim(self, Link link)
    cpdef void give_up(self, Link link)
    @cython.locals(handle="unsigned int", link=Link)
    cpdef void receive_attach(self, object performative)
    cdef void _check_answerable(self, object performative)
    @cython.locals(link=Link, heir=Link, abandoned=Link, most=Py_ssize_t)
    cdef Link _endpoint(self, object performative)
    @cython.locals(link=Link, was_detaching=bint, is_late_close=bint)
    cpdef void receive_detach(self, object performative)
    cpdef void finish(self, Link link)
    @cython.locals(link=Link)
    cpdef Link link_at(self, unsigned int handle)
    cpdef void report(self, Link link, bint closed, object error)
    @cython.locals(ring=DeliveryRing, delivery=Delivery)
    cdef void _suspend(self, Link link, bint is_known_on)
