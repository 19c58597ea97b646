import cython
from routerd.core.address cimport Address
from routerd.core.fan_out cimport FanOut
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.parked cimport Collected, Parked
from routerd.core.peer cimport Peer
from routerd.wire.annotation_edit cimport AnnotationEdit
from routerd.wire.connection cimport Connection
from routerd.wire.delivery cimport Delivery
from routerd.wire.handler cimport Handler
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.sections cimport Sections
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session

cdef object _ACCEPTED
cdef object _RELEASED
cdef object _MAYBE_SEEN
cdef int _MIXED
cdef int _SETTLED
cdef int _SECOND
cdef int _HEADER
cdef int _MESSAGE_ANNOTATIONS
cdef bytes _NOTHING


cdef class Forwarder(Handler):
    cdef public double now
    cdef public list awake
    cdef readonly object observer
    cdef AnnotationEdit _strip
    cdef Sections _sections

    cpdef void on_output(self, Connection connection)
    cpdef object destination(self, Inlet inlet, str to)

    @cython.locals(inlet=Inlet, address=Address)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(outlet=Outlet)
    cdef void _route(
        self, Inlet inlet, Address address, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    )
    @cython.locals(link=Sender, is_settled=bint, out=Delivery)
    cdef void _forward(
        self, Inlet inlet, Outlet outlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    )
    cdef void _sent(self, Inlet inlet, Outlet outlet, Delivery delivery, Delivery out)
    cdef void _give_up(self, Inlet inlet, Delivery delivery, object outcome)
    cdef void _continue(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(outlet=Outlet, link=Sender)
    cdef void _continue_one(
        self, Inlet inlet, Delivery delivery, Delivery out, object data, Py_ssize_t start, Py_ssize_t end
    )
    cdef void _hold_back(self, Inlet inlet, Outlet outlet)

    @cython.locals(delivery=Delivery)
    cdef void _park(self, object queue, Parked parked, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(delivery=Delivery)
    cdef void _continue_parked(self, Inlet inlet, Parked parked, object data, Py_ssize_t start, Py_ssize_t end)
    cdef void _unpark(self, Parked parked)
    cdef void _leave_queue(self, Parked parked)
    @cython.locals(is_moving=bint)
    cpdef void serve(self, Address address)
    @cython.locals(outlet=Outlet, parked=Parked, delivery=Delivery)
    cdef bint _serve_one(self, Address address, object queue, bint is_local_only) except -1
    @cython.locals(parked=Parked)
    cpdef void release_parked(self, Address address)
    @cython.locals(fan=FanOut)
    cpdef void serve_outlet(self, Outlet outlet)
    @cython.locals(outlet=Outlet)
    cpdef void relieve(self, Peer peer)
    cdef void _answer_drain(self, Outlet outlet)

    @cython.locals(count=Py_ssize_t, fan=FanOut, more=bint, outlet=Outlet)
    cdef void _fan_out(
        self, Inlet inlet, Address address, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    )
    @cython.locals(link=Sender, is_settled=bint, out=Delivery)
    cdef void _send_copy(
        self, FanOut fan, Outlet outlet, object data, Py_ssize_t start, Py_ssize_t end, bint more
    )
    cdef void _wait_for(self, FanOut fan, Outlet outlet)
    cdef void _leave_wait(self, FanOut fan)
    cdef void _keep(self, FanOut fan, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(delivery=Delivery, is_held=bint, out=Delivery, outlet=Outlet, link=Sender)
    cdef void _continue_copies(self, Inlet inlet, FanOut fan, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(out=Delivery, outlet=Outlet, delivery=Delivery)
    cdef void _abort_copies(self, FanOut fan)
    cdef void _all_sent(self, FanOut fan)
    @cython.locals(delivery=Delivery)
    cdef void _check_copies(self, FanOut fan)

    cpdef void on_disposition(self, Delivery delivery)
    @cython.locals(inlet=Inlet, is_news=bint)
    cdef void _consumer_decided(self, Delivery out, Delivery delivery)
    cdef void _copy_decided(self, Delivery out, FanOut fan)
    @cython.locals(inlet=Inlet)
    cdef void _producer_settled(self, Delivery delivery)
    @cython.locals(age=double)
    cdef void _settle(self, Inlet inlet, Delivery delivery, object state)
    cdef void _update(self, Delivery delivery, object state, bint settled)
    @cython.locals(outlet=Outlet, age=double)
    cdef void _count_out(self, Delivery out, object state)

    @cython.locals(outlet=Outlet, inlet=Inlet)
    cpdef void on_link_flow(self, Link link)
    @cython.locals(peer=Peer)
    cpdef void on_session_flow(self, Session session)

    @cython.locals(out=Delivery, fan=FanOut)
    cpdef void outlet_lost(self, Outlet outlet)
    @cython.locals(inlet=Inlet)
    cdef void _consumer_lost(self, Delivery delivery)
    @cython.locals(current=Delivery, delivery=Delivery)
    cpdef void inlet_lost(self, Inlet inlet)
    @cython.locals(outlet=Outlet)
    cdef void _producer_lost(self, Delivery delivery)

    @cython.locals(is_partial=bint)
    cdef void _read_sections(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(sections=Sections)
    cdef object _destination_of(self, Inlet inlet, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(collected=Collected)
    cdef void _begin_collecting(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(collected=Collected, octets=bytearray)
    cdef void _collect(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cdef tuple _stripped(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)


@cython.locals(view="const unsigned char*", code=int, kind=int)
cpdef bint may_carry_annotations(object data, Py_ssize_t start, Py_ssize_t end) except -1
cdef void _count_in(Inlet inlet, object state)
cdef void _count_outcome(Outlet outlet, object state)
cdef list _unsettled(Link link)
