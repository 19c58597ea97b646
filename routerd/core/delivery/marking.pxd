import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations, AnnotationReader, section
from routerd.core.annotations.annotation_filter cimport AnnotationFilter
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.address_route cimport AddressRoute
from routerd.wire.section_scan cimport may_carry_annotations

cdef Py_ssize_t _SAME
cdef Py_ssize_t _UNREADABLE


@cython.final
cdef class Marking:
    cdef readonly AnnotationReader reader
    cdef readonly object octets
    cdef AnnotationFilter _annotations
    cdef object _treatments
    cdef bint _is_edge
    cdef bytes _plain_entry
    cdef Py_ssize_t _plain_count

    @cython.locals(reader=AnnotationReader)
    cdef void read(self, Arrival arrival)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t)
    cdef void strip(self, Arrival arrival)
    cdef bint has_to_mark(self, Inlet inlet, AddressRoute route) except -1
    @cython.locals(size=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t dress(self, Arrival arrival, Outlet outlet) except -3
    @cython.locals(annotations=RouterAnnotations, inlet=Inlet)
    cdef Py_ssize_t _tell(self, Arrival arrival) except -3
    @cython.locals(inlet=Inlet, entry=bytes, count=Py_ssize_t, phase=int)
    cdef Py_ssize_t _tell_of_entry(self, Arrival arrival, RouterAnnotations annotations) except -3
    @cython.locals(address=Address)
    cdef tuple _destination(self, Inlet inlet)
    @cython.locals(annotations=RouterAnnotations)
    cdef Py_ssize_t _mark(self, Arrival arrival, Address address) except -3
    cdef bint _reads(self, Arrival arrival) except -1
    @cython.locals(inlet=Inlet, entry=bytes, count=Py_ssize_t, phase=int)
    cdef Py_ssize_t _mark_anew(self, Arrival arrival, Address address, RouterAnnotations annotations) except -3
    cdef Py_ssize_t _splice(self, Arrival arrival, bytes annotations) except -3
    cdef tuple _entry_of(self, Arrival arrival, Address address)
