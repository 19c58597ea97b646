import cython
from routerd.core.links.inlet cimport Inlet
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.wire.delivery cimport Delivery

cdef object _ACCEPTED
cdef object _RELEASED


@cython.final
cdef class FanOut:
    cdef readonly Inlet inlet
    cdef public Delivery delivery
    cdef readonly unsigned int message_format
    cdef readonly object state
    cdef readonly bint is_settled
    cdef readonly double stamp
    cdef public bint is_complete
    cdef public object outcome
    cdef public int rank
    cdef public Py_ssize_t open_copies
    cdef readonly dict awaiting
    cdef public Py_ssize_t waiting
    cdef public bytearray octets
    cdef public list under_way
    cdef public Py_ssize_t frames
    cdef public Py_ssize_t unheld
    cdef public bint is_cut
    cdef public Py_ssize_t left_octets
    cdef public list routes
    cdef public list outlets
    cdef public RouterAnnotations annotations

    @cython.locals(rank=int)
    cpdef void combine(self, object outcome)
    cdef void wait_for_producer(self, Delivery out)
    cdef bint is_awaiting(self, Delivery out) except -1
    cpdef void copy_over(self, Delivery out, object outcome)
    @cython.locals(awaiting=dict, out=Delivery)
    cpdef void settle_awaiting(self)
    cpdef void note_route(self, object route)
    cpdef void note_outlet(self, object outlet)
    cdef bint is_alive(self) except -1
    cdef Py_ssize_t size(self) except -1


cpdef int rank_of(object outcome) except -1
