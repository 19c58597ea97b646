import cython
from routerd.topics.node cimport TopicNode
from routerd.wire.delivery cimport Delivery
from routerd.wire.receiver cimport Receiver

cdef int _SECOND


@cython.final
cdef class PublisherLink:
    cdef readonly str topic
    cdef readonly long long number
    cdef readonly Receiver link
    cdef readonly object name
    cdef TopicNode _node
    cdef long long _life
    cdef bint _has_map
    cdef dict _deliveries
    cdef dict _decided
    cdef set _awaited
    cdef bytearray _octets
    cdef long long _count
    cdef list _taken
    cdef list _settled
    cdef bint _is_telling
    cdef list _echoes

    @cython.locals(message=bytes, tag=bytes)
    cpdef bint take(self, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end, double now) except -1
    cdef bint _resumed(self, Delivery delivery, double now) except -1
    @cython.locals(delivery=Delivery, is_telling=bint, is_settled=bint, is_final=bint, tag=bytes)
    cdef bint _decide(self, object effect, list tags) except -1
    cpdef bint settled(self, Delivery delivery) except -1
    cdef bint _has_more(self) except -1
    cpdef void tell(self, double now)
