import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.credit cimport Credit
from routerd.core.delivery.settlement cimport Settlement
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.parked cimport Collected
from routerd.core.links.role cimport LinkRole
from routerd.core.roles.ends cimport Ends
from routerd.wire.delivery cimport Delivery

cdef object _TOO_LARGE


cdef class ControlRole(LinkRole):
    cdef Clock _clock
    cdef object _observer
    cdef Settlement _settlement
    cdef Credit _credit
    cdef Ends _ends

    cpdef void take(self, Inlet inlet, bytes octets)
    cpdef void left(self, Inlet inlet)
    @cython.locals(inlet=Inlet, collected=Collected)
    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    @cython.locals(delivery=Delivery)
    cdef void _go_on(self, Inlet inlet, Collected collected, object octets)
    cdef void _taken(self, Inlet inlet, Delivery delivery, bytes octets)
    cpdef void flow(self, object end)
    @cython.locals(inlet=Inlet)
    cpdef void answered(self, object end)
    @cython.locals(inlet=Inlet)
    cpdef void ended(self, object end, object error)
