import cython
from routerd.wire cimport c_memory as memory

cdef Py_ssize_t _SMALLEST
cdef Py_ssize_t _EXPECTED_MAX
cdef Py_ssize_t _FIELDS_MAX
cdef Py_ssize_t _PERFORMATIVE_START
cdef Py_ssize_t _SPARE_MAX
cdef Py_ssize_t _SPARE_LEAST
cdef Py_ssize_t _SPARE_MOST
cdef list _spare


@cython.final
cdef class Output:
    cdef bytearray _data
    cdef unsigned char* view
    cdef Py_ssize_t _capacity
    cdef Py_ssize_t _expected
    cdef readonly Py_ssize_t end

    @cython.locals(needed=Py_ssize_t)
    cpdef Py_ssize_t reserve(self, Py_ssize_t size) except -1
    @cython.locals(capacity=Py_ssize_t)
    cdef void _grow(self, Py_ssize_t needed)
    @cython.locals(data=bytearray)
    cpdef bytearray take(self)
    cpdef void put_octet(self, unsigned int value) noexcept
    cpdef void put_uint(self, unsigned int value) noexcept
    cpdef void put_word(self, unsigned int value) noexcept
    cpdef void put_boolean(self, bint value) noexcept
    @cython.locals(source="const unsigned char*")
    cpdef Py_ssize_t put_octets(self, object data, Py_ssize_t start, Py_ssize_t end) except -1
    @cython.locals(size=Py_ssize_t)
    cpdef void put_raw(self, object data)
    @cython.locals(start=Py_ssize_t, view="unsigned char*")
    cpdef Py_ssize_t begin_performative(self, unsigned int channel, unsigned int code, Py_ssize_t room)
    cpdef void end_fields(self, Py_ssize_t start, unsigned int count) noexcept
    cpdef void end_frame(self, Py_ssize_t start) noexcept
    @cython.locals(size=Py_ssize_t)
    cpdef void put_frame(self, unsigned int channel, unsigned int frame_type, object body)


cpdef bint take_back(bytearray data) except -1
@cython.locals(data=bytearray, capacity=Py_ssize_t)
cdef bytearray _room(Py_ssize_t size)
