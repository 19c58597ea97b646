import cython
from routerd.wire.channels cimport Channels
from routerd.wire.composite cimport composite_octets, decode_composite
from routerd.wire.decoder cimport Decoder
from routerd.wire.disposition cimport DispositionFields
from routerd.wire.encoder cimport Encoder
from routerd.wire.flow cimport FlowFields
from routerd.wire.handler cimport Handler
from routerd.wire.idle_clock cimport IdleClock
from routerd.wire.input cimport Input
from routerd.wire.link_names cimport LinkNames
from routerd.wire.output cimport Output, take_back
from routerd.wire.relay cimport Relay
from routerd.wire.sasl_layer cimport SaslLayer
from routerd.wire.session cimport Session
from routerd.wire.transfer cimport TransferFields

cdef object _OVER
cdef int _OPEN
cdef int _CLOSE
cdef int _AMQP_FRAME
cdef int _SASL_FRAME


cdef class Connection:
    cdef readonly object config
    cdef public Handler handler
    cdef readonly bint is_client
    cdef readonly object sasl
    cdef readonly Output output
    cdef readonly Input input
    cdef readonly Channels channels
    cdef readonly Relay relay
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
    cdef SaslLayer _sasl_layer
    cdef bint _is_receiving
    cdef bint _is_reported
    cdef bint _is_open_due
    cdef readonly LinkNames links
    cdef list _busy
    cdef public Py_ssize_t work
    cdef IdleClock _clock
    cdef public object context

    cpdef void receive_data(self, object data, double now, Py_ssize_t start=*, Py_ssize_t end=*)
    cpdef Py_ssize_t receive_some(
        self, object data, double now, Py_ssize_t start, Py_ssize_t end, Py_ssize_t enough
    ) except -1
    cpdef bytearray data_to_send(self, double now)
    cpdef bint written(self, bytearray octets) except -1
    cpdef void wake(self)
    cpdef void make_busy(self, Session session)
    cpdef void send_performative(self, unsigned int channel, object performative)
    cpdef void send_attach(self, unsigned int channel, object performative)
    cpdef void check_open(self)

    cpdef object decode(self, object data, Py_ssize_t body, Py_ssize_t end)
    cdef Py_ssize_t receive_frame_size(self) except -1
    cdef object size_error(self, Py_ssize_t size, Py_ssize_t limit)
    cdef bint _is_sasl_left(self) except -1
    cpdef void receive_header(self, bytes octets)
    @cython.locals(
        view="const unsigned char*", body=Py_ssize_t, kind=int, decoder=Decoder, code=int, channel="unsigned int"
    )
    cdef void receive_frame(self, object data, Py_ssize_t start, Py_ssize_t end)
    cpdef void authenticated(self)
    cpdef void authentication_failed(self)
    cpdef void fail(self, object error)

    cdef void _put_frame(self, unsigned int channel, bytes body, object performative)
    @cython.locals(session=Session)
    cdef void _flush(self)
