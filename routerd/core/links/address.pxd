import cython
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer

cdef Py_ssize_t _RUN_MAX
cdef Py_ssize_t _NO_LIMIT


@cython.final
cdef class Address:
    cdef readonly str key
    cdef readonly object distribution
    cdef readonly bint is_multicast
    cdef readonly bint is_balanced
    cdef readonly bint is_fair
    cdef readonly int priority
    cdef public bint resends
    cdef public Address fallback
    cdef public Address primary
    cdef public long long redirected
    cdef public list returned
    cdef readonly list outlets
    cdef readonly Py_ssize_t local_count
    cdef public Py_ssize_t remote_count
    cdef public Py_ssize_t missing
    cdef readonly dict inlets
    cdef readonly dict in_step
    cdef readonly dict fabric_inlets
    cdef readonly Py_ssize_t stream_count
    cdef public dict uneven
    cdef public object parked
    cdef public object parked_from_siblings
    cdef public object parked_from_trunks
    cdef public Py_ssize_t waiting
    cdef public Py_ssize_t waiting_from_siblings
    cdef public Py_ssize_t waiting_from_trunks
    cdef public Py_ssize_t octets_from_trunks
    cdef public Py_ssize_t unheld_octets
    cdef public object hungry_in
    cdef public double expected_until
    cdef public list routes
    cdef public Py_ssize_t route_turn
    cdef public Py_ssize_t route_taken
    cdef Py_ssize_t _turn
    cdef Py_ssize_t _taken
    cdef Py_ssize_t _run
    cdef Py_ssize_t _turns_left
    cdef Py_ssize_t _known_credit
    cdef public long long ingress
    cdef public long long egress
    cdef public long long transit
    cdef public long long container_in
    cdef public long long container_out
    cdef public Py_ssize_t uses

    cpdef void spread(self, object distribution)
    cpdef object queue_for(self, Inlet inlet)
    cpdef bint has_outlet(self, bint is_local_only) noexcept
    @cython.locals(total=Py_ssize_t, outlet=Outlet)
    cpdef Py_ssize_t credit(self) except -1
    @cython.locals(waiting=dict, inlet=Inlet)
    cpdef void keep_step(self)
    cpdef void note_step(self)
    cpdef void note_credit(self)
    @cython.locals(share=Py_ssize_t, inlet=Inlet, outlet=Outlet)
    cpdef void share_credit(self)
    @cython.locals(share=Py_ssize_t, inlet=Inlet)
    cpdef void drain_siblings(self)
    @cython.locals(waiting=Py_ssize_t, credit=Py_ssize_t, count=Py_ssize_t, outlet=Outlet)
    cdef Py_ssize_t _share(self, bint is_ahead) except -1
    cpdef void enter(self, Inlet inlet)
    cpdef void leave(self, Inlet inlet)
    cpdef void add(self, Outlet outlet)
    cpdef void remove(self, Outlet outlet)
    @cython.locals(outlets=list, one=Outlet, other=Outlet)
    cdef void _swap(self, Py_ssize_t at, Py_ssize_t other_at)
    @cython.locals(
        outlets=list,
        count=Py_ssize_t,
        best=Outlet,
        least=Py_ssize_t,
        at=Py_ssize_t,
        chosen=Py_ssize_t,
        outlet=Outlet,
        load=Py_ssize_t,
        _=Py_ssize_t,
    )
    cpdef Outlet choose(self, bint is_local_only, Peer spared=*)
    cdef void _take_turn(self, Py_ssize_t at, Py_ssize_t weight) noexcept
    @cython.locals(route=AddressRoute, least="long long", turns=Py_ssize_t, others=Py_ssize_t)
    cdef Py_ssize_t _count_turns(self, bint is_local_only) except -1
    @cython.locals(run=Py_ssize_t)
    cpdef Py_ssize_t run_behind(self, Py_ssize_t behind, bint is_local_only) except -1
