import cython
from routerd.core.address cimport Address
from routerd.core.endings cimport Endings
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.parked cimport Collected, Parked, parked
from routerd.core.passage cimport Passage
from routerd.core.policy.message_guard cimport MessageGuard
from routerd.core.settlement cimport how_settled, too_large
from routerd.core.way cimport Way
from routerd.wire.convoy cimport Convoy
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link
from routerd.wire.relay cimport Relay
from routerd.wire.section_scan cimport may_carry_annotations
from routerd.wire.sections cimport Sections
from routerd.wire.sender cimport Sender

cdef object _ACCEPTED
cdef object _RELEASED
cdef object _MAYBE_SEEN
cdef Py_ssize_t _BURST
cdef int _MIXED
cdef int _SETTLED
cdef bytes _NOTHING
cdef object _NO_TO
cdef object _FORBIDDEN_REQUEST


cdef class Forwarder(Endings):
    cdef Sections _sections
    cdef Collected _collecting
    cdef public object answer_forbidden

    cpdef object destination(self, Inlet inlet, str to)
    cdef Address trunk_destination(self, Passage passage, str to)
    cdef Address expected_destination(self, Passage passage, str to)
    cdef bint is_expected(self, Inlet inlet, Address address) except -1
    cdef void control_arrived(self, Inlet inlet, bytes octets)
    @cython.locals(inlet=Inlet, address=Address)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(passage=Passage, to=str, address=Address, place=Py_ssize_t, stop=Py_ssize_t)
    cdef void _arrive(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(
        outlet=Outlet, way=Way, side=Way, priority=int, has_nobody=bint, is_ahead=bint, waits=bint
    )
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
    @cython.locals(
        link=Sender,
        is_settled=bint,
        is_whole=bint,
        out=Delivery,
        address=Address,
        target=Address,
        flow="long long",
    )
    cdef bint forward(
        self, Inlet inlet, Outlet outlet, Way way, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    ) except -1
    @cython.locals(is_plain_only=bint, relay=Relay)
    cdef void _aim(self, Inlet inlet, Outlet outlet, Delivery delivery)
    @cython.locals(address=Address)
    cdef bint _may_relay(self, Inlet inlet, Outlet outlet) except -1
    @cython.locals(inlet=Inlet, outlet=Outlet)
    cpdef void on_relayed(
        self, Link receiver, Link sender, Py_ssize_t count, Convoy convoy, object data, Py_ssize_t start
    )
    cdef void _continue(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(outlet=Outlet, link=Sender, number=int)
    cdef void _continue_one(
        self, Inlet inlet, Delivery delivery, Delivery out, object data, Py_ssize_t start, Py_ssize_t end
    )
    cdef void _hold_back(self, Inlet inlet, Outlet outlet)
    @cython.locals(is_partial=bint, is_guarded=bint, is_due=bint)
    cdef void _read_sections(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cdef object _destination_of(self, Inlet inlet, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(guard=MessageGuard)
    cdef bint _is_refused(
        self, Inlet inlet, str to, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    ) except -1
    @cython.locals(sections=Sections)
    cdef object _to_of(self, object data, Py_ssize_t start, Py_ssize_t end, bint is_partial)
    @cython.locals(collected=Collected)
    cdef void _begin_collecting(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(collected=Collected, octets=bytearray)
    cdef void _collect(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
