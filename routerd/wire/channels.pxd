import cython
from routerd.wire.connection cimport Connection
from routerd.wire.decoder cimport Decoder
from routerd.wire.handles cimport HandleTable
from routerd.wire.session cimport Session

cdef int _OPEN
cdef int _BEGIN
cdef int _ATTACH
cdef int _FLOW
cdef int _TRANSFER
cdef int _DISPOSITION
cdef int _DETACH
cdef int _END
cdef Py_ssize_t _PERFORMATIVE_WORK


@cython.final
cdef class Channels:
    cdef readonly Connection connection
    cdef HandleTable _local
    cdef HandleTable _remote
    cdef Session _heard

    @cython.locals(session=Session)
    cpdef void receive(
        self, Decoder decoder, unsigned int channel, int code, object data, Py_ssize_t body, Py_ssize_t end
    )
    @cython.locals(session=Session)
    cpdef void remove(self, Session session)
    @cython.locals(session=Session)
    cdef void _receive_performative(
        self, unsigned int channel, int code, object data, Py_ssize_t body, Py_ssize_t end
    )
    @cython.locals(session=Session, found=Session)
    cdef Session _at(self, unsigned int channel)
