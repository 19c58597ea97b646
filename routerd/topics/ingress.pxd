import cython
from routerd.topics.copying cimport Copies
from routerd.topics.host cimport Host
from routerd.topics.port cimport Port, Turn
from routerd.topics.progress cimport Progress
from routerd.topics.publishers cimport Publisher
from routerd.topics.ranges cimport Ranges
from routerd.topics.records cimport Entry, new_entry
from routerd.topics.streams cimport SendStream
from routerd.topics.subscribers cimport Subscribers
from routerd.topics.tags cimport delivery_tag
from routerd.topics.upstream cimport Upstream


@cython.final
cdef class Ingress:
    cdef readonly dict publishers
    cdef readonly Progress progress
    cdef readonly long long accepted
    cdef readonly long long rejected
    cdef readonly long long unknown
    cdef public bint has_accepted
    cdef Port _port
    cdef Turn _turn
    cdef object _directory
    cdef Host _host
    cdef Upstream _own
    cdef Subscribers _subscribers
    cdef Copies _copies
    cdef SendStream _stream
    cdef bint _is_changed
    cdef bint _is_credit_due
    cdef readonly object credit
    cdef readonly object telling

    @cython.locals(entry=Entry, tag=bytes)
    cpdef void publish(self, Publisher publisher, bytes own_tag, object payload, Py_ssize_t size, double age_s)
    @cython.locals(entry=Entry)
    cdef void _number(self, Publisher publisher)
    @cython.locals(is_held=bint)
    cdef void _send(self, Publisher publisher, Entry entry)
    @cython.locals(key=bytes, number="long long", tag=bytes)
    cdef void _enter(self, Publisher publisher, Entry entry)
    cpdef void change(self)
    @cython.locals(progress=Progress, together=list, publisher=Publisher, entry=Entry)
    cpdef void evaluate(self)
    @cython.locals(numbers=Ranges, entry=Entry)
    cdef void _tell(self, Publisher publisher, list entries)
    @cython.locals(entry=Entry)
    cpdef void settle(self, Publisher publisher, list own_tags)
    @cython.locals(numbers=Ranges, entry=Entry)
    cdef void _settle(self, Publisher publisher, list entries)
    @cython.locals(notice=Entry)
    cdef Py_ssize_t _notice(self, bytes key, bytes tag) except -1
    @cython.locals(done=Ranges, publisher=Publisher, entry=Entry, may_finish=bint)
    cpdef void finish(self)
    cdef bint _may_finish(self, Publisher publisher) except -1
    cdef void _finish(self, Ranges done)
    cdef void _forget(self, Ranges numbers)
    cpdef void flush(self)
