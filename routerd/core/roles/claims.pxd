import cython
from routerd.core.links.peer cimport Peer
from routerd.core.roles.attaching cimport Attaching
from routerd.wire.link cimport Link


cdef class Claimant:
    cpdef object claim(self, Peer peer, Link link, object performative)


@cython.final
cdef class Claims:
    cdef Attaching _attaching
    cdef readonly list rows

    @cython.locals(claimant=Claimant, answer=object)
    cpdef void attached(self, Peer peer, Link link, object performative)
