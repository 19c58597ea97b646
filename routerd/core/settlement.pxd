import cython
from routerd.core.fan_out cimport FanOut
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.parked cimport Parked
from routerd.core.recorder cimport Recorder
from routerd.core.router_annotations cimport RouterAnnotations
from routerd.core.way cimport Way
from routerd.wire cimport c_memory as memory
from routerd.wire.connection cimport Connection
from routerd.wire.convoy cimport Convoy
from routerd.wire.delivery cimport Delivery
from routerd.wire.handler cimport Handler
from routerd.wire.link cimport Link

cdef object _ACCEPTED
cdef object _RELEASED
cdef int _SECOND


cdef class Settlement(Handler):
    cdef readonly double now
    cdef public list awake
    cdef readonly object observer
    cdef readonly RouterAnnotations annotations
    cdef public Recorder recorder

    cpdef void set_clock(self, double now)
    cpdef void on_output(self, Connection connection)
    @cython.locals(number=int)
    cpdef void on_disposition(self, Delivery delivery)
    @cython.locals(inlet=Inlet, is_news=bint, is_awaited=bint)
    cdef void _consumer_decided(self, Delivery out, Delivery delivery)
    @cython.locals(
        inlet=Inlet,
        outlet=Outlet,
        age=double,
        delayed_10s=Py_ssize_t,
        delayed_1s=Py_ssize_t,
        rows=Py_ssize_t,
        row=Py_ssize_t,
    )
    cpdef void on_accepted(self, Convoy convoy, Py_ssize_t count)
    cdef void _copy_decided(self, Delivery out, FanOut fan)
    @cython.locals(inlet=Inlet)
    cdef void _producer_settled(self, Delivery delivery)
    @cython.locals(flow="long long")
    cdef int note_outcome(self, Delivery out, int outcome, int cause) except -1
    @cython.locals(way=Way)
    cdef void came_back(self, Delivery out)
    cdef void forget_way(self, Delivery out)
    @cython.locals(delivery=Delivery)
    cdef void check_copies(self, FanOut fan)
    cdef void sent(self, Inlet inlet, Outlet outlet, Delivery delivery, Delivery out)
    cdef void has_left(self, Inlet inlet, Delivery delivery)
    cdef void give_up(self, Inlet inlet, Delivery delivery, object outcome)
    @cython.locals(age=double)
    cdef void settle(self, Inlet inlet, Delivery delivery, object state, bint settled=*)
    cdef void _update(self, Delivery delivery, object state, bint settled)
    @cython.locals(outlet=Outlet, age=double)
    cdef void _count_out(self, Delivery out, object state)


cpdef int how_settled(Delivery delivery) except -1
cpdef object too_large(Link link)
cpdef int outcome_number(object state) except -1
cdef void _count_in(Inlet inlet, object state)
cdef void _count_outcome(Outlet outlet, object state)
