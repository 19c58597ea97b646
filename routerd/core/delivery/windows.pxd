import cython
from routerd.core.links.fan_out cimport FanOut
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.parked cimport Parked
from routerd.core.links.peer cimport Peer
from routerd.wire.delivery cimport Delivery
from routerd.wire.session cimport Session

cdef int _CLOSES
cdef int _STAYS_OPEN
cdef int _GIVES_UP


cpdef int effect_of(Inlet inlet, Py_ssize_t size, Py_ssize_t unheld) except -1
@cython.locals(peer=Peer)
cpdef int effect_of_stuck(Inlet inlet, Outlet outlet, Py_ssize_t size) except -1
@cython.locals(session=Session, other=Inlet, one=Parked, fan=FanOut)
cpdef void open_for(Inlet inlet)
@cython.locals(session=Session, links=list, other=Inlet)
cdef bint _has_others(Inlet inlet, bint is_sending) except -1
@cython.locals(fan=FanOut)
cdef bint _is_sent(Delivery delivery) except -1
