import cython
from routerd.wire cimport c_memory as memory
from routerd.wire.delivery cimport Delivery
from routerd.wire.flow cimport FlowFields
from routerd.wire.link cimport Link
from routerd.wire.serial cimport precedes
from routerd.wire.session cimport Session
from routerd.wire.transfer cimport TransferFields

cdef unsigned int _MASK
cdef unsigned int _HALF
cdef long long _CREDIT_MAX
cdef Py_ssize_t _TAG_MAX
cdef str _TOO_LARGE


cdef class Receiver(Link):
    cdef Delivery _current
    cdef bint _is_ignoring
    cdef unsigned int _limit
    cdef long long _told
    cdef public bint is_lenient
    cdef public bint is_size_for_close
    cdef long long _excess
    cdef readonly long long aborted

    cpdef void grant(self, long long credit)
    cpdef void receive_attach(self, object performative)
    @cython.locals(limit="unsigned int")
    cpdef void advertise(self)
    @cython.locals(delivery=Delivery)
    cpdef void receive_transfer(self, TransferFields fields, object data, Py_ssize_t end)
    cdef void _note_more(self, Delivery delivery, TransferFields fields)
    @cython.locals(delivery=Delivery)
    cpdef void forget_aborted(self)
    cdef void passed(self, unsigned int count)
    @cython.locals(ahead="unsigned int")
    cpdef void receive_flow(self, FlowFields fields)
    @cython.locals(delivery=Delivery)
    cdef Delivery _begin(self, TransferFields fields)
    @cython.locals(session=Session)
    cdef void _turn_down(self, Delivery delivery, TransferFields fields)
    cdef void _track(self, Delivery delivery)
    @cython.locals(delivery=Delivery)
    cdef Delivery _resume(self, TransferFields fields)
    cdef int _mode_of(self, TransferFields fields) except -2
    cdef void _use_credit(self)
    cdef void _check_continuation(self, Delivery delivery, TransferFields fields)
