import cython
from routerd.mesh.trees cimport Approaches, Network, Tree

cdef int _US
cdef int _FEW


@cython.final
cdef class Paths:
    cdef readonly int radius
    cdef readonly int awaited
    cdef str _own_id
    cdef dict _advertised
    cdef dict _mentions
    cdef dict _dirty
    cdef dict _numbers
    cdef list _ids
    cdef list _links
    cdef list _free
    cdef Network _network
    cdef dict _routes
    cdef dict _computed
    cdef Network _then
    cdef list _ids_then
    cdef dict _numbers_then
    cdef list _links_then
    cdef dict _touched
    cdef bint _is_lent
    cdef list _awaiting
    cdef dict _finished
    cdef dict _through

    @cython.locals(links=dict)
    cpdef set_links(self, str router, object costs)
    cpdef forget(self, str router)
    cpdef bint compute(self) except -1
    cpdef dict routes(self)
    @cython.locals(ids=list, origin=Py_ssize_t)
    cpdef begin_origins(self)
    @cython.locals(origin=int)
    cpdef bint advance_origins(self, int trees) except -1
    cpdef dict through_us(self)

    @cython.locals(
        changes=list, approaches=Approaches, ends=dict, most=Py_ssize_t, marks="signed char[::1]", start=int, end=int,
        origin=Py_ssize_t
    )
    cdef _drop_affected(self)
    @cython.locals(changes=list, before=dict, after=dict)
    cdef list _changes(self)

    @cython.locals(before=dict, mentions=dict)
    cdef _mention(self, str router, dict links)
    @cython.locals(links=dict)
    cdef dict _links_of(self, str router)
    cdef _update(self)
    @cython.locals(links=dict, is_renumbered=bint)
    cdef _renew_links(self)
    @cython.locals(count=Py_ssize_t, number=int)
    cdef bint _remove(self, list gone) except -1
    @cython.locals(number=int)
    cdef bint _store(self, str router, dict links) except -1
    @cython.locals(network=Network, tree=Tree, next_hop="int[::1]", hops="int[::1]", i=int, router=int, parent=int)
    cdef _renew_routes(self)
    @cython.locals(network=Network, is_below="signed char[::1]", below=list, i=int, router=int, parent=int)
    cdef frozenset _below_us(self, Tree tree)
