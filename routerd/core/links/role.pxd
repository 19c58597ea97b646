from routerd.wire.delivery cimport Delivery
from routerd.wire.link cimport Link

# Ends and connections are objects here: who refers to these classes is made of them.


cdef class LinkRole:
    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    cpdef void answered(self, object end)
    cpdef void ended(self, object end, object error)


cdef class ConnectionRole:
    cpdef void opened(self, object peer, object performative)
    cpdef void closed(self, object peer)
    cpdef void attached(self, object peer, Link link, object performative)
