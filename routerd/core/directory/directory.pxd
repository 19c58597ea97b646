import cython
from routerd.core.directory.address_tracking cimport AddressTracking
from routerd.core.directory.naming cimport Naming
from routerd.core.links.address cimport Address
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.links.outlet cimport Outlet


@cython.final
cdef class Directory:
    cdef readonly bint is_edge
    cdef readonly dict addresses
    cdef readonly dict neighbours
    cdef readonly dict trunks
    cdef readonly object network
    cdef readonly object treatments
    cdef readonly object space
    cdef readonly Naming naming
    cdef readonly object expectations
    cdef readonly AddressTracking tracking
    cdef public str interior
    cdef public dict changed
    cdef readonly dict uneven
    cdef public dict wanted
    cdef readonly dict retiring
    cdef readonly dict uneven_streams
    cdef dict _passing
    cdef Py_ssize_t _passing_limit

    @cython.locals(address=Address, fallback=Address)
    cpdef Address address_with(self, str key, object treatment)
    cpdef Address address_without_link(self, str key)
    cpdef Address passing_address(self, str key)
    cdef bint _is_known_elsewhere(self, str key) except -1
    cdef bint _has_known_fallback(self, str key) except -1
    cpdef Address fallback(self)
    @cython.locals(fallback=Address)
    cpdef void forget_if_idle(self, Address address)
    cpdef object treatment_of_key(self, str key)
    @cython.locals(route=AddressRoute)
    cpdef void want(self, Address address)
    cpdef void count_remote(self, Address address)
    cdef tuple _routers_with(self, Address address)
    cpdef void retire(self, AddressRoute route)
    cpdef void retire_streams(self, Outlet outlet)
