import cython

cdef object _NO_DESTINATION
cdef str _TOPICS_ADDRESS
cdef str _WAYPOINT
cdef str _FALLBACK_LINK


@cython.final
cdef class Naming:
    cdef object _space
    cdef object _treatments
    cdef dict _destinations
    cdef dict _arrivals

    cpdef void forget(self)
    cpdef object treatment(self, str text, str tenant)
    cpdef str terminus_key(
        self, str text, str tenant, object treatment, object capabilities, bint is_producer, bint is_edge=*
    )
    @cython.locals(name=str)
    cpdef object destination_key(self, str to, str tenant)
    cpdef str arrival_key(self, str to, int phase)


cpdef bint is_for_topics(str text) except -1
cpdef int phase_of(str key) except -1
