import cython
from routerd.core.links.peer cimport Peer
from routerd.core.policy.grant cimport Grant
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.claims cimport Claimant
from routerd.wire.link cimport Link

cdef object _NOT_A_ROUTER


cdef class PolicyClaim(Claimant):
    cdef public object gate

    @cython.locals(grant=Grant)
    cpdef object claim(self, Peer peer, Link link, object performative)


cdef class DrainingClaim(Claimant):
    cdef Attaching _attaching

    cpdef object claim(self, Peer peer, Link link, object performative)


cdef class RouterLinkClaim(Claimant):
    cpdef object claim(self, Peer peer, Link link, object performative)
