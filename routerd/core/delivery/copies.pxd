import cython
from routerd.core.delivery.sending cimport Sending
from routerd.core.delivery.settlement cimport Settlement
from routerd.core.delivery.windows cimport effect_of, open_for
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.recording.journal cimport Journal
from routerd.wire.delivery cimport Delivery

cdef object _RELEASED
cdef int _CLOSES
cdef int _STAYS_OPEN


@cython.final
cdef class Copies:
    cdef PathRules _rules
    cdef Journal _journal
    cdef Settlement _settlement
    cdef Sending _sending
    cdef Arrival _arrival

    @cython.locals(
        inlet=Inlet,
        delivery=Delivery,
        count=Py_ssize_t,
        fan=FanOut,
        more=bint,
        outlet=Outlet,
        link=Outlet,
        routes=list,
        route=AddressRoute,
        priority=int,
    )
    cdef void fan_out(self, Arrival arrival, Address address)
    cdef void all_sent(self, FanOut fan)
    @cython.locals(fan=FanOut, link=Outlet)
    cdef void serve(self, Outlet outlet)
    @cython.locals(fan=FanOut, link=Outlet)
    cdef void serve_route(self, AddressRoute route)
    @cython.locals(arrival=Arrival, priority=int)
    cdef int _priority_of(self, FanOut fan, Address address) except -1
    @cython.locals(arrival=Arrival)
    cdef void _send_waiting(self, FanOut fan, Outlet link, AddressRoute route)
    cdef void route_lost(self, AddressRoute route)
    cdef void lose(self, FanOut fan, Address address, Outlet outlet, int cause)
    @cython.locals(outlet=Outlet)
    cdef void _wait_for_route(self, FanOut fan, AddressRoute route, int priority)
    cdef void _wait_for(self, FanOut fan, Outlet outlet)
    cdef void _begin_wait(self, FanOut fan) noexcept
    cdef void _leave_wait(self, FanOut fan) noexcept
    @cython.locals(inlet=Inlet, effect=int)
    cdef void keep(self, FanOut fan, object data, Py_ssize_t start, Py_ssize_t end)


cdef Outlet _link_for(Outlet outlet, bint is_partial)
