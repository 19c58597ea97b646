import cython
from routerd.core.inside.binding_tree cimport BindingTree
from routerd.wire.sender cimport Sender
from routerd.wire.session cimport Session

cdef Py_ssize_t _SUBJECT_MAX
cdef Py_ssize_t _KNOWN_MAX
cdef Py_ssize_t _KNOWN_LENGTH_MAX


@cython.final
cdef class NextHop:
    cdef readonly str key
    cdef readonly str address
    cdef readonly int phase
    cdef public Py_ssize_t uses
    cdef public Sender link
    cdef public object waiting
    cdef public Py_ssize_t held

    @cython.locals(link=Sender, session=Session)
    cpdef bint can_send(self) except -1
    @cython.locals(link=Sender)
    cpdef bint is_idle(self) except -1


@cython.final
cdef class Binding:
    cdef readonly object settings
    cdef readonly NextHop hop
    cdef readonly long long matched


@cython.final
cdef class Match:
    cdef readonly tuple bindings
    cdef readonly tuple hops


cdef Match _NO_MATCH


@cython.final
cdef class Exchange:
    cdef readonly object settings
    cdef readonly str key
    cdef readonly dict bindings
    cdef readonly dict hops
    cdef readonly NextHop alternate
    cdef public long long received
    cdef public long long dropped
    cdef public long long forwarded
    cdef public long long diverted
    cdef object _key_of
    cdef BindingTree _tree
    cdef dict _known

    @cython.locals(hop=NextHop)
    cpdef NextHop bind(self, object settings)
    @cython.locals(binding=Binding, hop=NextHop)
    cpdef NextHop unbind(self, str name)
    @cython.locals(match=Match, binding=Binding)
    cpdef Match match(self, str subject)
    @cython.locals(bindings=list, hops=dict, binding=Binding, match=Match)
    cdef Match _found(self, str subject)
