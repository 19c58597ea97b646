import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.queues cimport Queues
from routerd.core.delivery.remainders cimport Remainders
from routerd.core.delivery.settlement cimport Settlement
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked
from routerd.core.recording.journal cimport Journal
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link

cdef object _RELEASED
cdef object _MAYBE_SEEN


@cython.final
cdef class Endings:
    cdef Clock _clock
    cdef Journal _journal
    cdef Settlement _settlement
    cdef Copies _copies
    cdef Queues _queues
    cdef Remainders _remainders
    cdef bint _forgets_waiting

    @cython.locals(out=Delivery)
    cdef void outlet_lost(self, Outlet outlet)
    @cython.locals(fan=FanOut)
    cdef void release_waiting(self, Outlet outlet)
    @cython.locals(inlet=Inlet)
    cdef void _consumer_lost(self, Delivery delivery)
    @cython.locals(current=Delivery, delivery=Delivery)
    cdef void inlet_lost(self, Inlet inlet)
    @cython.locals(outlet=Outlet)
    cdef void _producer_lost(self, Delivery delivery)
    cdef bint _outlives(self, Parked one, Delivery delivery) except -1
    cdef bint _may_be_left(self, Inlet inlet, Delivery delivery) except -1


cdef list _unsettled(Link link)
