import cython
from routerd.core.address cimport Address
from routerd.core.edges cimport Edges
from routerd.core.inlet cimport Inlet
from routerd.core.naming cimport phase_of
from routerd.core.outlet cimport Outlet
from routerd.core.peer cimport Peer
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.sender cimport Sender

cdef object _UNAVAILABLE
cdef object _NO_SOURCE
cdef object _NO_TARGET
cdef object _TOO_LONG
cdef object _NOT_TEXT
cdef object _NO_COORDINATOR
cdef object _DOWN
cdef object _ATTACH_RCVD
cdef int _SETTLED
cdef int _SECOND


cdef class Clients(Edges):
    cdef public bint is_alone
    cdef public object gate
    cdef public bint guards_requests

    @cython.locals(outlet=Outlet)
    cdef void consumer_attached(self, Peer peer, Link link, object performative)
    @cython.locals(link=Sender)
    cdef void answer(self, Outlet outlet)
    @cython.locals(inlet=Inlet, is_second=bint)
    cdef void producer_attached(self, Peer peer, Link link, object performative)
    cdef bint _asks_others(self, Peer peer, str key, str text) except -1
    cdef void _mark_entries(self, Inlet inlet, Address address, str tenant, str text)
    cdef object _address_of(self, Peer peer, object terminus, bint is_producer)
    cdef bint _is_provided(self, Peer peer, str key) except -1
    @cython.locals(address=Address)
    cpdef object destination(self, Inlet inlet, str to)


@cython.locals(outlet=Outlet, link=Sender)
cdef bint _settle_second(Address address) except -1
