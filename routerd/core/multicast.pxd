import cython
from routerd.core.address cimport Address
from routerd.core.fan_out cimport FanOut
from routerd.core.inlet cimport Inlet
from routerd.core.outlet cimport Outlet
from routerd.core.router_annotations cimport may_carry_annotations
from routerd.core.settlement cimport Settlement, too_large
from routerd.wire.delivery cimport Delivery
from routerd.wire.sender cimport Sender

cdef object _ACCEPTED
cdef object _RELEASED
cdef int _MIXED
cdef int _SETTLED


cdef class Multicast(Settlement):
    cpdef void serve_outlet(self, Outlet outlet)
    @cython.locals(count=Py_ssize_t, fan=FanOut, more=bint, outlet=Outlet)
    cdef void fan_out(
        self, Inlet inlet, Address address, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end
    )
    @cython.locals(link=Sender, is_settled=bint, out=Delivery)
    cdef void send_copy(
        self, FanOut fan, Outlet outlet, object data, Py_ssize_t start, Py_ssize_t end, bint more
    )
    cdef void _wait_for(self, FanOut fan, Outlet outlet)
    cdef void leave_wait(self, FanOut fan)
    cdef void _keep(self, FanOut fan, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(delivery=Delivery, is_held=bint, out=Delivery, outlet=Outlet, link=Sender)
    cdef void continue_copies(self, Inlet inlet, FanOut fan, object data, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(out=Delivery, outlet=Outlet, delivery=Delivery)
    cdef void abort_copies(self, FanOut fan)
    cdef void _all_sent(self, FanOut fan)
