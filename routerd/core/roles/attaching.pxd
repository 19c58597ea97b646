import cython
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver


@cython.final
cdef class Attaching:
    cdef object _observer
    cdef readonly object token
    cdef long long _workers
    cdef long long _last_link
    cdef bint _cuts_for_large
    cdef public bint is_draining

    @cython.locals(receiver=Receiver)
    cpdef bint complete(self, Link link, object source, object target, bint is_second=*) except -1
    cdef void limit(self, Receiver link)
    cdef void unlimit(self, Link link)
    cpdef void refuse(self, Link link, object error)
    cpdef void refuse_without_reason(self, Link link, object error)
    cpdef long long take_number(self) noexcept
