import cython
from routerd.core.address cimport Address
from routerd.core.clients cimport Clients
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.peer cimport Peer
from routerd.core.policy.grant cimport Grant
from routerd.wire.connection cimport Connection
from routerd.wire.link cimport Link
from routerd.wire.session cimport Session

cdef object _SHUTTING_DOWN
cdef object _BEGIN_RCVD
cdef object _OPEN_RCVD
cdef object _OPENED
cdef object _CLOSED_BY_OPERATOR


cdef class Router(Clients):
    cdef readonly dict peers
    cdef readonly object totals
    cdef double _quiet_at
    cdef readonly dict keepers
    cdef dict _kept
    cdef long long _last_peer

    cpdef bint has_news(self) except -1
    @cython.locals(peer=Peer)
    cpdef void on_opened(self, Connection connection, object performative)
    @cython.locals(connection=Connection)
    cdef void _open(self, Peer peer, object performative)
    @cython.locals(peer=Peer)
    cpdef void on_closed(self, Connection connection, object error)
    @cython.locals(peer=Peer)
    cpdef void on_authenticated(self, Connection connection)
    cpdef void on_authentication_failed(self, Connection connection)
    cpdef void on_violation(self, Connection connection, object error)
    @cython.locals(peer=Peer)
    cpdef void on_session_begun(self, Session session, object performative)
    cpdef void on_session_ended(self, Session session, object error)
    cpdef void set_blocked(self, Peer peer, bint is_blocked)

    @cython.locals(peer=Peer)
    cpdef void on_link_attached(self, Link link, object performative)
    @cython.locals(grant=Grant)
    cdef bint _is_denied(self, Peer peer, Link link, object performative) except -1
    cdef bint _is_taken(self, Peer peer, Link link, object performative) except -1
    cpdef void on_link_detached(self, Link link, bint closed, object error)
    @cython.locals(was_open=bint, address=Address, peer=Peer)
    cdef void _outlet_ended(self, Outlet outlet, object error)
    @cython.locals(address=Address)
    cdef void _inlet_ended(self, Inlet inlet, object error)
