import cython
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport ConnectionRole
from routerd.core.roles.claims cimport Claims
from routerd.wire.link cimport Link

cdef tuple _KINDS


cdef class ContainerUse:
    cdef readonly str kind
    cdef readonly str name
    cdef readonly str place
    cdef readonly dict peers

    cpdef void activated(self, Peer peer)
    cpdef void deactivated(self, Peer peer)


@cython.final
cdef class Containers:
    cdef object _observer
    cdef dict _uses
    cdef dict _peers
    cdef dict _places

    cpdef void add(self, ContainerUse use)
    cpdef void remove(self, ContainerUse use)
    cpdef void opened(self, Peer peer)
    cpdef void closed(self, Peer peer)
    cdef list _uses_of(self, str place)
    cdef void _activate(self, ContainerUse use, Peer peer)
    cdef void _deactivate(self, ContainerUse use, Peer peer)


cdef class ContainerRole(ConnectionRole):
    cdef Containers _containers
    cdef Claims _claims

    cpdef void opened(self, object peer, object performative)
    cpdef void closed(self, object peer)
    cpdef void attached(self, object peer, Link link, object performative)
