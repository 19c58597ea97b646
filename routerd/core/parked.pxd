import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.wire.delivery cimport Delivery
from routerd.wire.halt cimport Halt


@cython.final
cdef class Parked:
    cdef public Inlet inlet
    cdef public Address address
    cdef public Delivery delivery
    cdef public object octets
    cdef public bint is_settled
    cdef public bint is_complete
    cdef public Py_ssize_t frames


@cython.final
cdef class ParkedTogether:
    cdef readonly Inlet inlet
    cdef readonly Address address
    cdef readonly Halt halt
    cdef readonly bint is_settled
    cdef readonly bint is_complete
    cdef readonly double stamp


@cython.locals(made=Parked, view="const unsigned char*")
cpdef Parked parked(
    Inlet inlet, Address address, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
)


@cython.final
cdef class Collected:
    cdef readonly Delivery delivery
    cdef readonly bytearray octets
