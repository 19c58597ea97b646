import cython
from routerd.core.annotations.router_annotations cimport AnnotationReader, section
from routerd.core.directory.directory cimport Directory
from routerd.core.directory.naming cimport phase_of
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport LinkRole
from routerd.core.links.sibling_streams cimport Streams
from routerd.core.roles.attaching cimport Attaching
from routerd.wire.link cimport Link
from routerd.wire.receiver cimport Receiver
from routerd.wire.session cimport Session

cdef object _OPENED


@cython.final
cdef class Fabric:
    cdef public LinkRole outlet_role
    cdef public LinkRole inlet_role
    cdef AnnotationReader _reader
    cdef Attaching _attaching
    cdef Directory _directory

    @cython.locals(peer=Peer, outlet=Outlet)
    cpdef Outlet outlet_to(self, object neighbour, Address address, str target)
    @cython.locals(streams=Streams, stream=Outlet)
    cpdef void add_stream(self, Outlet outlet)
    @cython.locals(outlet=Outlet)
    cdef Outlet _attach(self, Peer peer, Address address, str target, str prefix)
    cpdef void give_up(self, Outlet outlet)
    @cython.locals(inlet=Inlet)
    cpdef void answer(self, Peer peer, Link link, Address address, bint is_relay)
