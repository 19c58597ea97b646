import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.credit cimport Credit
from routerd.core.delivery.intake cimport Intake
from routerd.core.directory.directory cimport Directory
from routerd.core.links.address cimport Address
from routerd.core.links.inlet cimport Inlet
from routerd.core.links.outlet cimport Outlet
from routerd.core.links.peer cimport Peer
from routerd.core.links.role cimport LinkRole
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.clients cimport Clients
from routerd.core.roles.containers cimport Containers, ContainerUse
from routerd.core.roles.ends cimport Ends
from routerd.wire.delivery cimport Delivery
from routerd.wire.session cimport Session

cdef tuple _BY_MERIT
cdef object _LINK_DETACH
cdef str _MODIFIED
cdef object _OPENED
cdef str _REFUSED
cdef str _NO_ADDRESS
cdef str _NO_ANSWER
cdef str _NO_SESSION
cdef str _NO_ROOM


@cython.final
cdef class ContainerLink:
    cdef readonly object use
    cdef readonly Peer peer
    cdef public str state
    cdef public object end
    cdef public bint is_answered
    cdef public bint is_alone
    cdef public double due
    cdef public double delay
    cdef public str last_error


cdef class AutoLinkUse(ContainerUse):
    cdef readonly object settings
    cdef readonly Address address
    cdef readonly dict links
    cdef AutoLinks _auto_links

    cpdef void activated(self, Peer peer)
    cpdef void deactivated(self, Peer peer)


@cython.final
cdef class ContainerConnection:
    cdef public Session session
    cdef readonly object waiting
    cdef public Py_ssize_t unanswered


@cython.final
cdef class AutoLinks:
    cdef public LinkRole inlet_role
    cdef public LinkRole outlet_role
    cdef Clock _clock
    cdef object _observer
    cdef Directory _directory
    cdef Attaching _attaching
    cdef Clients _clients
    cdef Containers _containers
    cdef object _chance
    cdef readonly dict uses
    cdef dict _connections
    cdef dict _by_end
    cdef dict _unanswered
    cdef dict _failed
    cdef dict _quiescing

    @cython.locals(use=AutoLinkUse, address=Address)
    cpdef void add(self, object settings)
    @cython.locals(use=AutoLinkUse)
    cpdef void remove(self, str name)
    @cython.locals(link=ContainerLink)
    cpdef void begin(self, AutoLinkUse use, Peer peer)
    @cython.locals(link=ContainerLink)
    cpdef void finish(self, AutoLinkUse use, Peer peer)
    @cython.locals(link=ContainerLink)
    cpdef void each_second(self, double now)
    @cython.locals(connection=ContainerConnection)
    cdef void _attach_soon(self, ContainerLink link)
    @cython.locals(connection=ContainerConnection, link=ContainerLink)
    cdef void _go_on(self, Peer peer)
    @cython.locals(peer=Peer, inlet=Inlet, outlet=Outlet, is_in=bint)
    cdef void _attach(self, ContainerConnection connection, ContainerLink link)
    @cython.locals(session=Session)
    cdef object _attached(
        self, ContainerConnection connection, ContainerLink link, bint is_in, object source, object target
    )
    cdef Session _session(self, ContainerConnection connection, ContainerLink link)
    @cython.locals(link=ContainerLink)
    cpdef void answered(self, object end)
    @cython.locals(connection=ContainerConnection)
    cdef void _note_answer(self, ContainerLink link)
    @cython.locals(outlet=Outlet)
    cdef void _use(self, ContainerLink link)
    cdef void _use_inlet(self, Inlet inlet)
    @cython.locals(link=ContainerLink)
    cpdef bint ended(self, object end, object error) except -1
    cdef void _give_up(self, ContainerLink link, str reason)
    cdef void _fail(self, ContainerLink link, str reason)
    @cython.locals(inlet=Inlet, outlet=Outlet)
    cdef void _quiesce(self, ContainerLink link)
    @cython.locals(link=ContainerLink)
    cpdef void look_whether_settled(self, object end)
    cdef void _detach(self, ContainerLink link)


cdef class AutoLinkInletRole(LinkRole):
    cdef Intake _intake
    cdef Credit _credit
    cdef Ends _ends
    cdef Clients _clients
    cdef AutoLinks _auto_links

    cpdef void transfer(self, object end, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t stop)
    cpdef void flow(self, object end)
    cpdef void answered(self, object end)
    @cython.locals(inlet=Inlet)
    cpdef void ended(self, object end, object error)


cdef class AutoLinkOutletRole(LinkRole):
    cdef Credit _credit
    cdef Ends _ends
    cdef Clients _clients
    cdef AutoLinks _auto_links

    cpdef void flow(self, object end)
    cpdef void answered(self, object end)
    @cython.locals(outlet=Outlet, was_open=bint)
    cpdef void ended(self, object end, object error)


cdef Py_ssize_t _room(ContainerConnection connection) except -1
cdef Session _begun(Peer peer)
cdef bint _is_settled(object end) except -1
cdef str _reason(object error)
