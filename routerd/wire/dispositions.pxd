import cython
from routerd.wire cimport c_memory as memory
from routerd.wire.convoy cimport Convoy
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
        span="unsigned int",
        step="unsigned int",
        passed="unsigned int",
        is_acceptance=bint,
        delivery=Delivery,
        found=Delivery,
    )
    cpdef void receive(self, Decoder decoder)
    @cython.locals(convoy=Convoy, count="unsigned int", first="unsigned int")
    cdef unsigned int _accept_convoy(self, DeliveryRing ring, unsigned int number, unsigned int most) except? 0
    cdef void _apply(self, Delivery delivery, object state, bint settled)
