import cython


@cython.final
cdef class Attached:
    cdef readonly str topic
    cdef readonly object publisher
    cdef readonly object subscriber


@cython.final
cdef class Turn:
    cdef public double now
    cdef readonly object config
    cdef readonly object clock
    cdef readonly object routers
    cdef public list effects
    cdef readonly object say
    cdef readonly dict links


@cython.final
cdef class Port:
    cdef readonly str topic
    cdef readonly object settings
    cdef readonly object config
    cdef readonly object routers
    cdef readonly object me
    cdef readonly Turn turn

    cpdef void emit(self, object effect)
