import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.core.clock cimport Clock
from routerd.core.delivery.batches cimport Batches
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.destinations cimport Destinations
from routerd.core.delivery.marking cimport Marking
from routerd.core.delivery.queues cimport Queues
from routerd.core.delivery.remainders cimport Remainders
from routerd.core.delivery.routing cimport Routing
from routerd.core.delivery.sending cimport Sending
from routerd.core.delivery.settlement cimport Settlement
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.address cimport Address
from routerd.core.links.arrival cimport Arrival
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Collected
from routerd.core.policy.message_guard cimport MessageGuard
from routerd.core.recording.journal cimport Journal
from routerd.wire.delivery cimport Delivery
from routerd.wire.section_scan cimport may_carry_annotations

cdef Py_ssize_t _MANY
cdef Py_ssize_t _GATHERED_MAX
cdef object _ACCEPTED
cdef object _RELEASED
cdef object _FORBIDDEN_REQUEST
cdef object _OWN_REQUEST
cdef object _NO_TO
cdef object _TOO_FAR_BEHIND


@cython.final
cdef class Intake:
    cdef Clock _clock
    cdef object _observer
    cdef PathRules _rules
    cdef Destinations _destinations
    cdef Journal _journal
    cdef Marking _marking
    cdef Settlement _settlement
    cdef Routing _routing
    cdef Sending _sending
    cdef Copies _copies
    cdef Batches _batches
    cdef Queues _queues
    cdef Remainders _remainders
    cdef bint _gathers
    cdef Arrival _arrival
    cdef readonly long long redirected
    cdef public object answer_forbidden
    cdef public object answer_own

    @cython.locals(arrival=Arrival, address=Address)
    cdef void from_client(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(arrival=Arrival)
    cdef void from_router(self, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cdef void _take(
        self, Arrival arrival, Inlet inlet, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    )
    @cython.locals(now=double)
    cdef inline bint _is_new(self, Arrival arrival) except -1
    cdef inline bint _is_gathered(self, Arrival arrival) except -1
    @cython.locals(inlet=Inlet, address=Address, is_guarded=bint, to=str)
    cdef void _read_sections(self, Arrival arrival)
    cdef inline void _enter(self, Arrival arrival, Address address)
    @cython.locals(inlet=Inlet, annotations=RouterAnnotations, to=str, address=Address)
    cdef void _read_annotations(self, Arrival arrival)
    @cython.locals(inlet=Inlet, guard=MessageGuard)
    cdef bint _is_refused(self, Arrival arrival, str to) except -1
    @cython.locals(outlet=Outlet, is_fabric=bint, is_ahead=bint, waits=bint, count=Py_ssize_t)
    cdef void _route(self, Arrival arrival, Address address)
    @cython.locals(inlet=Inlet, annotations=RouterAnnotations, fallback=Address)
    cdef bint _is_for_fallback(self, Arrival arrival, Address address) except -1
    cdef void _divert(self, Arrival arrival, Address fallback)
    @cython.locals(inlet=Inlet, delivery=Delivery, annotations=RouterAnnotations, has_nobody=bint, is_droppable=bint)
    cdef void _wait(self, Arrival arrival, Address address, object queue)
    @cython.locals(delivery=Delivery, collected=Collected, size=Py_ssize_t)
    cdef void _begin_collecting(self, Arrival arrival, Py_ssize_t due=*)
    @cython.locals(inlet=Inlet, delivery=Delivery, collected=Collected, octets=bytearray)
    cdef bint _collect(self, Arrival arrival) except -1
