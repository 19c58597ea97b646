import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.marking cimport Marking
from routerd.core.delivery.settlement cimport Settlement, how_settled, too_large
from routerd.core.delivery.windows cimport effect_of_stuck, open_for
from routerd.core.links.address cimport Address
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.kept cimport Kept
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport parked
from routerd.core.recording.journal cimport Journal, outcome_number
from routerd.wire.delivery cimport Delivery
from routerd.wire.sender cimport Sender

cdef object _ACCEPTED
cdef int _CLOSES
cdef int _GIVES_UP
cdef object _RELEASED
cdef object _STATE_TOO_LONG
cdef int _MIXED
cdef int _SETTLED
cdef Py_ssize_t _UNREADABLE


@cython.final
cdef class Sending:
    cdef Clock _clock
    cdef object _observer
    cdef Marking _marking
    cdef Journal _journal
    cdef Settlement _settlement
    cdef Arrival _spare
    cdef bint _is_edge
    cdef readonly long long transit

    @cython.locals(
        delivery=Delivery,
        link=Sender,
        start=Py_ssize_t,
        end=Py_ssize_t,
        size=Py_ssize_t,
        is_settled=bint,
        is_whole=bint,
        out=Delivery,
        flow="long long",
    )
    cdef bint forward(self, Arrival arrival, Outlet outlet) except -1
    @cython.locals(address=Address, delivery=Delivery, kept=Kept)
    cdef void _keep(self, Arrival arrival, Outlet outlet)
    @cython.locals(
        link=Sender,
        more=bint,
        start=Py_ssize_t,
        end=Py_ssize_t,
        size=Py_ssize_t,
        is_settled=bint,
        out=Delivery,
        flow="long long",
    )
    cdef void copy(self, Arrival arrival, FanOut fan, Outlet outlet)
    cdef inline void _count(self, Arrival arrival, Outlet outlet, Delivery out)
    @cython.locals(now=double)
    cdef void count(self, Inlet inlet, Outlet outlet, AddressRoute route, Py_ssize_t count)
    cdef void copy_sent(self, FanOut fan, Delivery out)
    @cython.locals(spare=Arrival)
    cdef void unsent(self, FanOut fan, Address address, Outlet outlet, int outcome, int cause)
    @cython.locals(delivery=Delivery, number=int)
    cdef void drop(self, Arrival arrival, object outcome, Address address, int cause)
    @cython.locals(effect=int)
    cdef bint hold_back(self, Inlet inlet, Outlet outlet, Py_ssize_t size) except -1


cdef Delivery _begin_with(Sender link, bint is_settled, unsigned int message_format, object context, object state)
cdef Address _address_of(Arrival arrival, Outlet outlet)
