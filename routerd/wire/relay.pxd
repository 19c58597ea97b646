import cython
from routerd.wire cimport c_memory as memory
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.delivery cimport Delivery
from routerd.wire.held_batch cimport HeldBatch
from routerd.wire.link cimport Link
from routerd.wire.output cimport Output
from routerd.wire.plain_transfer cimport id_of, payload_of, tag_of
from routerd.wire.section_scan cimport is_past_annotations, may_carry_annotations, read_u32
from routerd.wire.session cimport Session
from routerd.wire.transfer cimport write_changed_transfer, write_transfer

cdef unsigned int _MASK
cdef long long _OVERHEAD
cdef Py_ssize_t _NUMBER_SIZE
cdef Py_ssize_t _TAG_MAX
cdef Py_ssize_t _LOOKED_AT
cdef unsigned int _HEADER
cdef unsigned int _START
cdef bytes _NOTHING


@cython.final
cdef class Relay:
    cdef readonly Link receiver
    cdef public Py_ssize_t frame_size
    cdef public Py_ssize_t octets_behind
    cdef Link _sender
    cdef bint _is_plain_only
    cdef Py_ssize_t _most
    cdef Py_ssize_t _limit
    cdef bint _is_settled
    cdef unsigned int _next_id
    cdef bint _has_numbers
    cdef unsigned int _next_tag
    cdef bytes _head
    cdef bytes _front
    cdef bint _has_annotations

    cpdef Py_ssize_t count_behind(self) except -1
    cpdef void aim(
        self,
        Link receiver,
        Link sender,
        bint is_plain_only,
        Py_ssize_t most,
        Delivery behind=*,
        Py_ssize_t limit=*,
    )
    cpdef void change(self, bytes head, bytes front, bint has_annotations)
    cpdef void hold(self, Link receiver, Delivery behind=*)
    cdef bint _follow(self, Link receiver, Delivery behind) except -1
    @cython.locals(
        receiver=Link,
        sender=Link,
        incoming=Session,
        outgoing=Session,
        left="long long",
        largest="long long",
        is_choosy=bint,
        head=bytes,
        front=bytes,
        head_view="const unsigned char*",
        head_size=Py_ssize_t,
        frame_max=Py_ssize_t,
        header="unsigned int",
        remote_handle="long long",
        out=Output,
        channel="unsigned int",
        handle="unsigned int",
        delivery_id="unsigned int",
        tag="unsigned int",
        view="const unsigned char*",
        count="long long",
        size=Py_ssize_t,
        payload=Py_ssize_t,
        first_out="unsigned int",
        tag_out="unsigned int",
        start=Py_ssize_t,
        is_settled=bint,
        next_id="unsigned int",
        next_tag="unsigned int",
        tags=list,
        keeps_tags=bint,
        octets=bytes,
        at=Py_ssize_t,
        batch=DeliveryBatch,
    )
    cpdef Py_ssize_t take(self, object data, Py_ssize_t pos, Py_ssize_t end, Py_ssize_t stop) except -1
