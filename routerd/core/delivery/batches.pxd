import cython
from routerd.core.clock cimport Clock
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked, ParkedTogether, parked
from routerd.core.recording.journal cimport Journal
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.delivery cimport Delivery
from routerd.wire.held_batch cimport HeldBatch
from routerd.wire.link cimport Link
from routerd.wire.relay cimport Relay

cdef Py_ssize_t _BURST
cdef int _UNSETTLED
cdef int _SETTLED
cdef int _MIXED


@cython.final
cdef class Batches:
    cdef Clock _clock
    cdef Journal _journal

    cdef bint may_go_together(self, Inlet inlet, Address address) except -1
    cdef bint may_take_many(self, Outlet outlet) except -1
    @cython.locals(inlet=Inlet, is_plain_only=bint, delivery=Delivery, relay=Relay, limit=Py_ssize_t)
    cdef void follow(self, Arrival arrival, Outlet outlet)
    @cython.locals(inlet=Inlet, outlet=Outlet)
    cdef void relayed(
        self, Link receiver, Link sender, Py_ssize_t count, DeliveryBatch batch, object data, Py_ssize_t start
    )
    @cython.locals(inlet=Inlet, delivery=Delivery)
    cdef void wait_too(self, Arrival arrival, Address address)
    @cython.locals(inlet=Inlet, address=Address, together=ParkedTogether)
    cdef void hold(self, HeldBatch held)
    @cython.locals(inlet=Inlet, address=Address, held=HeldBatch, delivery=Delivery, octets=bytes, one=Parked)
    cdef void part(self, ParkedTogether together)
    @cython.locals(
        inlet=Inlet,
        held=HeldBatch,
        outlet=Outlet,
        mode=int,
        is_alone=bint,
        limit=Py_ssize_t,
        at=Py_ssize_t,
        count=Py_ssize_t,
    )
    cdef Py_ssize_t serve_together(
        self, Address address, object queue, ParkedTogether together, bint is_local_only
    ) except -2
    cdef void count_waiting(self, Inlet inlet, Address address, bint is_settled, Py_ssize_t count)
    cdef void _have_come(self, Inlet inlet, Address address, Py_ssize_t count)
    @cython.locals(address=Address)
    cdef void _have_left(self, Inlet inlet, Outlet outlet, Py_ssize_t count, bint is_settled)
