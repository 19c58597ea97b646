import cython
from routerd.core.fan_out cimport FanOut
from routerd.core.flows cimport Flows
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link

cdef object _RELEASED
cdef object _MAYBE_SEEN


cdef class Endings(Flows):
    @cython.locals(out=Delivery, fan=FanOut)
    cpdef void outlet_lost(self, Outlet outlet)
    @cython.locals(inlet=Inlet)
    cdef void _consumer_lost(self, Delivery delivery)
    @cython.locals(current=Delivery, delivery=Delivery)
    cpdef void inlet_lost(self, Inlet inlet)
    @cython.locals(outlet=Outlet)
    cdef void _producer_lost(self, Delivery delivery)


cdef list _unsettled(Link link)
