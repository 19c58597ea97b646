import cython
from routerd.core.recording.rows cimport Rows


@cython.final
cdef class RecordedBatch:
    cdef readonly long long flow
    cdef readonly Rows rows
    cdef public int row
    cdef public long long skip
    cdef readonly long long every

    @cython.locals(rows="long long")
    cpdef Py_ssize_t pass_rows(self, Py_ssize_t count) except -1
