import cython
from routerd.core.delivery.marking cimport Marking
from routerd.core.delivery.sending cimport Sending
from routerd.core.delivery.settlement cimport Settlement
from routerd.core.directory.directory cimport Directory
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.kept cimport Kept
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked

cdef object _RELEASED


@cython.final
cdef class Resending:
    cdef Directory _directory
    cdef PathRules _rules
    cdef Marking _marking
    cdef Settlement _settlement
    cdef Sending _sending
    cdef Arrival _arrival
    cdef Outlet _found
    cdef bint _is_late
    cdef dict _waiting

    @cython.locals(arrival=Arrival, message=Parked)
    cpdef bint take_back(self, Kept kept) except -1
    @cython.locals(kept=Kept)
    cdef void serve(self, Address address)
    @cython.locals(address=Address)
    cdef void each_second(self)
    @cython.locals(address=Address)
    cdef void _wait(self, Kept kept)
    cdef void _recall(self, Arrival arrival)
    @cython.locals(
        inlet=Inlet,
        address=Address,
        count=Py_ssize_t,
        largest=cython.longlong,
        least=Py_ssize_t,
        load=Py_ssize_t,
        size=Py_ssize_t,
        outlet=Outlet,
        route=AddressRoute,
    )
    cdef void _choose(self, Arrival arrival, Kept kept)
