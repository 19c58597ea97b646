import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.core.links.address cimport Address
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.parked cimport Collected, Parked
from routerd.core.links.address_route cimport AddressRoute
from routerd.wire.delivery cimport Delivery
from routerd.wire.sections cimport Sections

cdef int _DEFAULT_PRIORITY
cdef int _HIGHEST_PRIORITY
cdef int _HEADER
cdef bytes _NOTHING


@cython.final
cdef class Arrival:
    cdef public Inlet inlet
    cdef public Delivery delivery
    cdef public object data
    cdef public Py_ssize_t start
    cdef public Py_ssize_t end
    cdef public bint is_partial
    cdef public double stamp
    cdef public unsigned long long size
    cdef public RouterAnnotations annotations
    cdef public RouterAnnotations recorded
    cdef public RouterAnnotations read
    cdef public Py_ssize_t place
    cdef public Py_ssize_t stop
    cdef public AddressRoute route
    cdef public Py_ssize_t changed
    cdef public Collected collected
    cdef int _priority
    cdef Sections _header

    @cython.locals(delivery=Delivery)
    cdef void wait_over(self, Parked parked)
    cdef void copy_of(self, FanOut fan)
    cdef void is_over(self)
    cdef void forget_priority(self) noexcept
    cdef int priority(self, Address address) except -1
    @cython.locals(view="const unsigned char*", start=Py_ssize_t, at=Py_ssize_t)
    cdef int _read_priority(self) except -1
    @cython.locals(header=Sections)
    cdef int _search_priority(self) except -1
    @cython.locals(header=Sections)
    cdef object to(self)
