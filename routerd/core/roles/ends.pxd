import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.endings cimport Endings
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.recording.journal cimport Journal


@cython.final
cdef class Ends:
    cdef Clock _clock
    cdef object _observer
    cdef Journal _journal
    cdef Endings _endings
    cdef object _totals

    @cython.locals(was_open=bint)
    cdef bint begin_outlet(self, Outlet outlet) except -1
    cdef void finish_outlet(self, Outlet outlet, bint was_open, object error)
    cdef void begin_inlet(self, Inlet inlet)
    cdef void finish_inlet(self, Inlet inlet, object error)
