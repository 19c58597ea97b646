import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.core.multicast cimport Multicast
from routerd.core.outlet cimport Outlet
from routerd.core.parked cimport Parked, ParkedTogether, parked
from routerd.wire.delivery cimport Delivery
from routerd.wire.halt cimport Halt

cdef Py_ssize_t _BURST
cdef int _UNSETTLED
cdef int _SETTLED
cdef int _MIXED


cdef class Halting(Multicast):
    cdef object queue_for(self, Address address, Inlet inlet)
    cdef bint may_go_together(self, Inlet inlet, Address address) except -1
    cdef bint may_take_many(self, Outlet outlet) except -1
    @cython.locals(inlet=Inlet, address=Address, together=ParkedTogether)
    cpdef void on_halted(self, Halt halt)
    cpdef void on_halt_over(self, Halt halt)
    @cython.locals(inlet=Inlet, address=Address, halt=Halt, delivery=Delivery, octets=bytes, one=Parked)
    cdef void part(self, ParkedTogether together)
    @cython.locals(
        inlet=Inlet,
        halt=Halt,
        outlet=Outlet,
        mode=int,
        is_alone=bint,
        limit=Py_ssize_t,
        at=Py_ssize_t,
        count=Py_ssize_t,
    )
    cdef Py_ssize_t serve_together(
        self, Address address, object queue, ParkedTogether together, bint is_local_only
    ) except -2
    cdef void count_waiting(self, Inlet inlet, Address address, bint is_settled, Py_ssize_t count)
    cdef void have_come(self, Inlet inlet, Address address, Py_ssize_t count)
    @cython.locals(address=Address)
    cdef void have_left(self, Inlet inlet, Outlet outlet, Py_ssize_t count, bint is_settled)
