import cython
from routerd.core.address cimport Address
from routerd.core.forwarder cimport Forwarder
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.peer cimport Peer
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.session cimport Session

cdef object _NO_ADDRESS
cdef object _ATTACHED
cdef object _OPENED


cdef class Siblings(Forwarder):
    cdef readonly int worker
    cdef readonly int workers
    cdef readonly dict addresses
    cdef readonly dict neighbours
    cdef readonly tuple version
    cdef object _treatments
    cdef long long _last_link
    cdef long long _sequence
    cdef dict _changed
    cdef dict _uneven
    cdef object _awaiting

    cdef void answer(self, Outlet outlet)
    cpdef Address address_with(self, str key, object treatment)
    @cython.locals(inlet=Inlet)
    cpdef void consumers_came(self, Address address)
    @cython.locals(inlet=Inlet)
    cpdef void consumers_went(self, Address address)
    cpdef void forget_if_idle(self, Address address)
    cdef bint complete(self, Link link, object source, object target, bint is_second=*) except -1
    cpdef void refuse(self, Link link, object error)
    cpdef long long take_link_number(self) noexcept
    cpdef void sibling_connected(self, Peer peer, object performative)
    cdef void sibling_lost(self, Peer peer)
    @cython.locals(outlet=Outlet, before=Py_ssize_t)
    cpdef void refresh(self, Address address, bint has_message=*)
    cpdef void give_up_fabric(self, Outlet outlet)
    cpdef Outlet fabric_outlet(self, object neighbour, Address address, str target)
    @cython.locals(outlet=Outlet)
    cpdef void fabric_answered(self, Link link)
    @cython.locals(address=Address)
    cdef void fabric_attached(self, Peer peer, Link link, object performative)
    @cython.locals(inlet=Inlet)
    cpdef void answer_fabric(self, Peer peer, Link link, Address address, bint is_relay)
    cpdef object treatment_of_key(self, str key)
    cdef void count_remote(self, Address address)
