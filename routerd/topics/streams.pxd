import cython
from routerd.topics.ranges cimport Ranges
from routerd.topics.records cimport Copy, Entry

cdef Py_ssize_t _WINDOW_MAX
cdef Py_ssize_t _MISSING_ASKED_MAX


@cython.final
cdef class SendStream:
    cdef readonly long long next
    cdef readonly dict entries
    cdef readonly Ranges outstanding

    cpdef void number(self, Entry entry)
    @cython.locals(number="long long")
    cpdef Py_ssize_t notice(self) except -1
    cpdef void forget(self, Ranges numbers)


@cython.final
cdef class ReceiveStream:
    cdef readonly long long expected
    cdef readonly long long base
    cdef readonly long long next
    cdef readonly dict waiting
    cdef Ranges _void

    cpdef list learn(self, long long base, long long next)
    @cython.locals(known=Copy)
    cpdef bint offer(self, Copy copy) except -1
    cpdef bint pass_by(self, long long number) except -1
    @cython.locals(number="long long")
    cpdef list cancel(self, Ranges numbers)
    cpdef Copy first(self)
    cpdef void step(self)
    @cython.locals(found=Ranges, left=Py_ssize_t, number="long long", end="long long", copy=Copy)
    cpdef Ranges missing(self, object holds)
    cpdef void begin_anew(self)
