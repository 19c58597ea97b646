import cython
from routerd.wire cimport c_memory as memory
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.decoder cimport Decoder
from routerd.wire.delivery cimport Delivery, DeliveryRing
from routerd.wire.disposition cimport DispositionFields, DispositionRange
from routerd.wire.session cimport Session

cdef unsigned int _MASK
cdef unsigned int _HALF
cdef object _ACCEPTED
cdef Py_ssize_t _OVERHEAD


@cython.final
cdef class Dispositions:
    cdef readonly Session session
    cdef DispositionRange _as_receiver
    cdef DispositionRange _as_sender
    cdef object _state
    cdef unsigned int _said_first
    cdef unsigned int _said_count

    cpdef void check_fits(self, object state)
    @cython.locals(session=Session)
    cpdef void send(self, Delivery delivery, object state, bint settled)
    @cython.locals(session=Session)
    cdef void _gather(
        self, DispositionRange gathered, unsigned int first, unsigned int count, object state, bint settled
    )
    cpdef void accept(self, unsigned int first, unsigned int count)
    cpdef void write(self)
    cpdef void drop(self)
    @cython.locals(
        session=Session,
        fields=DispositionFields,
        ring=DeliveryRing,
        first="unsigned int",
        last="unsigned int",
        settled=bint,
        span="long long",
        is_acceptance=bint,
    )
    cpdef void receive(self, Decoder decoder)
    @cython.locals(
        step="long long", applied="long long", has_batches=bint, passed="unsigned int", delivery=Delivery
    )
    cdef void _apply_to_range(
        self, DeliveryRing ring, unsigned int first, long long span, object state, bint settled, bint is_acceptance
    )
    @cython.locals(numbers=list, found=Delivery)
    cdef void _apply_to_old(self, DeliveryRing ring, unsigned int first, unsigned int last, object state, bint settled)
    cdef object _known(self, object state)
    @cython.locals(ahead="unsigned int")
    cdef bint _is_said(self, unsigned int first, unsigned int last) except -1
    @cython.locals(newest="unsigned int", count="unsigned int", ahead="unsigned int")
    cdef unsigned int _say(self, unsigned int first, unsigned int last) except? 0
    @cython.locals(batch=DeliveryBatch, count="unsigned int", first="unsigned int")
    cdef unsigned int _accept_batch(self, DeliveryRing ring, unsigned int number, unsigned int most) except? 0
    @cython.locals(is_news=bint)
    cdef void _apply(self, Delivery delivery, object state, bint settled)
