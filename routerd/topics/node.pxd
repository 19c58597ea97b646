import cython
from routerd.topics.ingress cimport Ingress
from routerd.topics.port cimport Attached, Turn
from routerd.topics.publishers cimport Publisher
from routerd.topics.subscribers cimport Session
from routerd.topics.topic cimport Topic


@cython.final
cdef class TopicNode:
    cdef readonly dict topics
    cdef readonly object routers
    cdef object _homes
    cdef object _config
    cdef object _settings_of
    cdef object _clock
    cdef Turn _turn
    cdef dict _conversations
    cdef long long _conversation_number
    cdef dict _links
    cdef dict _dirty
    cdef bint _was_seasoned
    cdef double _next_hello
    cdef dict _refused
    cdef long long _first_number

    cpdef void publish(self, long long link, bytes tag, object payload, Py_ssize_t size, double now, double age_s=*)
    cpdef void publish_all(self, long long link, list deliveries, double now)
    @cython.locals(
        attached=Attached, publisher=Publisher, topic=Topic, ingress=Ingress, most="long long", tag=bytes,
        payload=object, size=Py_ssize_t,
    )
    cdef void _publish(self, long long link, list deliveries, double now, double age_s)
    @cython.locals(attached=Attached, session=Session, topic=Topic)
    cpdef void accept(self, long long link, list deliveries, double now)
    cdef Attached _attached(self, long long link, double now)
    cdef Session _session_of(self, Attached attached, long long link)
    cdef void _begin(self, double now)
