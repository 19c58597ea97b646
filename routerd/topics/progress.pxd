import cython
from routerd.topics.port cimport Port
from routerd.topics.ranges cimport Acknowledged, Ranges
from routerd.topics.records cimport Entry
from routerd.topics.streams cimport SendStream


@cython.final
cdef class Progress:
    cdef readonly SendStream stream
    cdef readonly Ranges untold
    cdef readonly dict settling
    cdef readonly Ranges settling_numbers
    cdef readonly Ranges settled_due
    cdef readonly Ranges done_due
    cdef readonly dict acknowledged
    cdef Port _port
    cdef object _directory
    cdef dict _known

    cpdef void number(self, Entry entry)
    cpdef void settle(self, Entry entry)
    @cython.locals(acknowledged=Acknowledged, known=Ranges)
    cpdef void forget(self, Ranges gone)
    @cython.locals(mine=Ranges, acknowledged=Acknowledged)
    cpdef void acknowledge(self, object place, object report)
    @cython.locals(decided=Ranges, acknowledged=Acknowledged)
    cpdef Ranges decided(self)
    @cython.locals(mine=Ranges, known=Ranges)
    cpdef void know(self, object place, Ranges numbers)
    @cython.locals(known=Ranges)
    cpdef Ranges known_everywhere(self)
