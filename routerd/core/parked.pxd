import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.wire.delivery cimport Delivery


@cython.final
cdef class Parked:
    cdef readonly Inlet inlet
    cdef readonly Address address
    cdef public Delivery delivery
    cdef public bytearray octets
    cdef readonly unsigned int message_format
    cdef public bint is_settled
    cdef public bint is_complete
    cdef public Py_ssize_t frames


@cython.final
cdef class Collected:
    cdef readonly Delivery delivery
    cdef readonly bytearray octets
