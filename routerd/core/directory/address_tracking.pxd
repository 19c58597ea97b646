import cython
from routerd.core.links.address cimport Address
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer

cdef str _EVERYBODY


@cython.final
cdef class AddressTracking:
    cdef dict _addresses
    cdef dict _trackers
    cdef dict _tracked
    cdef dict _untold
    cdef dict _tracking_due
    cdef dict _telling_due
    cdef dict _reach
    cdef public bint is_silent

    cpdef void sends(self, Peer peer, Address address)
    cpdef void changed(self, Address address)
    cpdef void tell(self)
    cpdef void go_on(self, Peer peer)
    @cython.locals(first=Peer, at=Py_ssize_t)
    cdef object _reach_of(self, Address address)
