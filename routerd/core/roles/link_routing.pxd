import cython
from routerd.core.directory.directory cimport Directory
from routerd.core.links.peer cimport Peer
from routerd.core.links.trunk cimport Trunk
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.claims cimport Claimant
from routerd.core.roles.routed_links cimport RoutedLinks, Wish
from routerd.wire.link cimport Link

cdef object _NO_DESTINATION
cdef object _EXPIRY
cdef object _IN
cdef object _OUT


@cython.final
cdef class RoutedAttach:
    cdef readonly Peer peer
    cdef readonly Link link
    cdef readonly object performative
    cdef readonly object source
    cdef readonly object target
    cdef readonly str name
    cdef readonly str address
    cdef public str plain_address
    cdef readonly bint is_resumable
    cdef readonly bint is_dynamic

    cpdef void rename(self, str address)


@cython.final
cdef class LinkRouting:
    cdef Directory _directory
    cdef object _routes
    cdef Attaching _attaching
    cdef RoutedLinks _links
    cdef bint _allows_resumable
    cdef long long _workers
    cdef public object lookups
    cdef public object uplinks
    cdef public object siblings

    @cython.locals(attach=RoutedAttach)
    cpdef object route(self, Peer peer, Link link, object performative)
    cdef object _match(self, Link link, str address)
    cdef object _locally(self, RoutedAttach attach, object pattern)
    cdef object _prepare(self, RoutedAttach attach)
    cpdef object without_uplink(self, RoutedAttach attach)
    cpdef object to_uplink(self, RoutedAttach attach, bint has_destination)
    @cython.locals(peer=Peer)
    cdef bint _to_container(self, RoutedAttach attach, object pattern) except -1
    cdef bint _elsewhere(self, RoutedAttach attach, object pattern) except -1
    @cython.locals(trunk=Trunk)
    cdef bint _towards(self, RoutedAttach attach, long long number, str key) except -1
    cdef bint _to_sibling(self, RoutedAttach attach, long long worker, str key, str trunk) except -1
    @cython.locals(attach=RoutedAttach)
    cpdef object from_sibling(self, Peer peer, Link link, object performative)
    cdef void _connect(self, RoutedAttach attach, Wish wish)


cdef class LinkRouteClaim(Claimant):
    cdef LinkRouting _routing

    cpdef object claim(self, Peer peer, Link link, object performative)


cdef class IncompleteClaim(Claimant):
    cpdef object claim(self, Peer peer, Link link, object performative)
