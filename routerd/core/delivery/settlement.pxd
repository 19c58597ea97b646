import cython
from routerd.core.clock cimport Clock
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.kept cimport Kept
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.recording.journal cimport Journal, outcome_number
from routerd.wire cimport c_memory as memory
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link

cdef object _ACCEPTED
cdef object _RELEASED
cdef object _FAILED
cdef Py_ssize_t _LEFT_MAX
cdef Py_ssize_t _LEFT_OCTETS_MAX


@cython.final
cdef class Settlement:
    cdef Clock _clock
    cdef Journal _journal
    cdef readonly dict kept
    cdef readonly Py_ssize_t kept_octets
    cdef public Py_ssize_t kept_max
    cdef Py_ssize_t _left
    cdef Py_ssize_t _left_octets
    cdef public object take_back

    @cython.locals(number=int)
    cdef void decided(self, Delivery delivery)
    @cython.locals(inlet=Inlet, is_news=bint, is_awaited=bint)
    cdef void _consumer_decided(self, Delivery out, Delivery delivery)
    @cython.locals(size=Py_ssize_t)
    cdef bint keep(self, Kept kept) except -1
    @cython.locals(kept=Kept)
    cdef void forget(self, Delivery delivery)
    @cython.locals(octets=Py_ssize_t)
    cdef Py_ssize_t leave_behind(self, Py_ssize_t size) except -1
    cdef void left_is_over(self, Py_ssize_t octets)
    @cython.locals(kept=Kept)
    cdef bint _is_taken_back(self, Delivery out, Delivery delivery, object state) except -1
    @cython.locals(
        inlet=Inlet,
        outlet=Outlet,
        route=AddressRoute,
        age=double,
        delayed_10s=Py_ssize_t,
        delayed_1s=Py_ssize_t,
    )
    cdef void accepted_together(self, DeliveryBatch batch, Py_ssize_t count)
    @cython.locals(has_outcome=bint)
    cdef void _copy_decided(self, Delivery out, FanOut fan)
    @cython.locals(inlet=Inlet)
    cdef void _producer_settled(self, Delivery delivery)
    @cython.locals(delivery=Delivery)
    cdef void let_go(self, FanOut fan)
    cdef void check_copies(self, FanOut fan)
    cdef void sent(self, Inlet inlet, Outlet outlet, Delivery delivery, Delivery out)
    cdef void has_left(self, Inlet inlet, Delivery delivery)
    cdef void give_up(self, Inlet inlet, Delivery delivery, object outcome)
    cdef void settle_too(self, Inlet inlet, Delivery delivery)
    @cython.locals(age=double)
    cdef void settle(self, Inlet inlet, Delivery delivery, object state, bint settled=*)
    cdef void _renew(self, Inlet inlet)
    cdef void _update(self, Delivery delivery, object state, bint settled)
    @cython.locals(outlet=Outlet, age=double)
    cdef void _count_out(self, Delivery out, object state)
    @cython.locals(route=AddressRoute)
    cdef void came_back(self, Delivery out)
    cdef void forget_route(self, Delivery out)


cdef void _pass_on(Delivery delivery, object state, bint is_last=*)
cdef bint _can_settle(Delivery delivery) except -1
cpdef object _as_told(object state)
cpdef int how_settled(Delivery delivery) except -1
cpdef object too_large(Link link)
