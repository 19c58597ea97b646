import cython
from routerd.wire.decoder cimport Decoder
from routerd.wire.output cimport Output
from routerd.wire.transfer cimport TransferFields, write_transfer


@cython.locals(
    decoder=Decoder, fields=TransferFields, out=Output, written=Py_ssize_t, number=Py_ssize_t, start=Py_ssize_t
)
cpdef Py_ssize_t relay(bytes data, Py_ssize_t frame_size, Py_ssize_t count) except -1
