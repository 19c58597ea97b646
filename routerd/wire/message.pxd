cimport cython
from routerd.wire.composite cimport Layout
from routerd.wire.decoder cimport Decoder
from routerd.wire.encoder cimport Encoder
from routerd.wire.section_scan cimport follows

cdef Layout _HEADER
cdef Layout _PROPERTIES
cdef tuple _COMPOUND
cdef dict _READERS

cdef int _begin(Encoder encoder, int section) except -1
cdef object _write_fields(Encoder encoder, Layout layout, object kind, object fields)
cdef object _write_map(Encoder encoder, int section, object mapping)
cdef object _write_annotations(Encoder encoder, int section, object annotations)
cdef object _write_application_properties(Encoder encoder, object properties)
@cython.locals(code=int)
cdef object _write_body(Encoder encoder, object body)
@cython.locals(at=Py_ssize_t)
cdef object _read_annotations(Decoder decoder)
cdef object _not_null(object value, Py_ssize_t at)
