import cython
from routerd.core.address cimport Address
from routerd.core.halting cimport Halting
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.parked cimport Parked, ParkedTogether
from routerd.core.passage cimport Passage
from routerd.core.trunk cimport Trunk
from routerd.core.way cimport Way
from routerd.wire.delivery cimport Delivery

cdef object _RELEASED
cdef Py_ssize_t _FAIR_MESSAGE_MAX


cdef class Waiting(Halting):
    cdef bint forward(
        self, Inlet inlet, Outlet outlet, Way way, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    ) except -1
    cpdef void forget_if_idle(self, Address address)
    cdef bint lags(self, Address address, Inlet inlet) except -1
    @cython.locals(inlet=Inlet, delivery=Delivery)
    cdef void park(self, object queue, Parked parked, Py_ssize_t size)
    @cython.locals(delivery=Delivery)
    cdef void continue_parked(self, Inlet inlet, Parked parked, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(delivery=Delivery, is_end=bint)
    cdef void _note_came(self, Inlet inlet, Parked parked, Py_ssize_t size)
    cdef void _take_part(self, Inlet inlet, Parked parked)
    cdef void unpark(self, Parked parked)
    cdef void _leave_queue(self, Parked parked)
    @cython.locals(is_moving=bint)
    cpdef void serve(self, Address address)
    @cython.locals(
        first=object,
        count=Py_ssize_t,
        outlet=Outlet,
        parked=Parked,
        delivery=Delivery,
        way=Way,
        passage=Passage,
        octets=object,
        priority=int,
    )
    cdef bint _serve_one(self, Address address, object queue, bint is_local_only) except -1
    cdef Passage _passage_of(self, Parked parked)
    @cython.locals(parked=Parked)
    cpdef void release_parked(self, Address address)
    @cython.locals(inlet=Inlet, octets=object, passage=Passage, number=int, stamp=double, size="long long")
    cdef void note_unsent_parked(self, Parked parked, int cause)
    cpdef void serve_outlet(self, Outlet outlet)
    @cython.locals(address=Address, way=Way)
    cpdef void serve_trunk(self, Trunk trunk)
