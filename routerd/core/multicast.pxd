import cython
from routerd.core.address cimport Address
from routerd.core.fan_out cimport FanOut
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.passage cimport Passage
from routerd.core.recorder_hooks cimport Recorded
from routerd.core.settlement cimport too_large
from routerd.core.way cimport Way
from routerd.wire.delivery cimport Delivery
from routerd.wire.section_scan cimport may_carry_annotations
from routerd.wire.sender cimport Sender

cdef object _ACCEPTED
cdef object _RELEASED
cdef int _MIXED
cdef int _SETTLED


cdef class Multicast(Recorded):
    cpdef void serve_outlet(self, Outlet outlet)
    @cython.locals(count=Py_ssize_t, fan=FanOut, more=bint, outlet=Outlet, link=Outlet, ways=list, way=Way)
    cdef void fan_out(
        self,
        Inlet inlet,
        Address address,
        Delivery delivery,
        object data,
        Py_ssize_t start,
        Py_ssize_t end,
        Passage passage,
    )
    @cython.locals(link=Sender, is_settled=bint, out=Delivery, address=Address, flow="long long")
    cdef void send_copy(
        self, FanOut fan, Outlet outlet, Way way, object data, Py_ssize_t start, Py_ssize_t end, bint more
    )
    @cython.locals(fan=FanOut, link=Outlet, way=Way)
    cpdef void serve_copies(self, Outlet outlet)
    @cython.locals(fan=FanOut, outlet=Outlet, priority=int)
    cpdef void serve_way(self, Way way)
    cpdef void way_lost(self, Way way)
    cdef void copy_lost(self, FanOut fan, Address address, Outlet outlet, int cause)
    cdef void _note_sent(self, FanOut fan, Delivery out)
    @cython.locals(number=int, size="long long", octets=bytearray)
    cdef void _note_unsent(self, FanOut fan, Address address, Outlet outlet, int outcome, int cause)
    @cython.locals(outlet=Outlet)
    cdef void _wait_for_way(self, FanOut fan, Way way, int priority)
    cdef void _wait_for(self, FanOut fan, Outlet outlet)
    cdef void leave_wait(self, FanOut fan)
    cdef void _keep(self, FanOut fan, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(delivery=Delivery, is_held=bint, is_full=bint, out=Delivery, outlet=Outlet, link=Sender)
    cdef void continue_copies(self, Inlet inlet, FanOut fan, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(out=Delivery, outlet=Outlet, delivery=Delivery)
    cdef void abort_copies(self, FanOut fan)
    @cython.locals(ways=list, way=Way)
    cdef void _serve_ways(self, FanOut fan)
    cdef void _all_sent(self, FanOut fan)


cdef Outlet _link_for(Outlet outlet, bint is_partial)
cdef bint _is_alive(FanOut fan) except -1
cdef long long _size_of(FanOut fan) except -1
