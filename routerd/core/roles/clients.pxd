import cython
from routerd.core.annotations.router_annotations cimport AnnotationReader, section
from routerd.core.clock cimport Clock
from routerd.core.delivery.credit cimport Credit
from routerd.core.delivery.destinations cimport Destinations
from routerd.core.delivery.endings cimport Endings
from routerd.core.delivery.intake cimport Intake
from routerd.core.delivery.queues cimport Queues
from routerd.core.directory.directory cimport Directory
from routerd.core.directory.naming cimport is_for_topics, phase_of
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport ConnectionRole, LinkRole
from routerd.core.recording.journal cimport Journal
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.claims cimport Claimant, Claims
from routerd.core.roles.demand cimport Demand
from routerd.core.roles.edges cimport Edges
from routerd.core.roles.ends cimport Ends
from routerd.core.roles.refusals cimport PolicyClaim
from routerd.core.roles.siblings cimport Siblings
from routerd.core.roles.uplinks cimport Uplinks
from routerd.wire.delivery cimport Delivery
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
cdef int _SECOND


cdef class Clients(Claimant):
    cdef public LinkRole consumer_role
    cdef public LinkRole leaving_role
    cdef public LinkRole producer_role
    cdef public LinkRole edge_producer_role
    cdef Clock _clock
    cdef object _observer
    cdef Directory _directory
    cdef Journal _journal
    cdef AnnotationReader _reader
    cdef Destinations _destinations
    cdef Queues _queues
    cdef Credit _credit
    cdef Endings _endings
    cdef Attaching _attaching
    cdef Demand _demand
    cdef Siblings _siblings
    cdef Uplinks _uplinks
    cdef Edges _edges
    cdef PolicyClaim _policy
    cdef readonly bint is_alone

    cpdef object claim(self, Peer peer, Link link, object performative)
    @cython.locals(address=Address, outlet=Outlet)
    cdef object _consumer_attached(self, Peer peer, Sender link, object performative)
    @cython.locals(address=Address)
    cdef void consumer_came(self, Outlet outlet)
    @cython.locals(link=Sender)
    @cython.locals(link=Link)
    cpdef void confirm(self, long long sequence)
    cpdef void answer(self, Outlet outlet)
    @cython.locals(link=Sender)
    cdef void serve_consumer(self, Outlet outlet)
    @cython.locals(address=Address)
    cdef void consumer_left(self, Outlet outlet)
    cpdef void retire(self, Outlet outlet)
    cdef void _consumers_changed(self, Address address)
    cdef object _producer_attached(self, Peer peer, Receiver link, object performative)
    @cython.locals(address=Address, inlet=Inlet)
    cdef object _take_producer(self, Peer peer, Receiver link, object performative)
    @cython.locals(peer=Peer, address=Address)
    cdef void serve_producer(self, Inlet inlet, str text)
    cdef void _mark_entries(self, Inlet inlet, Address address, str tenant, str text)
    @cython.locals(address=Address)
    cdef void producer_left(self, Inlet inlet)
    @cython.locals(directory=Directory)
    cdef object _address_of(self, Peer peer, object terminus, bint is_producer)
    @cython.locals(directory=Directory)
    cdef bint _is_provided(self, Peer peer, str key) except -1


cdef class ClientRole(ConnectionRole):
    cdef Claims _claims

    cpdef void attached(self, object peer, Link link, object performative)


cdef class ConsumerRole(LinkRole):
    cdef Credit _credit
    cdef Ends _ends
    cdef Clients _clients

    cpdef void flow(self, object end)
    @cython.locals(outlet=Outlet, was_open=bint)
    cpdef void ended(self, object end, object error)


cdef class LeavingConsumerRole(LinkRole):
    cdef Ends _ends

    @cython.locals(outlet=Outlet)
    cpdef void ended(self, object end, object error)


cdef class ProducerRole(LinkRole):
    cdef Intake _intake
    cdef Credit _credit
    cdef Ends _ends
    cdef Clients _clients

    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    @cython.locals(inlet=Inlet)
    cpdef void ended(self, object end, object error)


cdef class EdgeProducerRole(LinkRole):
    cdef Directory _directory
    cdef Intake _intake
    cdef Credit _credit
    cdef Ends _ends
    cdef Clients _clients

    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    @cython.locals(inlet=Inlet, peer=Peer, address=Address)
    cpdef void ended(self, object end, object error)
