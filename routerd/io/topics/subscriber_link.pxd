import cython
from routerd.topics.node cimport TopicNode
from routerd.topics.records cimport Record
from routerd.wire.delivery cimport Delivery
from routerd.wire.sender cimport Sender

cdef str _NEVER
cdef int _SETTLED
cdef object _ACCEPTED


@cython.final
cdef class SubscriberLink:
    cdef readonly str topic
    cdef readonly long long number
    cdef readonly Sender link
    cdef readonly object name
    cdef TopicNode _node
    cdef dict _deliveries
    cdef object _waiting
    cdef dict _resumable
    cdef long long _granted
    cdef list _accepted
    cdef bint _has_map

    cpdef void flow(self, double now)
    @cython.locals(given=Record)
    cpdef void deliver(self, list deliveries)
    @cython.locals(tag=bytes, delivery=Delivery)
    cpdef void settle(self, list tags)
    @cython.locals(given=Record)
    cpdef bint decided(self, Delivery delivery, double now) except -1
    cdef bint _decided_otherwise(self, Delivery delivery, double now) except -1
    cpdef void tell(self, double now)
    @cython.locals(delivery=Delivery, is_settled=bint)
    cdef void _send(self, Record given)
    @cython.locals(delivery=Delivery)
    cdef void _resume(self, bytes tag, bint is_settled)
