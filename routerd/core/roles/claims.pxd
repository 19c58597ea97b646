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

    cpdef void attached(self, Peer peer, Link link, object performative)
    cpdef void go_on(self, Peer peer, Link link, object performative, str name)
    @cython.locals(row=tuple, claimant=Claimant, answer=object)
    cdef void _ask(self, Peer peer, Link link, object performative, list rows)
