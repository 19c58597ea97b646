import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.batches cimport Batches
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.marking cimport Marking
from routerd.core.delivery.resending cimport Resending
from routerd.core.delivery.routing cimport Routing
from routerd.core.delivery.sending cimport Sending
from routerd.core.delivery.settlement cimport Settlement
from routerd.core.delivery.windows cimport effect_of
from routerd.core.directory.directory cimport Directory
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked, ParkedTogether, parked
from routerd.core.links.trunk cimport Trunk
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.recording.journal cimport Journal
from routerd.wire.delivery cimport Delivery

cdef object _RELEASED
cdef int _CLOSES
cdef int _STAYS_OPEN
cdef int _GIVES_UP
cdef Py_ssize_t _FAIR_MESSAGE_MAX


@cython.final
cdef class Queues:
    cdef Clock _clock
    cdef Directory _directory
    cdef PathRules _rules
    cdef Journal _journal
    cdef Marking _marking
    cdef Settlement _settlement
    cdef Routing _routing
    cdef Sending _sending
    cdef Copies _copies
    cdef Batches _batches
    cdef Resending _resending
    cdef Arrival _arrival
    cdef Arrival _spare

    cdef bint lags(self, Address address, Inlet inlet) except -1
    @cython.locals(one=Parked, outlet=Outlet, count=Py_ssize_t, turn=Py_ssize_t)
    cdef void make_room(self, Address address, Inlet inlet)
    @cython.locals(inlet=Inlet, delivery=Delivery, one=Parked)
    cdef void park(self, Arrival arrival, Address address, object queue)
    @cython.locals(inlet=Inlet, delivery=Delivery, size=Py_ssize_t, effect=int)
    cdef void go_on(self, Arrival arrival, Parked one)
    cdef void _give_up(self, Parked one, int cause, object outcome)
    cdef Py_ssize_t _unheld(self, Parked one) except -1
    cdef void _count_unheld(self, Parked one, Py_ssize_t size)
    @cython.locals(delivery=Delivery, is_end=bint)
    cdef void _note_came(self, Inlet inlet, Parked one, Py_ssize_t size, int effect)
    cdef void _take_part(self, Inlet inlet, Parked one)
    @cython.locals(octets=Py_ssize_t)
    cdef bint leave_behind(self, Parked one) except -1
    cdef void unpark(self, Parked one)
    cdef void _leave_queue(self, Parked one)
    @cython.locals(is_moving=bint)
    cdef void serve(self, Address address)
    @cython.locals(first=object, count=Py_ssize_t, arrival=Arrival)
    cdef bint _serve_one(self, Address address, object queue, bint is_local_only) except -1
    @cython.locals(outlet=Outlet, is_expected=bint)
    cdef bint _send_first(
        self, Arrival arrival, Address address, object queue, Parked one, bint is_local_only
    ) except -1
    cdef void _recall(self, Arrival arrival)
    @cython.locals(one=Parked)
    cdef void release_parked(self, Address address)
    @cython.locals(spare=Arrival)
    cdef void note_unsent(self, Parked one, int cause)
    cdef void serve_outlet(self, Outlet outlet)
    cdef void serve_trunk(self, Trunk trunk)
    @cython.locals(address=Address, route=AddressRoute)
    cdef void _serve_hungry(self, Trunk trunk)
