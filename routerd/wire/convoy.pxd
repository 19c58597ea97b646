import cython
from routerd.wire.delivery cimport Delivery, DeliveryRing
from routerd.wire.link cimport Link

cdef unsigned int _MASK


@cython.final
cdef class Convoy:
    cdef readonly Link receiver
    cdef readonly Link sender
    cdef readonly list tags
    cdef readonly Py_ssize_t count
    cdef readonly unsigned int first_in
    cdef readonly unsigned int first_out
    cdef readonly unsigned int tag_in
    cdef readonly unsigned int tag_out
    cdef public double stamp
    cdef Py_ssize_t _gone

    @cython.locals(receiver=Link, sender=Link)
    cpdef void enter(
        self, unsigned int first_in, unsigned int first_out, unsigned int tag_in, unsigned int tag_out
    )
    @cython.locals(receiver=Link, sender=Link)
    cpdef void settle_first(self, Py_ssize_t count)
    @cython.locals(
        receiver=Link, sender=Link, incoming=DeliveryRing, outgoing=DeliveryRing, taken=Delivery, sent=Delivery
    )
    cpdef void dissolve(self)
    cdef void _drop_first(self, Py_ssize_t count)
