import cython
from routerd.io.websocket cimport c_masks as masks


@cython.locals(turn=Py_ssize_t)
cpdef bytes unmasked(object octets, bytes key, Py_ssize_t at)
