import cython
from routerd.core.address cimport Address
from routerd.core.inlet cimport Inlet
from routerd.core.naming cimport Naming
from routerd.core.passage cimport Passage
from routerd.core.siblings cimport Siblings
from routerd.core.trunk cimport Trunk
from routerd.core.way cimport Way


cdef class Ways(Siblings):
    cdef readonly object settings
    cdef readonly dict trunks
    cdef object _token
    cdef object _space
    cdef Naming _naming
    cdef dict _retiring
    cdef dict _passing
    cdef Py_ssize_t _passing_limit
    cdef bint _is_unsettled
    cdef object _expectations

    @cython.locals(key=str, address=Address)
    cdef Address expected_destination(self, Passage passage, str to)
    @cython.locals(trunk=Trunk)
    cdef bint is_expected(self, Inlet inlet, Address address) except -1
    @cython.locals(key=str, address=Address)
    cdef Address trunk_destination(self, Passage passage, str to)
    @cython.locals(address=Address)
    cpdef Address passing_address(self, str key)
    @cython.locals(address=Address)
    cdef Address _address_without_link(self, str key)
    @cython.locals(way=Way)
    cdef void _attach_for_message(self, Address address)
