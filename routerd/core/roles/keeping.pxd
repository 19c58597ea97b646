import cython
from routerd.core.links.peer cimport Peer
from routerd.core.roles.claims cimport Claimant
from routerd.wire.link cimport Link


@cython.final
cdef class Keeping:
    cdef readonly dict keepers
    cdef dict _kept

    cpdef void keep(self, Link link, object keeper)
    cpdef object keeper_of(self, Link link)
    cpdef void ended(self, Link link, object error)


cdef class KeptClaim(Claimant):
    cdef Keeping _keeping

    cpdef object claim(self, Peer peer, Link link, object performative)


cdef class KeeperClaim(Claimant):
    cdef Keeping _keeping
    cdef object _space

    cpdef object claim(self, Peer peer, Link link, object performative)
