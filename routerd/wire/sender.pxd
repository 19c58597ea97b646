import cython
from routerd.wire.composite cimport encode_composite
from routerd.wire.delivery cimport Delivery
from routerd.wire.flow cimport FlowFields
from routerd.wire.link cimport Link
from routerd.wire.output cimport Output
from routerd.wire.session cimport Session
from routerd.wire.transfer cimport write_abort, write_continuation, write_transfer

cdef unsigned int _MASK
cdef Py_ssize_t _FIRST_OVERHEAD
cdef Py_ssize_t _NEXT_OVERHEAD
cdef Py_ssize_t _TAG_MAX
cdef int _UNSETTLED
cdef int _SETTLED


cdef class Sender(Link):
    cdef readonly Delivery current
    cdef long long _unstarted
    cdef long long _overdrawn

    @cython.locals(predecessor=Sender)
    cpdef void take_over(self, Link earlier)
    @cython.locals(delivery=Delivery)
    cpdef Delivery send(
        self, object data, bytes tag=*, bint settled=*, unsigned int message_format=*, object context=*
    )
    @cython.locals(delivery=Delivery)
    cpdef Delivery begin(
        self,
        bytes tag=*,
        bint settled=*,
        unsigned int message_format=*,
        object context=*,
        object state=*,
        int rcv_settle_mode=*,
        bint batchable=*,
    )
    @cython.locals(session=Session, size=Py_ssize_t)
    cpdef bint send_settled(
        self, object data, Py_ssize_t start, Py_ssize_t end, unsigned int message_format
    ) except -1
    @cython.locals(session=Session, mine=Delivery, settled=bint, mode=int, is_plain=bint)
    cpdef Delivery forward(self, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cpdef void give_back(self, long long credit)
    cpdef void write(self, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end, bint more)
    cpdef void abort(self, Delivery delivery)
    cpdef void drained(self)
    @cython.locals(session=Session, out=Output, frame_size=Py_ssize_t, stop=Py_ssize_t, tag_size=Py_ssize_t)
    cpdef Py_ssize_t emit(
        self, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end, bint more
    ) except -2
    @cython.locals(number="unsigned int")
    cdef unsigned int _take_tag_number(self) except? 0xFFFFFFFF
    cdef void _check_size(self, unsigned long long size)
    cdef void _check_fits(self, Delivery delivery)
    cdef void _start(self, Delivery delivery)
    @cython.locals(body=bytearray, stop=Py_ssize_t)
    cdef Py_ssize_t _write_in_full(
        self, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end, bint more
    ) except -2
    cdef bytearray _transfer_in_full(self, Delivery delivery, unsigned int delivery_id, bint more)
    cpdef long long credit_on_wire(self) except -1
    cdef void passed(self, unsigned int count)
    cpdef void drop_queued(self)
    @cython.locals(seen="unsigned int", unseen="unsigned int", credit="long long")
    cpdef void receive_flow(self, FlowFields fields)
