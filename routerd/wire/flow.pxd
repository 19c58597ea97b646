import cython
from routerd.wire.decoder cimport Decoder
from routerd.wire.output cimport Output

cdef Py_ssize_t _FIELDS


@cython.final
cdef class FlowFields:
    cdef readonly long long next_incoming_id
    cdef readonly long long incoming_window
    cdef readonly long long next_outgoing_id
    cdef readonly long long outgoing_window
    cdef readonly long long handle
    cdef readonly long long delivery_count
    cdef readonly long long link_credit
    cdef readonly long long available
    cdef readonly bint drain
    cdef readonly bint echo
    cdef readonly object properties

    cpdef void clear(self) noexcept
    @cython.locals(start=Py_ssize_t, count=Py_ssize_t)
    cpdef void read(self, Decoder decoder)


@cython.locals(frame=Py_ssize_t, count="unsigned int")
cpdef void write_flow(
    Output out,
    unsigned int channel,
    long long next_incoming_id,
    unsigned int incoming_window,
    unsigned int next_outgoing_id,
    unsigned int outgoing_window,
    long long handle,
    long long delivery_count,
    long long link_credit,
    long long available,
    bint drain,
    bint echo,
)
cdef void _put_optional(Output out, long long value) noexcept
