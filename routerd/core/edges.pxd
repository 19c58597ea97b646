from routerd.core.inlet cimport Inlet
from routerd.core.trunk cimport Trunk
from routerd.core.trunks cimport Trunks
from routerd.wire.link cimport Link


cdef class Edges(Trunks):
    cdef readonly bint is_edge
    cdef readonly object uplink
    cdef dict _reserve
    cdef long long _news_count
    cdef dict _consumed
    cdef dict _produced
    cdef dict _tracked
    cdef dict _trackers
    cdef dict _untold
    cdef dict _tracking_due
    cdef dict _telling_due
    cdef dict _reach
    cdef dict _heard
    cdef dict _services

    cpdef void own_link_answered(self, Link link)
    cpdef void serve_trunk(self, Trunk trunk)
    cdef void control_arrived(self, Inlet inlet, bytes octets)
