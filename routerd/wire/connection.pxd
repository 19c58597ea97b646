import cython
from routerd.wire.composite cimport composite_octets, decode_composite
from routerd.wire.decoder cimport Decoder
from routerd.wire.disposition cimport DispositionFields
from routerd.wire.encoder cimport Encoder
from routerd.wire.flow cimport FlowFields
from routerd.wire.handler cimport Handler
from routerd.wire.handles cimport HandleTable
from routerd.wire.idle_clock cimport IdleClock
from routerd.wire.link_names cimport LinkNames
from routerd.wire.output cimport Output
from routerd.wire.session cimport Session
from routerd.wire.transfer cimport TransferFields

cdef object _OVER
cdef int _OPEN
cdef int _BEGIN
cdef int _ATTACH
cdef int _FLOW
cdef int _TRANSFER
cdef int _DISPOSITION
cdef int _DETACH
cdef int _END
cdef int _CLOSE


cdef class Connection:
    cdef readonly object config
    cdef public Handler handler
    cdef readonly bint is_client
    cdef readonly object sasl
    cdef readonly bint is_sasl_required
    cdef readonly Output output
    cdef readonly object state
    cdef readonly bint is_awake
    cdef readonly unsigned int send_frame_size
    cdef readonly unsigned int channel_max
    cdef readonly object remote_open
    cdef Decoder _decoder
    cdef Encoder _encoder
    cdef readonly TransferFields transfer_fields
    cdef readonly FlowFields flow_fields
    cdef readonly DispositionFields disposition_fields
    cdef bytearray _partial
    cdef Py_ssize_t _resume_at
    cdef bint _is_header_due
    cdef bint _is_in_sasl
    cdef bint _is_waiting
    cdef bytearray _held
    cdef bint _is_authenticated
    cdef bint _is_receiving
    cdef bint _is_reported
    cdef bint _is_framing_lost
    cdef bint _is_open_due
    cdef HandleTable _local
    cdef HandleTable _remote
    cdef readonly LinkNames links
    cdef list _busy
    cdef IdleClock _clock
    cdef public object context

    cpdef void receive_data(self, object data, double now, Py_ssize_t start=*, Py_ssize_t end=*)
    cpdef bytearray data_to_send(self, double now)
    cpdef void wake(self)
    cpdef void make_busy(self, Session session)
    cpdef void send_performative(self, unsigned int channel, object performative)
    cpdef void send_attach(self, unsigned int channel, object performative)
    cpdef void check_open(self)

    cdef Py_ssize_t _receive(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    @cython.locals(partial=bytearray, stop=Py_ssize_t)
    cdef Py_ssize_t _complete_partial(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    cdef void _hold(self, object data, Py_ssize_t start, Py_ssize_t end)
    cdef Py_ssize_t _wanted(self, bytearray partial) except -1
    cdef Py_ssize_t _checked_size(self, Py_ssize_t size) except -1
    @cython.locals(view="const unsigned char*", size=Py_ssize_t)
    cdef Py_ssize_t _walk(self, object data, Py_ssize_t pos, Py_ssize_t end) except -1
    @cython.locals(
        view="const unsigned char*",
        body=Py_ssize_t,
        kind=int,
        decoder=Decoder,
        code=int,
        channel="unsigned int",
        session=Session,
    )
    cdef void _receive_frame(self, object data, Py_ssize_t start, Py_ssize_t end)
    cdef object _decode(self, Decoder decoder, object data, Py_ssize_t body, Py_ssize_t end)
    @cython.locals(session=Session)
    cdef void _receive_performative(
        self, Decoder decoder, unsigned int channel, int code, object data, Py_ssize_t body, Py_ssize_t end
    )
    cdef void _put_frame(self, unsigned int channel, bytes body, object performative)
    @cython.locals(session=Session)
    cdef void _flush(self)
