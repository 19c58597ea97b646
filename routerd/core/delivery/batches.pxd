import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.core.clock cimport Clock
from routerd.core.delivery.marking cimport Marking
from routerd.core.delivery.routing cimport Routing
from routerd.core.delivery.sending cimport Sending
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.address_route cimport AddressRoute
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
cdef Py_ssize_t _LAG_OCTETS
cdef Py_ssize_t _UNREADABLE


@cython.final
cdef class Batches:
    cdef Clock _clock
    cdef Journal _journal
    cdef PathRules _rules
    cdef Marking _marking
    cdef Routing _routing
    cdef Sending _sending
    cdef Arrival _arrival
    cdef Address _address
    cdef AddressRoute _route
    cdef RouterAnnotations _annotations

    cdef bint may_go_together(self, Inlet inlet, Address address) except -1
    cdef bint may_take_many(self, Outlet outlet) except -1
    cdef bint _is_for(self, Arrival arrival, Address address) except -1
    cdef bint _knows_sections(self, Arrival arrival) except -1
    @cython.locals(inlet=Inlet, address=Address, is_plain_only=bint, delivery=Delivery, relay=Relay, limit=Py_ssize_t)
    cdef void follow(self, Arrival arrival, Outlet outlet)
    @cython.locals(is_fabric=bint, part=Py_ssize_t)
    cdef Py_ssize_t _part_of(
        self, Arrival arrival, Address address, Outlet outlet, Py_ssize_t behind, bint is_unsettled
    ) except -1
    @cython.locals(head=bytes, octets=object)
    cdef void _change(self, Relay relay, Arrival arrival)
    @cython.locals(octets=object)
    cdef bytes _front(self, Arrival arrival, Py_ssize_t size)
    @cython.locals(inlet=Inlet, outlet=Outlet, route=AddressRoute)
    cdef void relayed(
        self, Link receiver, Link sender, Py_ssize_t count, DeliveryBatch batch, object data, Py_ssize_t start
    )
    @cython.locals(inlet=Inlet, delivery=Delivery, behind=Delivery, relay=Relay, head=bytes, is_alike=bint)
    cdef void wait_too(self, Arrival arrival, Address address)
    @cython.locals(inlet=Inlet, address=Address, together=ParkedTogether)
    cdef void hold(self, HeldBatch held)
    @cython.locals(inlet=Inlet, address=Address, held=HeldBatch, delivery=Delivery, octets=bytes, one=Parked)
    cdef void part(self, ParkedTogether together)
    @cython.locals(
        inlet=Inlet,
        held=HeldBatch,
        arrival=Arrival,
        outlet=Outlet,
        count=Py_ssize_t,
    )
    cdef Py_ssize_t serve_together(
        self, Address address, object queue, ParkedTogether together, bint is_local_only
    ) except -2
    @cython.locals(held=HeldBatch)
    cdef void _recall(self, Arrival arrival, ParkedTogether together)
    cdef bint _has_nobody(self, Arrival arrival, Address address, bint is_local_only) except -1
    @cython.locals(
        inlet=Inlet,
        held=HeldBatch,
        mode=int,
        front=bytes,
        size=Py_ssize_t,
        limit=Py_ssize_t,
        at=Py_ssize_t,
        count=Py_ssize_t,
        batch=DeliveryBatch,
        route=AddressRoute,
    )
    cdef Py_ssize_t _leave(
        self, Arrival arrival, Address address, ParkedTogether together, Outlet outlet, bint is_local_only
    ) except -1
    cdef bint _is_alone(self, Address address, Inlet inlet) except -1
    cdef void count_waiting(self, Inlet inlet, Address address, bint is_settled, Py_ssize_t count)
    cdef void _have_come(self, Inlet inlet, Address address, Py_ssize_t count)
    cdef void _have_left(
        self, Inlet inlet, Outlet outlet, AddressRoute route, Py_ssize_t count, bint is_settled
    )
