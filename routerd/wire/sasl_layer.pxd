import cython
from routerd.wire.composite cimport composite_octets, decode_composite
from routerd.wire.connection cimport Connection
from routerd.wire.decoder cimport Decoder
from routerd.wire.encoder cimport Encoder


@cython.final
cdef class SaslLayer:
    cdef readonly Connection connection
    cdef readonly bint is_active
    cdef public bint is_passed
    cdef bint _is_required
    cdef object _exchange

    cpdef void begin(self)
    cpdef void receive(self, Decoder decoder)
    cpdef void send(self, object frames)
    cpdef void heed(self)
    cpdef void abandon(self)
