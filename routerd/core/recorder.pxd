import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.passage cimport Passage
from routerd.core.way cimport Way

cdef Py_ssize_t _CANDIDATES_MAX
cdef Py_ssize_t _SMALL
cdef int _STEPS_MAX
cdef long long _NUMBER_MAX
cdef unsigned long long _OFFSET_BASIS
cdef unsigned long long _PRIME
cdef unsigned long long _ALL_BITS
cdef unsigned long long _LOW_BITS
cdef unsigned long long _HIGH_BIT
cdef int _LAST_OUTCOME


@cython.final
cdef class Flow:
    cdef object register
    cdef str key
    cdef long long egress_number
    cdef Py_ssize_t index
    cdef Passage passage
    cdef Flow following
    cdef bint is_active
    cdef long long messages
    cdef long long octets
    cdef long long accepted
    cdef long long rejected
    cdef long long released
    cdef long long modified
    cdef long long presettled
    cdef long long dropped

    cdef void clear(self) noexcept
    cdef void count(self, int outcome) noexcept


@cython.final
cdef class Decision:
    cdef Flow flow
    cdef double stamp
    cdef long long size
    cdef long long key
    cdef int path
    cdef int hop
    cdef int priority
    cdef int choice
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef int cells[12]
    cdef int[::1] more

    cdef int grow(self) except -1


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
    cdef list _pool
    cdef list _spare
    cdef object _columns
    cdef Py_ssize_t _rows
    cdef Py_ssize_t _cells
    cdef Py_ssize_t _latency_count
    cdef Py_ssize_t _key_count
    cdef Py_ssize_t _choice_count
    cdef Py_ssize_t _cause_count
    cdef long long[::1] _times
    cdef long long[::1] _latencies
    cdef long long[::1] _keys
    cdef int[::1] _flow_numbers
    cdef int[::1] _path_numbers
    cdef int[::1] _sizes
    cdef int[::1] _last_cells
    cdef signed char[::1] _priorities
    cdef signed char[::1] _choices
    cdef int[::1] _outcomes
    cdef int[::1] _causes
    cdef signed char[::1] _hops
    cdef int[::1] _links
    cdef int[::1] _costs
    cdef int[::1] _outstanding

    @cython.locals(address=Address, number="long long", last=Flow, flow=Flow, steps=int)
    cdef object depart(self, Inlet inlet, Outlet outlet, Way way, Passage passage, long long size)
    @cython.locals(flow=Flow)
    cdef object stay(self, Inlet inlet, Address address, str text, Passage passage, long long size)
    @cython.locals(flow=Flow, decision=Decision)
    cdef int add(self, object record, long long octets) except -1
    @cython.locals(flow=Flow, decision=Decision)
    cdef int settled(self, object record, int outcome, int cause, double now) except -1
    cdef int describe(self, Decision decision, double stamp, int priority, bytes identifier) except -1
    cdef int consider(self, Decision decision, Outlet outlet, bint is_chosen) except -1
    cdef int consider_way(self, Decision decision, Way way, bint is_chosen) except -1
    @cython.locals(at=Py_ssize_t)
    cdef int _consider(
        self, Decision decision, int link, long long cost, long long outstanding, bint is_chosen
    ) except -1
    @cython.locals(found=Flow, last=Flow)
    cdef Flow _find(
        self, Inlet inlet, Address address, long long number, Passage passage, Outlet outlet, Way way
    )
    cdef str _origin(self, Passage passage)
    @cython.locals(flow=Flow)
    cdef Flow _new_flow(self, tuple name, Inlet inlet, Address address, str text, tuple egress)
    cdef int _activate(self, Flow flow) except -1
    cdef object _counted(self, Flow flow, Passage passage, long long size)
    @cython.locals(flow=Flow)
    cdef void _sum_up(self, long long second_us)
    @cython.locals(flow=Flow)
    cdef int _turn_over(self) except -1
    cdef int _link_number(self, str text) except -1
    @cython.locals(decision=Decision)
    cdef Decision _decision(self, Flow flow, Passage passage, long long size)
    cdef int _path_number(self, Passage passage) except? -1
    @cython.locals(is_full=bint)
    cdef int _write(self, Decision decision, int outcome, int cause, double now) except -1
    @cython.locals(flow=Flow, at=Py_ssize_t, cell=Py_ssize_t, i=Py_ssize_t)
    cdef int _fill_row(self, Decision decision, int outcome, int cause, double now) except -1
    cdef int _let_go(self, Decision decision) except -1
    cdef bint _next_columns(self) except -1
    cdef int _end_columns(self) except -1
    cdef object _new_columns(self)
    cdef int _begin_columns(self) except -1


cdef tuple _egress_of(str router_id, Outlet outlet, Way way)
@cython.locals(view="const unsigned char*", key="unsigned long long", i=Py_ssize_t)
cdef long long _message_key(bytes identifier) except? -1
