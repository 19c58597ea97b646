import cython
from routerd.wire cimport c_memory as memory
from routerd.wire.decoder cimport Decoder
from routerd.wire.delivery cimport Delivery, DeliveryRing
from routerd.wire.disposition cimport DispositionFields, DispositionRange
from routerd.wire.session cimport Session

cdef unsigned int _MASK
cdef unsigned int _HALF
cdef Py_ssize_t _OVERHEAD


@cython.final
cdef class Dispositions:
    cdef readonly Session session
    cdef DispositionRange _as_receiver
    cdef DispositionRange _as_sender

    cpdef void check_fits(self, object state)
    @cython.locals(session=Session, gathered=DispositionRange)
    cpdef void send(self, Delivery delivery, object state, bint settled)
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
        delivery=Delivery,
        found=Delivery,
    )
    cpdef void receive(self, Decoder decoder)
    cdef void _apply(self, Delivery delivery, object state, bint settled)
