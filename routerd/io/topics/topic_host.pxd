import cython
from routerd.core.inside.inner_connection cimport InnerConnection
from routerd.io.topics.publisher_link cimport PublisherLink
from routerd.io.topics.subscriber_link cimport SubscriberLink
from routerd.topics.node cimport TopicNode
from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link


cdef class TopicHost(InnerConnection):
    cdef readonly TopicNode node
    cdef readonly object network
    cdef object _patterns
    cdef long long _incarnation
    cdef dict _links
    cdef long long _last_link
    cdef list _telling
    cdef set _reached
    cdef bint _is_alone
    cdef double _now

    cpdef bint carry(self, double now) except -1
    cdef void _run(self, double now)
    cdef void _tell(self, double now)
    @cython.locals(publisher=PublisherLink)
    cdef void _do_at_publisher(self, PublisherLink found, object effect)
    cdef void _do_at_subscriber(self, SubscriberLink found, object effect, double now)
    @cython.locals(found=PublisherLink)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(subscriber=SubscriberLink, publisher=PublisherLink)
    cpdef void on_disposition(self, Delivery delivery)
