import cython
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link
from routerd.wire.output cimport Output
from routerd.wire.plain_transfer cimport payload_of
from routerd.wire.section_scan cimport read_u32
from routerd.wire.session cimport Session
from routerd.wire.transfer cimport write_changed_transfer, write_transfer

cdef unsigned int _MASK
cdef long long _OVERHEAD


@cython.final
cdef class HeldBatch:
    cdef readonly Link receiver
    cdef readonly DeliveryBatch batch
    cdef readonly bint is_settled
    cdef readonly Py_ssize_t count
    cdef readonly DeliveryBatch gone
    cdef public object context
    cdef readonly bytes octets
    cdef readonly Py_ssize_t at
    cdef readonly long long remote_handle
    cdef readonly bytes head

    @cython.locals(
        outgoing=Session,
        left="long long",
        largest="long long",
        out=Output,
        channel="unsigned int",
        handle="unsigned int",
        delivery_id="unsigned int",
        tag="unsigned int",
        first_out="unsigned int",
        tag_out="unsigned int",
        is_settled=bint,
        octets=bytes,
        view="const unsigned char*",
        at=Py_ssize_t,
        count="long long",
        size=Py_ssize_t,
        payload=Py_ssize_t,
        head_size=Py_ssize_t,
    )
    cpdef Py_ssize_t leave(self, Link sender, Py_ssize_t limit, Py_ssize_t most, bytes front=*) except -1
    @cython.locals(octets=bytes, view="const unsigned char*", size=Py_ssize_t, _=Py_ssize_t)
    cpdef Py_ssize_t size_of(self, Py_ssize_t at, Py_ssize_t count) except -1
    @cython.locals(octets=bytes, view="const unsigned char*")
    cpdef tuple first(self)
    @cython.locals(delivery=Delivery)
    cpdef list dissolve(self)
    @cython.locals(octets=bytes, view="const unsigned char*", start=Py_ssize_t)
    cpdef bytes take_first(self)
