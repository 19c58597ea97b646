from routerd.core.address_tracking cimport AddressTracking
from routerd.core.inlet cimport Inlet
from routerd.core.trunk cimport Trunk
from routerd.core.uplink cimport Uplinks


cdef class Edges(Uplinks):
    cdef AddressTracking _tracking
    cdef dict _heard
    cdef double _looked_at
    cdef readonly bint is_draining

    cpdef void serve_trunk(self, Trunk trunk)
    cdef void control_arrived(self, Inlet inlet, bytes octets)
