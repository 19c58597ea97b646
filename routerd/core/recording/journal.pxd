import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations, AnnotationReader
from routerd.core.clock cimport Clock
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.recording.batch cimport RecordedBatch
from routerd.core.recording.recorder cimport Recorder
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.delivery cimport Delivery
from routerd.wire.plain_transfer cimport payload_of
from routerd.wire.section_scan cimport read_u32, skip_value
from routerd.wire.sections cimport Sections

cdef int _AUTOMATIC
cdef object _ACCEPTED
cdef object _RELEASED
cdef bytes _NOTHING
cdef Py_ssize_t _NO_LIMIT
cdef int _RECORDED_ACCEPTED
cdef int _PRESETTLED
cdef int _PROPERTIES
cdef int _SMALL_DESCRIPTOR
cdef Py_ssize_t _SHORTEST


@cython.final
cdef class Journal:
    cdef Clock _clock
    cdef PathRules _rules
    cdef AnnotationReader _reader
    cdef public Recorder recorder
    cdef Sections _header
    cdef Arrival _one

    @cython.locals(recorder=Recorder, inlet=Inlet, route=AddressRoute, address=Address, flow="long long")
    cdef Py_ssize_t departs(self, Arrival arrival, Outlet outlet, bint is_copy) except? -1
    @cython.locals(recorder=Recorder)
    cdef void keep(self, Delivery out, long long flow) noexcept
    cdef void grew(self, Delivery out, long long octets)
    cdef Py_ssize_t room(self, Address address) except -1
    @cython.locals(
        recorder=Recorder,
        address=Address,
        flow="long long",
        row=Py_ssize_t,
        sampled="long long",
        skipped="long long",
        outstanding="long long",
        step=int,
        is_only_one=bint,
        view="const unsigned char*",
        octets="long long",
        rows=Py_ssize_t,
        at=Py_ssize_t,
        number=Py_ssize_t,
        end=Py_ssize_t,
        one=Arrival,
    )
    cdef void left_together(
        self,
        Inlet inlet,
        Outlet outlet,
        AddressRoute route,
        RouterAnnotations annotations,
        double stamp,
        Py_ssize_t count,
        DeliveryBatch batch,
        object data,
        Py_ssize_t start,
        long long remote_handle,
    )
    @cython.locals(
        address=Address, outlets=list, count=Py_ssize_t, at=Py_ssize_t, outlet=Outlet, route=AddressRoute
    )
    cdef int _compare_together(
        self,
        Recorder recorder,
        Inlet inlet,
        Outlet chosen,
        AddressRoute taken,
        RouterAnnotations annotations,
        long long outstanding,
    ) except -1
    @cython.locals(rows=Py_ssize_t)
    cdef void accepted_together(self, RecordedBatch batch, Py_ssize_t count)
    cdef void part(self, RecordedBatch batch, Delivery out)
    @cython.locals(flow="long long")
    cdef int decided(self, Delivery out, int outcome, int cause) except -1
    cdef int decided_at_once(self, long long flow, int outcome, int cause) except -1
    @cython.locals(outlet=Outlet, is_trunk=bint, outcome=int)
    cdef void lost(self, Delivery out, bint is_settled)
    cdef void aborted(self, Delivery out, bint is_settled)
    @cython.locals(recorder=Recorder, inlet=Inlet, is_wanted=bint, text=str, flow="long long")
    cdef void stays(self, Arrival arrival, Address address, int outcome, int cause)
    cdef void waits(self, Address address)
    cdef void recall(self, Arrival arrival, bint is_partial)
    @cython.locals(annotations=RouterAnnotations, header=Sections)
    cdef str _written_address(self, Arrival arrival)
    @cython.locals(priority=int, header=Sections)
    cdef int _describe(self, Recorder recorder, Arrival arrival, Address address) except -1
    @cython.locals(
        count=Py_ssize_t, at=Py_ssize_t, outlets=list, outlet=Outlet, route=AddressRoute, is_chosen=bint, is_fabric=bint
    )
    cdef int _compare(
        self, Recorder recorder, Arrival arrival, Address address, Outlet chosen, AddressRoute taken
    ) except -1


cpdef int outcome_number(object state) except -1
@cython.locals(view="const unsigned char*", at=Py_ssize_t)
cdef bint _may_have_properties(object data, Py_ssize_t start, Py_ssize_t end) except -1
cdef bytes _octets_of(object identifier)
