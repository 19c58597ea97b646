import cython
from routerd.wire.link cimport Link

cdef unsigned int _MASK
cdef Py_ssize_t _SMALLEST
cdef object _ACCEPTED


@cython.final
cdef class Delivery:
    cdef public unsigned int id
    cdef public unsigned int message_format
    cdef public unsigned long long size
    cdef public bint is_incoming
    cdef public bint is_partial
    cdef public bint is_aborted
    cdef public bint is_resumed
    cdef public bint is_tracked
    cdef public bint is_queued
    cdef public bint is_plain
    cdef public bint is_batchable
    cdef public bint settled
    cdef public bint remote_settled
    cdef public int rcv_settle_mode
    cdef public int record_row
    cdef public double stamp
    cdef public long long record_flow
    cdef public Link link
    cdef public bytes given_tag
    cdef public unsigned int tag_number
    cdef public object state
    cdef public object remote_state
    cdef public object context
    cdef public object way
    cdef public object record

    cpdef void accept(self)
    cpdef void release(self)
    cpdef void decide(self, object outcome)
    cpdef void settle(self)
    cpdef void update(self, object state, bint settled)


@cython.final
cdef class DeliveryRing:
    cdef list _slots
    cdef unsigned int _mask
    cdef unsigned int _first
    cdef unsigned int _next
    cdef unsigned int _in_ring
    cdef dict _stragglers
    cdef readonly Py_ssize_t count

    @cython.locals(delivery=Delivery)
    cpdef Delivery get(self, unsigned int delivery_id)
    @cython.locals(offset="unsigned int")
    cpdef void add(self, Delivery delivery)
    @cython.locals(found=Delivery)
    cpdef void remove(self, Delivery delivery)
    cdef void _advance(self)
    cdef unsigned int _make_room(self, Delivery delivery, unsigned int offset) except? 0xFFFFFFFF
    cdef void _evict(self)
