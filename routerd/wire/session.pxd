import cython
from routerd.wire.attachments cimport Attachments
from routerd.wire.connection cimport Connection
from routerd.wire.decoder cimport Decoder
from routerd.wire.delivery cimport Delivery, DeliveryRing
from routerd.wire.dispositions cimport Dispositions
from routerd.wire.flow cimport FlowFields, write_flow
from routerd.wire.handler cimport Handler
from routerd.wire.link cimport Link
from routerd.wire.output cimport Output
from routerd.wire.transfer cimport TransferFields

cdef unsigned int _MASK
cdef object _ATTACH_RCVD
cdef object _ATTACH_SENT
cdef object _BEGIN_RCVD
cdef object _BEGIN_SENT
cdef object _END_RCVD
cdef object _MAPPED
cdef object _UNMAPPED
cdef object _RECV_BEGIN
cdef object _RECV_END
cdef object _SEND_BEGIN
cdef object _SEND_END
cdef object _SEND_END_ERROR


cdef class Session:
    cdef readonly Connection connection
    cdef readonly Handler handler
    cdef readonly Output output
    cdef readonly unsigned int channel
    cdef public int remote_channel
    cdef readonly object state
    cdef readonly bint is_receiving
    cdef readonly bint is_open
    cdef readonly bint is_over
    cdef public bint is_busy
    cdef readonly bint is_unwanted
    cdef public unsigned int send_frame_size
    cdef readonly Py_ssize_t unsettled_max
    cdef readonly unsigned int handle_max
    cdef readonly unsigned int remote_handle_max
    cdef readonly unsigned int next_delivery_id
    cdef readonly unsigned int next_outgoing_id
    cdef readonly unsigned int remote_incoming_window
    cdef readonly unsigned int remote_outgoing_window
    cdef readonly unsigned int next_incoming_id
    cdef readonly unsigned int incoming_window
    cdef unsigned int _window
    cdef readonly unsigned int withheld
    cdef unsigned int _initial_outgoing_id
    cdef readonly DeliveryRing outgoing
    cdef readonly DeliveryRing incoming
    cdef readonly bint has_backlog
    cdef object _backlog
    cdef list _flows
    cdef bint _is_window_due
    cdef Link _heard_link
    cdef readonly Attachments attachments
    cdef readonly Dispositions dispositions
    cdef public object flow_properties
    cdef public object context

    cpdef void check_open(self)
    @cython.locals(link=Link)
    cpdef void end_unused(self)
    cpdef void answer(self)
    cpdef void fall_silent(self)
    cpdef void send_detach(self, Link link, object performative)
    @cython.locals(
        handle="long long",
        delivery_count="long long",
        credit="long long",
        available="long long",
        drain=bint,
        next_incoming_id="long long",
    )
    cpdef void send_flow(self, Link link, bint echo=*, object properties=*)
    cpdef void flow_due(self, Link link)
    @cython.locals(ring=DeliveryRing)
    cpdef void track(self, Delivery delivery)
    @cython.locals(ring=DeliveryRing)
    cpdef void untrack(self, Delivery delivery)
    @cython.locals(delivery_id="unsigned int")
    cpdef unsigned int take_delivery_id(self) noexcept
    cpdef void count_transfer(self)
    cdef void passed_out(self, unsigned int count)
    @cython.locals(half="long long")
    cdef long long until_opened(self) except -1
    cdef void passed_in(self, unsigned int count)
    cpdef void queue(self, Delivery delivery, bytes octets, bint more)
    cpdef void unqueue(self, Delivery delivery)
    @cython.locals(link=Link)
    cpdef void flush(self)
    @cython.locals(delivery=Delivery, link=Link)
    cdef void _send_backlog(self)
    cpdef void drop_backlog(self, Link link)
    @cython.locals(fields=FlowFields, seen="unsigned int", unseen="unsigned int", had_room=bint, link=Link)
    cpdef void receive_flow(self, Decoder decoder)
    @cython.locals(fields=TransferFields, link=Link)
    cpdef void receive_transfer(self, Decoder decoder, object data, Py_ssize_t end)
    @cython.locals(window="unsigned int")
    cdef void _open_window(self)
    cdef void _window_due(self)
