import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.endings cimport Endings
from routerd.core.delivery.queues cimport Queues
from routerd.core.directory.directory cimport Directory
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.routed_end cimport RoutedEnd
from routerd.core.links.address_route cimport AddressRoute
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.routed_links cimport RoutedLinks
from routerd.core.roles.trunks cimport Trunks

cdef object _OPENED


@cython.final
cdef class Leaving:
    cdef Clock _clock
    cdef Directory _directory
    cdef Copies _copies
    cdef Queues _queues
    cdef Endings _endings
    cdef Attaching _attaching
    cdef Trunks _trunks
    cdef RoutedLinks _routed
    cdef dict _peers
    cdef double _quiet_at

    @cython.locals(peer=Peer, inlet=Inlet)
    cpdef void drain(self)
    @cython.locals(peer=Peer, inlet=Inlet, outlet=Outlet, end=RoutedEnd, is_drained=bint, is_late=bint)
    cpdef bint is_drained(self) except -1
    @cython.locals(peer=Peer, inlet=Inlet, outlet=Outlet, address=Address, route=AddressRoute)
    cpdef void close_all(self)


cdef bint _stays(Inlet inlet) except -1
