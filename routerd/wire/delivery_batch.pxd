import cython
from routerd.wire.delivery cimport Delivery, DeliveryRing
from routerd.wire.held_batch cimport HeldBatch
from routerd.wire.link cimport Link

cdef unsigned int _MASK


@cython.final
cdef class DeliveryBatch:
    cdef readonly Link receiver
    cdef readonly Link sender
    cdef public HeldBatch held
    cdef readonly list tags
    cdef readonly Py_ssize_t count
    cdef readonly unsigned int first_in
    cdef readonly unsigned int first_out
    cdef readonly unsigned int tag_in
    cdef readonly unsigned int tag_out
    cdef public double stamp
    cdef public object context
    cdef public object via
    cdef Py_ssize_t _gone

    @cython.locals(receiver=Link)
    cpdef void arrive(self, unsigned int first_in, unsigned int tag_in)
    @cython.locals(tags=list, front=DeliveryBatch)
    cpdef DeliveryBatch part(self, Py_ssize_t count)
    cpdef void depart(self, Link sender, unsigned int first_out, unsigned int tag_out)
    @cython.locals(receiver=Link, sender=Link)
    cpdef void settle_first(self, Py_ssize_t count)
    @cython.locals(sender=Link, outgoing=DeliveryRing, taken=Delivery, sent=Delivery)
    cpdef void dissolve(self)
    cpdef list deliveries(self)
    @cython.locals(receiver=Link, delivery=Delivery)
    cdef Delivery _first_delivery(self)
    cdef void _drop_first(self, Py_ssize_t count)
