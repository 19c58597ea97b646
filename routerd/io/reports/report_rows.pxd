import cython
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.links.routed_end cimport RoutedEnd
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.sender cimport Sender


@cython.locals(inner=Py_ssize_t, parked=Py_ssize_t, outlet=Outlet, route=AddressRoute)
cpdef object address_row(Address address, int worker, double now, object network)
cpdef object connection_row(Peer peer, int worker, double now, bint is_in_reserve)
@cython.locals(link=Receiver)
cpdef object inlet_row(
    Inlet inlet,
    int worker,
    str kind,
    int priority,
    Py_ssize_t stuck,
    double oldest_s,
    long long rate,
    double without_credit_s,
)
@cython.locals(link=Sender, undelivered=Py_ssize_t)
cpdef object outlet_row(
    Outlet outlet, int worker, str kind, int priority, Py_ssize_t stuck, double oldest_s, long long rate, double now
)
@cython.locals(link=Link, other=RoutedEnd, sending=RoutedEnd, undelivered=Py_ssize_t)
cpdef object routed_row(
    RoutedEnd end, int worker, str kind, int priority, Py_ssize_t stuck, double oldest_s, long long rate, double now
)
@cython.locals(address=Address)
cpdef Py_ssize_t waiting_here(Inlet inlet) except -1
cpdef double zero_credit_s(Outlet outlet, double now)
cpdef double routed_zero_credit_s(RoutedEnd end, double now)
