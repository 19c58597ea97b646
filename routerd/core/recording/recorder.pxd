import cython
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.core.links.recorded_flow cimport Flow
from routerd.core.recording.rows cimport Late, Rows
from routerd.core.links.address_route cimport AddressRoute

cdef Py_ssize_t _CANDIDATES_MAX
cdef int _STEPS_MAX
cdef Py_ssize_t _NO_LIMIT
cdef Py_ssize_t _SUMS
cdef Py_ssize_t _FIRST_OUTCOME
cdef int _EPOCH_BITS
cdef long long _FLOW_BITS
cdef object _epochs
cdef unsigned long long _OFFSET_BASIS
cdef unsigned long long _PRIME
cdef unsigned long long _ALL_BITS
cdef unsigned long long _LOW_BITS
cdef unsigned long long _HIGH_BIT


@cython.final
cdef class Recorder:
    cdef readonly str router_id
    cdef readonly long long every
    cdef readonly double offset
    cdef readonly object events
    cdef readonly long long lost_decisions
    cdef readonly long long lost_flows
    cdef Py_ssize_t _waiting_max
    cdef Py_ssize_t _pressed_at
    cdef object _memory
    cdef object _room
    cdef Py_ssize_t _rows_max
    cdef Py_ssize_t _cells_max
    cdef long long _countdown
    cdef object _register
    cdef dict _flows
    cdef dict _paths
    cdef list _active
    cdef list _sums
    cdef list _full
    cdef list _spare
    cdef readonly Rows rows
    cdef readonly int row
    cdef readonly bint is_sampled
    cdef readonly long long skipped
    cdef long long _epoch
    cdef long long[::1] _counters
    cdef bytearray _is_active

    @cython.locals(number="long long", index=Py_ssize_t)
    cdef Py_ssize_t depart(
        self, Inlet inlet, Outlet outlet, AddressRoute route, RouterAnnotations annotations, long long size
    ) except? -1
    cpdef Py_ssize_t room(self, Py_ssize_t candidates) except -1
    @cython.locals(number="long long", index=Py_ssize_t)
    cdef Py_ssize_t depart_together(
        self, Inlet inlet, Outlet outlet, AddressRoute route, RouterAnnotations annotations, Py_ssize_t count
    ) except? -1
    cdef int begin(self, long long flow, RouterAnnotations annotations, long long size) except -1
    cdef bint _is_of(self, Flow flow, long long number, str key, RouterAnnotations annotations) noexcept
    @cython.locals(address=Address, last=Flow, flow=Flow, steps=int)
    cdef Flow _look_for(
        self, Inlet inlet, Outlet outlet, AddressRoute route, long long number, RouterAnnotations annotations
    )
    @cython.locals(flow=Flow)
    cdef Py_ssize_t stay(
        self, Inlet inlet, Address address, str text, RouterAnnotations annotations, long long size
    ) except? -1
    @cython.locals(epoch="long long")
    cdef Py_ssize_t _counted(self, Py_ssize_t flow, RouterAnnotations annotations, long long size) except? -1
    @cython.locals(path=int, hop=int)
    cdef int _begin(self, Py_ssize_t flow, RouterAnnotations annotations, long long size) except -1
    cdef int add(self, long long flow, Rows rows, Py_ssize_t row, long long octets) except -1
    cdef int settled(
        self, long long flow, Rows rows, Py_ssize_t row, int outcome, int cause, double now
    ) except -1
    @cython.locals(at=Py_ssize_t, now_us="long long")
    cdef int settled_together(
        self,
        long long flow,
        Rows rows,
        Py_ssize_t row,
        Py_ssize_t row_count,
        Py_ssize_t count,
        int outcome,
        double now,
    ) except -1
    cdef int settled_at_once(self, long long flow, int outcome, int cause, double now) except -1
    @cython.locals(late=Late)
    cdef int _complete_late(self, Rows rows, Py_ssize_t row, int outcome, int cause, double now) except -1
    @cython.locals(key="long long")
    cdef int describe(self, double stamp, int priority, bytes identifier) except -1
    cdef int consider(self, Outlet outlet, bint is_chosen) except -1
    cdef int consider_with(self, Outlet outlet, long long outstanding, bint is_chosen) except -1
    cdef int consider_route(self, AddressRoute route, bint is_chosen) except -1
    cdef int consider_route_with(self, AddressRoute route, long long outstanding, bint is_chosen) except -1
    @cython.locals(rows=Rows, newest=list)
    cpdef object take(self, bint is_all=*)
    @cython.locals(found=Flow, last=Flow)
    cdef Flow _find(
        self, Inlet inlet, Address address, long long number, RouterAnnotations annotations, Outlet outlet,
        AddressRoute route
    )
    cdef str _origin(self, RouterAnnotations annotations)
    @cython.locals(flow=Flow)
    cdef Flow _new_flow(self, tuple name, Inlet inlet, Address address, str text, tuple egress)
    cdef int _activate(self, Py_ssize_t flow) except -1
    @cython.locals(flow=Py_ssize_t)
    cdef int _grow(self) except -1
    @cython.locals(flow=Py_ssize_t, counter=Py_ssize_t)
    cdef void _sum_up(self, long long second_us)
    @cython.locals(flow=Flow)
    cdef int _turn_over(self) except -1
    cdef int _link_number(self, str text) except -1
    cdef int _path_number(self, RouterAnnotations annotations) except? -1
    cdef bint _next_rows(self) except -1
    cdef int _end_rows(self) except -1
    cdef int _begin_rows(self) except -1


cdef tuple _egress_of(str router_id, Outlet outlet, AddressRoute route)
@cython.locals(view="const unsigned char*", key="unsigned long long", i=Py_ssize_t)
cdef long long _message_key(bytes identifier) except? -1
