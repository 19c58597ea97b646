import cython
from routerd.core.links.peer cimport Peer
from routerd.wire.link cimport Link

cdef object _SOURCE
cdef object _TARGET


@cython.final
cdef class Edition:
    cdef public long long number


@cython.final
cdef class Grant:
    cdef Edition _edition
    cdef long long _version
    cdef readonly str vhost
    cdef readonly str user
    cdef readonly str host
    cdef readonly object group
    cdef readonly set sources
    cdef readonly set targets
    cdef Py_ssize_t _most_receivers
    cdef Py_ssize_t _most_senders
    cdef public long long sessions
    cdef public long long sessions_denied
    cdef public long long senders_denied
    cdef public long long receivers_denied
    cdef public long long message_size_denied

    cpdef void use(self, object group)
    @cython.locals(names=set)
    cpdef bint knows(self, Peer peer, Link link, object performative) except -1
