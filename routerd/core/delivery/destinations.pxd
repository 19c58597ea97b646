import cython
from routerd.core.annotations.router_annotations cimport RouterAnnotations
from routerd.core.clock cimport Clock
from routerd.core.directory.directory cimport Directory
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.trunk cimport Trunk


@cython.final
cdef class Destinations:
    cdef Clock _clock
    cdef Directory _directory
    cdef readonly bint guards_requests

    @cython.locals(directory=Directory, address=Address)
    cdef object of_client(self, Inlet inlet, str to)
    cdef bint asks_others(self, Peer peer, str key, str text) except -1
    @cython.locals(directory=Directory, key=str, address=Address)
    cdef Address of_router(self, RouterAnnotations annotations, str to)
    @cython.locals(directory=Directory, key=str)
    cdef Address soon(self, RouterAnnotations annotations, str to)
    cdef void want(self, Address address)
    @cython.locals(trunk=Trunk)
    cdef bint is_expected(self, Inlet inlet, Address address) except -1
