import cython
from routerd.core.roles.containers cimport Containers, ContainerUse


cdef class LinkRouteUse(ContainerUse):
    cdef readonly object settings


@cython.final
cdef class LinkRouteUses:
    cdef Containers _containers
    cdef readonly dict uses

    @cython.locals(use=LinkRouteUse)
    cpdef void add(self, object settings)
    @cython.locals(use=LinkRouteUse)
    cpdef void remove(self, str name)
