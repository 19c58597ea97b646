cimport cython
from routerd.wire.decoder cimport Decoder
from routerd.wire.encoder cimport Encoder

cdef int _FRAME
cdef int _ERROR
cdef int _SOURCE
cdef int _TARGET
cdef int _STATE
cdef int _OUTCOME
cdef dict _PROVIDES
cdef int _DEPTH_INSIDE
cdef dict _BY_CLASS
cdef list _BY_CODE
cdef Py_ssize_t _HIGHEST_CODE
cdef Field _STATE_FIELD


cdef class Field:
    cdef str name
    cdef object default
    cdef bint is_mandatory
    cdef object allowed
    cdef int requires
    cdef int write(self, Encoder encoder, object value) except -1
    cdef object read(self, Decoder decoder)

cdef class _Boolean(Field):
    pass

cdef class _UByte(Field):
    pass

cdef class _UShort(Field):
    pass

cdef class _UInt(Field):
    pass

cdef class _ULong(Field):
    pass

cdef class _String(Field):
    pass

cdef class _Symbol(Field):
    pass

cdef class _Symbols(Field):
    @cython.locals(count=cython.Py_ssize_t)
    cdef int write(self, Encoder encoder, object value) except -1
    @cython.locals(at=cython.Py_ssize_t, symbols=tuple)
    cdef object read(self, Decoder decoder)

cdef class _Binary(Field):
    pass

cdef class _DeliveryTag(_Binary):
    pass

cdef class _Map(Field):
    @cython.locals(start=cython.Py_ssize_t)
    cdef int write(self, Encoder encoder, object value) except -1

cdef class _Unsettled(Field):
    @cython.locals(start=cython.Py_ssize_t)
    cdef int write(self, Encoder encoder, object value) except -1
    @cython.locals(
        start=cython.Py_ssize_t, outer=cython.Py_ssize_t, stop=cython.Py_ssize_t, count=cython.longlong,
        at=cython.Py_ssize_t, states=dict,
    )
    cdef object read(self, Decoder decoder)

cdef class _Nested(Field):
    @cython.locals(layout=Layout)
    cdef int write(self, Encoder encoder, object value) except -1
    @cython.locals(at=cython.Py_ssize_t, code=cython.longlong, layout=Layout)
    cdef object read(self, Decoder decoder)


@cython.final
cdef class Layout:
    cdef type composite
    cdef int provides
    cdef tuple fields
    cdef bytes descriptor
    cdef object only
    @cython.locals(
        start=cython.Py_ssize_t, count=cython.Py_ssize_t, absent=cython.Py_ssize_t, field=Field,
    )
    cdef int write(self, Encoder encoder, object value) except -1
    @cython.locals(
        outer=cython.Py_ssize_t, stop=cython.Py_ssize_t, at=cython.Py_ssize_t, count=cython.longlong, field=Field,
        composite=type,
    )
    cdef object read(self, Decoder decoder, Py_ssize_t start)


cpdef int encode_composite(bytearray out, object value) except -1
@cython.locals(layout=Layout)
cpdef bytes composite_octets(Encoder encoder, object value)
@cython.locals(layout=Layout, at=cython.Py_ssize_t, code=cython.longlong)
cpdef object decode_composite(Decoder decoder)
@cython.locals(encoder=Encoder)
cpdef int encode_state(bytearray out, object state) except -1
cpdef object decode_state(Decoder decoder)

cdef int _write_state(Encoder encoder, object state) except -1
cdef int _check_tag(object tag) except -1
@cython.locals(at=cython.Py_ssize_t)
cdef object _read_tag(Decoder decoder)
cdef object _unfit(Field field, object value)
