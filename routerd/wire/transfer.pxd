import cython
from routerd.wire cimport c_memory as memory
from routerd.wire.composite cimport decode_state
from routerd.wire.decoder cimport Decoder
from routerd.wire.output cimport Output

cdef Py_ssize_t _TAG_MAX
cdef Py_ssize_t _FIELDS
cdef Py_ssize_t _USUAL_MAX
cdef unsigned int _HEADER
cdef unsigned int _START
cdef Py_ssize_t _FIELDS_AT
cdef Py_ssize_t _FIRST_MOST


@cython.final
cdef class TransferFields:
    cdef readonly long long handle
    cdef readonly long long delivery_id
    cdef readonly bytes tag
    cdef readonly long long tag_number
    cdef readonly long long message_format
    cdef readonly int settled
    cdef readonly bint more
    cdef readonly int rcv_settle_mode
    cdef readonly object state
    cdef readonly bint resume
    cdef readonly bint aborted
    cdef readonly bint batchable
    cdef readonly Py_ssize_t payload
    cdef public bint takes_long_tags

    cpdef void clear(self) noexcept
    @cython.locals(start=Py_ssize_t, count=Py_ssize_t, list_end=Py_ssize_t)
    cpdef void read(self, Decoder decoder)
    @cython.locals(
        view="const unsigned char*",
        at=Py_ssize_t,
        list_end=Py_ssize_t,
        count=int,
        handle=int,
        delivery_id="long long",
        tag_at=Py_ssize_t,
        tag_size=Py_ssize_t,
        settled=int,
        more=bint,
    )
    cdef bint _read_usual(self, Decoder decoder) except -1
    cpdef bytes tag_octets(self)
    cdef void _read_tag(self, Decoder decoder, Py_ssize_t start)
    cdef void _read_rare_fields(self, Decoder decoder, Py_ssize_t count, Py_ssize_t start)


@cython.locals(
    first=Py_ssize_t,
    view="unsigned char*",
    at=Py_ssize_t,
    octets="const unsigned char*",
    size=Py_ssize_t,
    source="const unsigned char*",
)
cpdef Py_ssize_t write_transfer(
    Output out,
    unsigned int channel,
    unsigned int handle,
    unsigned int delivery_id,
    bytes tag,
    unsigned int tag_number,
    unsigned int message_format,
    bint settled,
    bint more,
    object data,
    Py_ssize_t start,
    Py_ssize_t end,
) except -1
@cython.locals(frame=Py_ssize_t)
cpdef void write_changed_transfer(
    Output out,
    unsigned int channel,
    unsigned int handle,
    unsigned int delivery_id,
    bytes tag,
    unsigned int tag_number,
    bint settled,
    bytes front,
    object data,
    Py_ssize_t start,
    Py_ssize_t end,
)
@cython.locals(frame=Py_ssize_t, _=int)
cpdef void write_continuation(
    Output out, unsigned int channel, unsigned int handle, bint more, object data, Py_ssize_t start, Py_ssize_t end
)
@cython.locals(frame=Py_ssize_t, _=int)
cpdef void write_abort(Output out, unsigned int channel, unsigned int handle)
