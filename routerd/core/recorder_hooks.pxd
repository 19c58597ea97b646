import cython
from routerd.core.address cimport Address
from routerd.core.departures cimport Departures
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.passage cimport Passage
from routerd.core.recorder cimport Recorder
from routerd.core.settlement cimport outcome_number
from routerd.core.way cimport Way
from routerd.wire.convoy cimport Convoy
from routerd.wire.delivery cimport Delivery
from routerd.wire.plain_transfer cimport payload_of
from routerd.wire.section_scan cimport read_u32, skip_value
from routerd.wire.sections cimport Sections

cdef int _AUTOMATIC
cdef int _DEFAULT_PRIORITY
cdef bytes _NOTHING
cdef Py_ssize_t _NO_LIMIT
cdef int _PRESETTLED
cdef int _PROPERTIES
cdef int _SMALL_DESCRIPTOR
cdef Py_ssize_t _SHORTEST


cdef class Recorded(Departures):
    @cython.locals(recorder=Recorder, address=Address, flow="long long")
    cdef Py_ssize_t note_departure(
        self,
        Inlet inlet,
        Outlet outlet,
        Way way,
        Passage passage,
        double stamp,
        long long size,
        object data,
        Py_ssize_t start,
        Py_ssize_t end,
        bint is_copy,
    ) except? -1
    cdef Py_ssize_t together_room(self) except -1
    @cython.locals(
        recorder=Recorder,
        passage=Passage,
        flow="long long",
        row=Py_ssize_t,
        sampled="long long",
        skipped="long long",
        outstanding="long long",
        step=int,
        view="const unsigned char*",
        octets="long long",
        rows=Py_ssize_t,
        at=Py_ssize_t,
        number=Py_ssize_t,
        end=Py_ssize_t,
    )
    cdef void note_together(
        self,
        Inlet inlet,
        Outlet outlet,
        double stamp,
        Py_ssize_t count,
        Convoy convoy,
        object data,
        Py_ssize_t start,
        long long remote_handle,
    )
    @cython.locals(recorder=Recorder)
    cdef void keep_record(self, Delivery out, long long flow) noexcept
    @cython.locals(recorder=Recorder, is_wanted=bint, text=str, flow="long long")
    cdef void note_stay(
        self,
        Inlet inlet,
        Address address,
        Passage passage,
        double stamp,
        long long size,
        object data,
        Py_ssize_t start,
        Py_ssize_t end,
        int outcome,
        int cause,
    )
    @cython.locals(number=int)
    cdef void drop(
        self,
        Inlet inlet,
        Delivery delivery,
        object outcome,
        Address address,
        Passage passage,
        int cause,
        object data,
        Py_ssize_t start,
        Py_ssize_t end,
    )
    @cython.locals(outlet=Outlet, is_trunk=bint, outcome=int)
    cdef void note_loss(self, Delivery out, bint is_settled)
    cdef void note_abort(self, Delivery out, bint is_settled)
    cdef void note_more(self, Delivery out, long long octets)
    cdef Passage passage_or_none(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(header=Sections)
    cdef str _written_address(self, Passage passage, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(priority=int, header=Sections)
    cdef int _describe(
        self,
        Recorder recorder,
        Address address,
        double stamp,
        object data,
        Py_ssize_t start,
        Py_ssize_t end,
    ) except -1
    @cython.locals(count=Py_ssize_t, at=Py_ssize_t, outlets=list, outlet=Outlet, way=Way, is_chosen=bint)
    cdef int _compare(
        self,
        Recorder recorder,
        Inlet inlet,
        Address address,
        Outlet chosen,
        Way taken,
        Passage passage,
    ) except -1


@cython.locals(view="const unsigned char*", at=Py_ssize_t)
cdef bint _may_have_properties(object data, Py_ssize_t start, Py_ssize_t end) except -1
cdef bytes _octets_of(object identifier)
