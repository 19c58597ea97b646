import cython
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.queues cimport Queues
from routerd.core.delivery.sending cimport Sending
from routerd.core.delivery.settlement cimport Settlement, too_large
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.recording.journal cimport Journal
from routerd.wire.delivery cimport Delivery
from routerd.wire.sender cimport Sender

cdef object _MAYBE_SEEN


@cython.final
cdef class Remainders:
    cdef Journal _journal
    cdef Settlement _settlement
    cdef Sending _sending
    cdef Copies _copies
    cdef Queues _queues

    @cython.locals(delivery=Delivery)
    cdef void go_on(self, Arrival arrival)
    @cython.locals(inlet=Inlet, outlet=Outlet, size=Py_ssize_t, link=Sender, number=int)
    cdef void _go_on_with_one(self, Arrival arrival, Delivery delivery, Delivery out)
    @cython.locals(
        inlet=Inlet,
        delivery=Delivery,
        size=Py_ssize_t,
        is_held=bint,
        is_full=bint,
        out=Delivery,
        outlet=Outlet,
        link=Sender,
    )
    cdef void _go_on_with_copies(self, Arrival arrival, FanOut fan)
    @cython.locals(link=Sender)
    cdef void _abort_too_large(self, FanOut fan, Outlet outlet, Delivery out)
    @cython.locals(out=Delivery, outlet=Outlet, delivery=Delivery)
    cdef void abort_copies(self, FanOut fan)
    @cython.locals(routes=list, route=AddressRoute)
    cdef void _serve_routes(self, FanOut fan)
