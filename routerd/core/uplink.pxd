from routerd.core.naming cimport phase_of
from routerd.core.trunks cimport Trunks
from routerd.wire.link cimport Link


cdef class Uplinks(Trunks):
    cdef readonly bint is_edge
    cdef readonly object uplink
    cdef dict _reserve
    cdef long long _news_count
    cdef dict _consumed
    cdef dict _produced
    cdef dict _services

    cpdef void own_link_answered(self, Link link)
