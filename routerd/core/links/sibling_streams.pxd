import cython
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.wire.sender cimport Sender

cdef Py_ssize_t _STREAMS_MAX
cdef Py_ssize_t _IDLE_MAX


@cython.final
cdef class Streams:
    cdef readonly Outlet main
    cdef readonly dict links
    cdef public bint is_wanted
    cdef readonly dict uneven

    @cython.locals(stream=Outlet, link=Sender, peer=Peer, is_coming=bint)
    cpdef Outlet pick(self)
    @cython.locals(stream=Outlet, load=Py_ssize_t)
    cpdef Py_ssize_t load(self) except -1
    cpdef void became_free(self)
    @cython.locals(stream=Outlet)
    cpdef list surplus(self)
    cpdef list take_all(self)
