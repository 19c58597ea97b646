import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.peer cimport Peer
from routerd.core.waiting cimport Waiting
from routerd.wire.link cimport Link
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session


cdef class Flows(Waiting):
    cpdef void written(self, Peer peer)
    @cython.locals(starved=dict)
    cpdef void relieve(self, Peer peer)
    @cython.locals(left=Py_ssize_t, outlet=Outlet)
    cpdef void relieve_session(self, Peer peer, Session session)
    @cython.locals(link=Sender, address=Address)
    cdef void _answer_drain(self, Outlet outlet)
    @cython.locals(inlet=Inlet, outlet=Outlet)
    cpdef void siblings_drained(self, Address address)
    @cython.locals(outlet=Outlet, inlet=Inlet)
    cpdef void on_link_flow(self, Link link)
    @cython.locals(peer=Peer)
    cpdef void on_session_flow(self, Session session)
