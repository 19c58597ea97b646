import cython
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.queues cimport Queues
from routerd.core.delivery.sending cimport Sending
from routerd.core.delivery.settlement cimport Settlement, too_large
from routerd.core.delivery.windows cimport effect_of_stuck
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.recording.journal cimport Journal
from routerd.wire.delivery cimport Delivery
from routerd.wire.sender cimport Sender

cdef int _CLOSES
cdef int _GIVES_UP
cdef object _MAYBE_SEEN
cdef object _RELEASED


@cython.final
cdef class Remainders:
    cdef Journal _journal
    cdef Settlement _settlement
    cdef Sending _sending
    cdef Copies _copies
    cdef Queues _queues

    @cython.locals(delivery=Delivery)
    cdef void go_on(self, Arrival arrival)
    @cython.locals(inlet=Inlet, outlet=Outlet, size=Py_ssize_t, link=Sender)
    cdef void _go_on_with_one(self, Arrival arrival, Delivery delivery, Delivery out)
    cdef void _give_up(
        self, Inlet inlet, Delivery delivery, Outlet outlet, Delivery out, object outcome, int number, int cause
    )
    @cython.locals(
        inlet=Inlet,
        delivery=Delivery,
        size=Py_ssize_t,
        is_held=bint,
        effect=int,
        is_full=bint,
        out=Delivery,
        outlet=Outlet,
        link=Sender,
    )
    cdef void _go_on_with_copies(self, Arrival arrival, FanOut fan)
    cdef void _abort(self, FanOut fan, Outlet outlet, Delivery out, object outcome, int number, int cause)
    @cython.locals(out=Delivery, outlet=Outlet, delivery=Delivery)
    cdef void abort_copies(self, FanOut fan)
    @cython.locals(routes=list, route=AddressRoute, outlets=list, outlet=Outlet)
    cdef void _serve_routes(self, FanOut fan)
