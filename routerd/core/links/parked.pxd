import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.wire.delivery cimport Delivery
from routerd.wire.held_batch cimport HeldBatch

cdef Py_ssize_t _SLACK


@cython.final
cdef class Parked:
    cdef public Inlet inlet
    cdef public Address address
    cdef public Delivery delivery
    cdef public object octets
    cdef public bint is_settled
    cdef public bint is_complete
    cdef public Py_ssize_t frames
    cdef public Py_ssize_t unheld
    cdef public bint is_gone
    cdef public Py_ssize_t left_octets


@cython.final
cdef class ParkedTogether:
    cdef readonly Inlet inlet
    cdef readonly Address address
    cdef readonly HeldBatch held
    cdef readonly RouterAnnotations annotations
    cdef readonly bint is_settled
    cdef readonly bint is_complete
    cdef readonly double stamp
    cdef public list alone


@cython.locals(made=Parked, view="const unsigned char*")
cpdef Parked parked(
    Inlet inlet, Address address, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
)


@cython.final
cdef class ParkedQueue:
    cdef object _entries
    cdef Py_ssize_t _size
    cdef Py_ssize_t _count

    cpdef void append(self, object entry)
    @cython.locals(together=ParkedTogether, one=Parked)
    cdef object _first(self)
    cpdef object popleft(self)
    cpdef void remove(self, Parked one)
    cpdef void part(self, ParkedTogether together, list alone)


@cython.final
cdef class Collected:
    cdef readonly Delivery delivery
    cdef readonly bytearray octets
    cdef public Py_ssize_t due
