import cython
from routerd.core.clock cimport Clock
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport ConnectionRole
from routerd.core.roles.refusals cimport PolicyClaim
from routerd.core.roles.routed_links cimport RoutedLinks
from routerd.wire.session cimport Session

cdef object _BEGIN_RCVD
cdef object _OPEN_RCVD
cdef object _OPENED
cdef object _CLOSED_BY_OPERATOR


@cython.final
cdef class Connections:
    cdef public ConnectionRole client_role
    cdef readonly dict peers
    cdef public dict roles
    cdef Clock _clock
    cdef object _observer
    cdef PolicyClaim _policy
    cdef object _routes
    cdef RoutedLinks _routed
    cdef long long _workers
    cdef long long _last_number
    cdef bint _gives_credit_at_once

    cpdef void opened(self, Peer peer, object performative)
    cdef void _open(self, Peer peer, object performative)
    cpdef void closed(self, Peer peer, object error)
    cpdef void authenticated(self, Peer peer)
    cpdef void violated(self, Peer peer, object error)
    @cython.locals(peer=Peer)
    cpdef bint close(self, long long number) except -1
    @cython.locals(peer=Peer)
    cpdef void session_begun(self, Session session, object performative)
    cpdef void session_ended(self, Session session)
