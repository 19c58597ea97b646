import cython
from routerd.core.address cimport Address
from routerd.core.fan_out cimport FanOut
from routerd.core.inlet cimport Inlet
from routerd.core.multicast cimport Multicast
from routerd.core.outlet cimport Outlet
from routerd.core.passage cimport Passage
from routerd.core.parked cimport Collected, Parked
from routerd.core.peer cimport Peer
from routerd.core.router_annotations cimport may_carry_annotations
from routerd.core.settlement cimport too_large
from routerd.core.trunk cimport Trunk
from routerd.core.way cimport Way
from routerd.wire.delivery cimport Delivery
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
cdef bytes _NOTHING
cdef object _NO_TO
cdef object _FORBIDDEN_REQUEST


cdef class Forwarder(Multicast):
    cdef Sections _sections
    cdef public object answer_forbidden

    cpdef object destination(self, Inlet inlet, str to)
    cdef Address trunk_destination(self, Passage passage, str to)
    cdef Address expected_destination(self, Passage passage, str to)
    cdef bint is_expected(self, Inlet inlet, Address address) except -1
    cpdef void forget_if_idle(self, Address address)
    cdef void control_arrived(self, Inlet inlet, bytes octets)

    @cython.locals(inlet=Inlet, address=Address)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(passage=Passage, to=str, address=Address, place=Py_ssize_t, stop=Py_ssize_t)
    cdef void _arrive(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(outlet=Outlet, way=Way, priority=int, has_nobody=bint, is_ahead=bint)
    cdef void _route(
        self,
        Inlet inlet,
        Address address,
        Delivery delivery,
        object data,
        Py_ssize_t start,
        Py_ssize_t end,
        Passage passage,
    )
    cdef bint _lags(self, Address address, Inlet inlet) except -1
    cdef object _queue_for(self, Address address, Inlet inlet)
    @cython.locals(link=Sender, is_settled=bint, out=Delivery, address=Address, target=Address, record=object)
    cdef void _forward(
        self, Inlet inlet, Outlet outlet, Way way, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    )
    cdef void _continue(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(outlet=Outlet, link=Sender, number=int)
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
    @cython.locals(
        outlet=Outlet, parked=Parked, delivery=Delivery, way=Way, passage=Passage, octets=bytearray, priority=int
    )
    cdef bint _serve_one(self, Address address, object queue, bint is_local_only) except -1
    cdef Passage _passage_of(self, Parked parked)
    @cython.locals(parked=Parked)
    cpdef void release_parked(self, Address address)
    @cython.locals(inlet=Inlet, octets=bytearray, passage=Passage, number=int, stamp=double, size="long long")
    cdef void _note_unsent_parked(self, Parked parked, int cause)
    @cython.locals(fan=FanOut)
    cpdef void serve_outlet(self, Outlet outlet)
    @cython.locals(address=Address, way=Way)
    cpdef void serve_trunk(self, Trunk trunk)
    @cython.locals(outlet=Outlet)
    cpdef void relieve(self, Peer peer)
    @cython.locals(link=Sender, address=Address)
    cdef void _answer_drain(self, Outlet outlet)
    @cython.locals(inlet=Inlet, outlet=Outlet)
    cpdef void siblings_drained(self, Address address)

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
    cdef object _destination_of(self, Inlet inlet, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(sections=Sections)
    cdef object _to_of(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(collected=Collected)
    cdef void _begin_collecting(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(collected=Collected, octets=bytearray)
    cdef void _collect(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)


cdef list _unsettled(Link link)
