import cython
from routerd.core.annotations.router_annotations cimport AnnotationReader
from routerd.core.directory.directory cimport Directory
from routerd.core.links.address cimport Address
from routerd.core.roles.demand cimport Demand


@cython.final
cdef class ConfiguredAddresses:
    cdef public object topics
    cdef Directory _directory
    cdef AnnotationReader _reader
    cdef Demand _demand

    @cython.locals(directory=Directory, address=Address)
    cpdef void treat_as_exchange(self, str key, bint is_exchange)
    cdef void _look_up_again(self)
