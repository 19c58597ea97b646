import cython
from routerd.topics.host cimport Host
from routerd.topics.ingress cimport Ingress
from routerd.topics.port cimport Port
from routerd.topics.records cimport Copy, Record
from routerd.topics.subscribers cimport Session, Subscribers


@cython.final
cdef class Topic:
    cdef readonly object directory
    cdef readonly Subscribers subscribers
    cdef readonly Host host
    cdef readonly Ingress ingress
    cdef readonly object questions
    cdef readonly object membership
    cdef readonly object admission
    cdef readonly object settings
    cdef Port _port
    cdef public Py_ssize_t refused
    cdef double _created_at
    cdef dict _take

    @cython.locals(record=Record)
    cpdef void decide(self, Session session, bytes tag, object outcome, object rejection)
    @cython.locals(record=Record)
    cpdef void accept(self, Session session, list records)
    @cython.locals(copy=Copy)
    cpdef void take_copies(self, object head, list payloads, list sizes)
    cpdef void flush(self)
