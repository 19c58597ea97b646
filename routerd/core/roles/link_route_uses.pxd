import cython
from routerd.core.links.peer cimport Peer
from routerd.core.roles.containers cimport Containers, ContainerUse


cdef class LinkRouteUse(ContainerUse):
    cdef readonly object settings
    cdef object _routes

    cpdef void activated(self, Peer peer)
    cpdef void deactivated(self, Peer peer)


@cython.final
cdef class LinkRouteUses:
    cdef object _observer
    cdef Containers _containers
    cdef object _routes
    cdef readonly dict uses

    @cython.locals(use=LinkRouteUse)
    cpdef void add(self, object settings)
    @cython.locals(use=LinkRouteUse)
    cpdef void remove(self, str name)
