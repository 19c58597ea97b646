import cython
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.link cimport Link

cdef unsigned int _MASK
cdef unsigned int _HALF
cdef Py_ssize_t _SMALLEST
cdef Py_ssize_t _INDEX_SLACK
cdef object _ACCEPTED

# A router has a thousand of these in its hands for each busy link; an int for each truth made them a fifth larger.
cdef extern from *:
    ctypedef bint flag "unsigned char"


@cython.final
cdef class Delivery:
    cdef public Link link
    cdef public bytes given_tag
    cdef public object state
    cdef public object remote_state
    cdef public object context
    cdef public object via
    cdef public object book
    cdef public unsigned long long size
    cdef public double stamp
    cdef public long long ticket
    cdef public unsigned int id
    cdef public unsigned int message_format
    cdef public unsigned int tag_number
    cdef public int rcv_settle_mode
    cdef public int page
    cdef public flag is_incoming
    cdef public flag is_partial
    cdef public flag is_aborted
    cdef public flag is_resumed
    cdef public flag is_tracked
    cdef public flag is_queued
    cdef public flag is_plain
    cdef public flag is_batchable
    cdef public flag is_settled_at_end
    cdef public flag settled
    cdef public flag remote_settled

    cpdef void clear(self)
    cpdef void accept(self)
    cpdef void release(self)
    cpdef void decide(self, object outcome)
    cpdef void settle(self)
    cpdef void settle_at_end(self)
    cpdef void update(self, object state, bint settled)
    cpdef void relay(self, object state, bint settled)


@cython.final
cdef class DeliveryRing:
    cdef bint _is_incoming
    cdef list _slots
    cdef unsigned int _mask
    cdef unsigned int _first
    cdef unsigned int _next
    cdef unsigned int _in_ring
    cdef dict _stragglers
    cdef list _batches
    cdef dict _index
    cdef Py_ssize_t _index_size
    cdef unsigned int _indexed
    cdef readonly Py_ssize_t count

    @cython.locals(delivery=Delivery)
    cpdef Delivery get(self, unsigned int delivery_id)
    @cython.locals(number="unsigned int", offset="unsigned int")
    cpdef bint add(self, Delivery delivery) except -1
    @cython.locals(number="unsigned int", slot="unsigned int")
    cpdef void remove(self, Delivery delivery)
    @cython.locals(size="unsigned int", at="unsigned int", ahead="unsigned int")
    cpdef tuple part_between(self, unsigned int first, long long span)
    @cython.locals(span="unsigned int")
    cpdef list stragglers_between(self, unsigned int first, unsigned int last)
    cpdef void thin_out(self)
    cpdef list of_link(self, Link link)
    cpdef void forget_link(self, Link link)
    @cython.locals(straggler=Delivery)
    cdef dict _extended_index(self)
    @cython.locals(span="unsigned int", start="unsigned int", offset="unsigned int", delivery=Delivery)
    cdef void _enter_rest(self, dict index)
    @cython.locals(numbers=list)
    cdef void _enter(self, dict index, Delivery delivery)
    @cython.locals(left=list)
    cdef void _forget_settled(self, dict index)
    @cython.locals(delivery=Delivery)
    cdef bint _is_of(self, unsigned int number, Link link) except -1
    @cython.locals(room="unsigned int")
    cpdef unsigned int room_from(self, unsigned int first) except? 0
    @cython.locals(first="unsigned int", last="unsigned int")
    cpdef void add_batch(self, DeliveryBatch batch)
    cpdef void add_front(self, DeliveryBatch front, DeliveryBatch batch)
    cpdef void batch_shrank(self, DeliveryBatch batch, Py_ssize_t count)
    @cython.locals(batch=DeliveryBatch)
    cpdef DeliveryBatch front(self)
    @cython.locals(front=DeliveryBatch, batch=DeliveryBatch, offset="unsigned int")
    cpdef DeliveryBatch beginning_with(self, unsigned int number)
    cpdef void fill(self, Delivery delivery)
    cdef unsigned int _first_of(self, DeliveryBatch batch) noexcept
    @cython.locals(batch=DeliveryBatch)
    cdef bint _dissolve_of(self, unsigned int number) except -1
    @cython.locals(batches=list, batch=DeliveryBatch, low=Py_ssize_t, middle=Py_ssize_t, high=Py_ssize_t)
    cdef DeliveryBatch _batch_before(self, unsigned int offset)
    @cython.locals(batch=DeliveryBatch)
    cdef void _dissolve_all(self)
    @cython.locals(batch=DeliveryBatch, stop="unsigned int")
    cdef void _advance(self)
    @cython.locals(offset="unsigned int", capacity="unsigned int", roomy="unsigned int")
    cdef void _make_room(self, unsigned int first, unsigned int last)
    cdef void _evict(self)
