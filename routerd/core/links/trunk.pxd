import cython
from routerd.core.links.address cimport Address
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.wire.sender cimport Sender


@cython.final
cdef class Trunk:
    cdef readonly Peer peer
    cdef public long long cost
    cdef public bint is_up
    cdef public Outlet control
    cdef public bint has_control_in
    cdef readonly object queue
    cdef readonly list data
    cdef public Py_ssize_t receivers
    cdef readonly dict streams
    cdef readonly dict opening
    cdef public Py_ssize_t wanted_streams
    cdef public bint is_streamless
    cdef public dict wanting
    cdef readonly dict sides
    cdef public bytes greeting
    cdef public double greeted_at
    cdef public double told_at
    cdef public double heard_at
    cdef public dict hungry

    @cython.locals(outlet=Outlet, waits=bint)
    cpdef Outlet pick(self, Address address, int priority, bint is_partial)
    @cython.locals(outlet=Outlet, at=Py_ssize_t)
    cpdef Outlet link_of(self, int priority)
    @cython.locals(control=Outlet, link=Sender)
    cpdef void use_control_credit(self)
