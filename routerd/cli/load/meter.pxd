import cython
from routerd.cli.load cimport c_clock as time
from routerd.cli.load.histogram cimport LatencyHistogram
from routerd.wire.delivery cimport Delivery

cdef object _ACCEPTED


@cython.final
cdef class Meter:
    cdef public long long measure_from_ns
    cdef public long long until_ns
    cdef public long long quota
    cdef public bint is_sending
    cdef public long long outstanding
    cdef public long long sent
    cdef public long long accepted
    cdef public long long released
    cdef public long long rejected
    cdef public long long modified
    cdef public long long other
    cdef public long long received
    cdef public long long answered
    cdef public long long attached
    cdef public long long warmup_sent
    cdef public long long warmup_received
    cdef public long long unmeasured_refused
    cdef public long long first_sent_ns
    cdef public long long last_settled_ns
    cdef public long long first_received_ns
    cdef public long long last_received_ns
    cdef public LatencyHistogram latency
    cdef public list failures

    cpdef bint may_send(self, long long stamp) except -1
    cpdef void settle(self, Delivery delivery)
    @cython.locals(now="long long")
    cpdef void receive(self, long long stamp)
    @cython.locals(now="long long")
    cpdef void time_attach(self, long long started_ns)
    cdef void _count(self, object state)
