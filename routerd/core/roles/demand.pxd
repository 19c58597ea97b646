import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.queues cimport Queues
from routerd.core.directory.directory cimport Directory
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet

cdef double _RETURN_S


@cython.final
cdef class Demand:
    cdef Clock _clock
    cdef Directory _directory
    cdef Queues _queues
    cdef dict _recalled

    @cython.locals(inlet=Inlet)
    cpdef void came(self, Address address)
    @cython.locals(inlet=Inlet)
    cpdef void went(self, Address address)
    @cython.locals(inlet=Inlet)
    cpdef void spread(self, Address address, object distribution)
    @cython.locals(address=Address, inlet=Inlet)
    cpdef void each_second(self, double now)
    @cython.locals(inlet=Inlet, is_asked=bint)
    cdef void _recall(self, Address address)
