import cython
from routerd.wire.composite cimport decode_state, encode_composite, encode_state
from routerd.wire.decoder cimport Decoder
from routerd.wire.output cimport Output

cdef unsigned int _MASK
cdef Py_ssize_t _FIELDS
cdef Py_ssize_t _STATE_MAX


@cython.final
cdef class DispositionFields:
    cdef readonly bint is_receiver
    cdef readonly unsigned int first
    cdef readonly unsigned int last
    cdef readonly bint settled
    cdef readonly object state

    @cython.locals(start=Py_ssize_t, count=Py_ssize_t, role=int, first="long long", last="long long")
    cpdef void read(self, Decoder decoder)


@cython.final
cdef class DispositionRange:
    cdef bint is_receiver
    cdef readonly bint is_pending
    cdef unsigned int first
    cdef unsigned int last
    cdef bint settled
    cdef object state

    cpdef bint extend(self, unsigned int first, unsigned int count, object state, bint settled)
    @cython.locals(frame=Py_ssize_t, count="unsigned int", state=bytes)
    cpdef void write(self, Output out, unsigned int channel)
    cdef void _write_long(self, Output out, unsigned int channel)


cdef bytes _encoded(object state)
