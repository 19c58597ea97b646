import cython

cdef bint _IS_BORN_BLANK


@cython.final
cdef class Entry:
    cdef public bytes publisher
    cdef public bytes own_tag
    cdef public bytes tag
    cdef public object payload
    cdef public object rejection
    cdef public Py_ssize_t size
    cdef public long long number
    cdef public double sent_at
    cdef public bint is_told
    cdef public bint is_from_map


cpdef Entry new_entry(bytes publisher, bytes own_tag, bytes tag, double sent_at)


@cython.final
cdef class Record:
    cdef public bytes key
    cdef public bytes tag
    cdef public object payload
    cdef public object claim
    cdef public object ingress
    cdef public object given
    cdef public object decided
    cdef public object rejection
    cdef public dict releases
    cdef public Py_ssize_t size
    cdef public long long number
    cdef public bint is_settled


cpdef Record new_record(bytes key, bytes tag, object payload, Py_ssize_t size)


@cython.final
cdef class Copy:
    cdef public long long number
    cdef public object claim
    cdef public bytes tag
    cdef public double sent_at
    cdef public bint has_payload
    cdef public object payload
    cdef public Py_ssize_t size

    cpdef void put(self, object payload, Py_ssize_t size)
