import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.queues cimport Queues
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.recording.journal cimport Journal
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session


@cython.final
cdef class Credit:
    cdef Clock _clock
    cdef Journal _journal
    cdef Queues _queues

    @cython.locals(link=Sender)
    cdef void of_consumer(self, Outlet outlet)
    cdef void of_producer(self, Inlet inlet)
    @cython.locals(link=Sender, address=Address)
    cdef void answer_drain(self, Outlet outlet)
    @cython.locals(inlet=Inlet, outlet=Outlet)
    cdef void siblings_drained(self, Address address)
    @cython.locals(peer=Peer)
    cdef void of_session(self, Session session)
    @cython.locals(starved=dict)
    cdef void relieve(self, Peer peer)
    @cython.locals(left=Py_ssize_t, outlet=Outlet)
    cdef void relieve_session(self, Peer peer, Session session)
