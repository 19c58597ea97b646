import cython
from routerd.topics.port cimport Port
from routerd.topics.publications cimport Publication
from routerd.topics.records cimport Record

cdef object _TOO_OFTEN
cdef object _ACCEPTED
cdef object _RELEASED


@cython.final
cdef class Placeholder:
    cdef readonly double since
    cdef readonly long long question
    cdef public object outcome


@cython.final
cdef class Session:
    cdef readonly long long link
    cdef readonly object name
    cdef readonly object bit
    cdef public long long credit
    cdef public bint is_served
    cdef readonly dict placeholders
    cdef readonly object again
    cdef readonly dict progress
    cdef readonly dict behind
    cdef readonly dict skipped
    cdef public long long delivered


@cython.final
cdef class Subscribers:
    cdef readonly object mask
    cdef readonly dict sessions
    cdef readonly dict publications
    cdef Port _port
    cdef object _directory
    cdef dict _bits
    cdef list _skipped
    cdef list _news

    @cython.locals(publication=Publication)
    cpdef Record record(self, bytes tag)
    @cython.locals(made=Publication)
    cpdef Publication publication(self, bytes key)
    cpdef bint have_all_decided(self, Record record) except -1
    @cython.locals(session=Session, placeholder=Placeholder)
    cpdef void number(self, Publication publication, Record record)
    @cython.locals(older=Record, before="long long")
    cpdef void place(self, Session session, Publication publication, Record record)
    cdef void _hold(self, Session session, Record record, object outcome)
    cdef void _skip(self, Session session, Record record)
    cpdef list take_skipped(self)
    @cython.locals(key=bytes, credit="long long", progress="long long", given=list, record=Record)
    cpdef void show(self, Session session, Publication publication)
    @cython.locals(record=Record)
    cpdef void catch_up(self, Session session)
    @cython.locals(news=list, publication=Publication, session=Session)
    cpdef void show_news(self)
    @cython.locals(session=Session)
    cpdef void catch_up_all(self)
    cdef void _deliver(self, Session session, object publisher, list records)
    @cython.locals(record=Record, placeholder=Placeholder)
    cpdef Record decide(self, Session session, bytes tag, object outcome, object rejection)
    @cython.locals(final=list, tags=list, record=Record, current=Record)
    cpdef list accept(self, Session session, list records)
    @cython.locals(session=Session, is_exactly_once=bint, tags=list, record=Record)
    cpdef void settle(self, list records)
