import cython
from routerd.topics.port cimport Port
from routerd.topics.publications cimport Publication
from routerd.topics.ranges cimport Ranges
from routerd.topics.records cimport Copy, Record, new_record
from routerd.topics.streams cimport ReceiveStream
from routerd.topics.subscribers cimport Subscribers
from routerd.topics.tags cimport key_of
from routerd.topics.upstream cimport Upstream


@cython.final
cdef class Host:
    cdef public long long version
    cdef readonly bint is_hosting
    cdef readonly Py_ssize_t held
    cdef Port _port
    cdef object _directory
    cdef dict _publishers
    cdef dict _lines
    cdef Subscribers _subscribers
    cdef dict _upstreams

    @cython.locals(made=Upstream)
    cpdef Upstream upstream(self, object place)
    @cython.locals(upstream=Upstream)
    cpdef void offer(self, object place, Copy copy)
    @cython.locals(
        upstream=Upstream,
        stream=ReceiveStream,
        now=double,
        most=Py_ssize_t,
        at=Py_ssize_t,
        number="long long",
        tag=bytes,
        sent_at=double,
        copy=Copy,
    )
    cpdef void take_copies(
        self, object place, object claim, list numbers, list tags, list ages_ms, list payloads, list sizes
    )
    @cython.locals(upstream=Upstream, stream=ReceiveStream, copy=Copy, key=bytes)
    cpdef void drain(self, object place)
    @cython.locals(publication=Publication, record=Record, each=Record)
    cpdef void take(
        self,
        Upstream upstream,
        bytes key,
        object claim,
        long long number,
        bytes tag,
        double sent_at,
        object payload,
        Py_ssize_t size,
    )
    cdef bint _is_fenced(self, object claim, object publisher) except -1
    @cython.locals(upstream=Upstream)
    cdef void _unnumber(self, Record record)
    @cython.locals(upstream=Upstream)
    cpdef void note(self, Record record)
    @cython.locals(told=list, upstream=Upstream, numbers=Ranges, rejections=list, record=Record)
    cpdef list acknowledgements(self)
    @cython.locals(upstream=Upstream, record=Record, is_mine=bint)
    cpdef void settle(self, object place, Ranges numbers)
    @cython.locals(copy=Copy, record=Record)
    cdef void _cancel(self, Upstream upstream, Ranges numbers)
    @cython.locals(upstream=Upstream, gone=list, missed=Ranges, record=Record, is_mine=bint, copy=Copy)
    cpdef void finish(self, object place, Ranges numbers)
    cpdef void drop(self, Record record)
    cdef void _remove(self, Record record)
