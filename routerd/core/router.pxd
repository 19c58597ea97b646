import cython
from routerd.core.clock cimport Clock
from routerd.core.delivery.batches cimport Batches
from routerd.core.delivery.copies cimport Copies
from routerd.core.delivery.credit cimport Credit
from routerd.core.delivery.destinations cimport Destinations
from routerd.core.delivery.endings cimport Endings
from routerd.core.delivery.intake cimport Intake
from routerd.core.delivery.marking cimport Marking
from routerd.core.delivery.queues cimport Queues
from routerd.core.delivery.resending cimport Resending
from routerd.core.delivery.sending cimport Sending
from routerd.core.delivery.settlement cimport Settlement
from routerd.core.directory.directory cimport Directory
from routerd.core.directory.path_rules cimport PathRules
from routerd.core.links.end cimport End
from routerd.core.links.peer cimport Peer
from routerd.core.recording.journal cimport Journal
from routerd.core.roles.attaching cimport Attaching
from routerd.core.roles.auto_links cimport AutoLinks
from routerd.core.roles.clients cimport Clients
from routerd.core.roles.configured_addresses cimport ConfiguredAddresses
from routerd.core.roles.connections cimport Connections
from routerd.core.roles.containers cimport Containers
from routerd.core.roles.demand cimport Demand
from routerd.core.roles.edges cimport Edges
from routerd.core.roles.keeping cimport Keeping
from routerd.core.roles.leaving cimport Leaving
from routerd.core.roles.link_route_uses cimport LinkRouteUses
from routerd.core.roles.routed_links cimport RoutedLinks
from routerd.core.roles.routed_traffic cimport RoutedTraffic
from routerd.core.roles.refusals cimport PolicyClaim
from routerd.core.roles.siblings cimport Siblings
from routerd.core.roles.trunks cimport Trunks
from routerd.core.roles.uplinks cimport Uplinks
from routerd.core.roles.address_routes cimport AddressRoutes
from routerd.wire.connection cimport Connection
from routerd.wire.delivery_batch cimport DeliveryBatch
from routerd.wire.delivery cimport Delivery
from routerd.wire.held_batch cimport HeldBatch
from routerd.wire.handler cimport Handler
from routerd.wire.link cimport Link
from routerd.wire.session cimport Session


cdef class Router(Handler):
    cdef readonly object settings
    cdef readonly str router_id
    cdef readonly object observer
    cdef readonly int worker
    cdef readonly int workers
    cdef readonly dict peers
    cdef readonly object totals
    cdef public list awake
    cdef Clock _clock
    cdef readonly Directory directory
    cdef PathRules _rules
    cdef Marking _marking
    cdef readonly Journal journal
    cdef readonly Settlement settlement
    cdef readonly Sending sending
    cdef Copies _copies
    cdef Batches _batches
    cdef Queues _queues
    cdef Resending _resending
    cdef Credit _credit
    cdef Endings _endings
    cdef Destinations _destinations
    cdef readonly Intake intake
    cdef readonly Attaching attaching
    cdef Demand _demand
    cdef readonly ConfiguredAddresses configured_addresses
    cdef readonly object link_routes
    cdef readonly RoutedLinks routed_links
    cdef RoutedTraffic _routed_traffic
    cdef readonly AddressRoutes routes
    cdef readonly Siblings siblings
    cdef readonly Trunks trunks
    cdef readonly Uplinks uplinks
    cdef object _requests
    cdef object _proxies
    cdef readonly object connection_routes
    cdef Edges _edges
    cdef readonly PolicyClaim policy
    cdef readonly Keeping keeping
    cdef readonly Clients clients
    cdef Containers _containers
    cdef readonly LinkRouteUses link_route_uses
    cdef readonly AutoLinks auto_links
    cdef readonly Leaving leaving
    cdef readonly Connections connections

    cpdef void set_clock(self, double now)
    cpdef bint has_news(self) except -1
    cpdef void end_turn(self)
    cpdef void on_opened(self, Connection connection, object performative)
    cpdef void on_closed(self, Connection connection, object error)
    cpdef void on_authenticated(self, Connection connection)
    cpdef void on_authentication_failed(self, Connection connection)
    cpdef void on_violation(self, Connection connection, object error)
    cpdef void on_session_begun(self, Session session, object performative)
    cpdef void on_session_ended(self, Session session, object error)
    @cython.locals(peer=Peer)
    cpdef void on_session_flow(self, Session session)
    cpdef void on_output(self, Connection connection)
    cpdef void set_blocked(self, Peer peer, bint is_blocked)
    cpdef void written(self, Peer peer)

    @cython.locals(peer=Peer, end=End)
    cpdef void on_link_attached(self, Link link, object performative)
    cpdef void on_link_detaching(self, Link link, bint closed, object error)
    @cython.locals(end=End)
    cpdef void on_link_detached(self, Link link, bint closed, object error)
    @cython.locals(end=End, peer=Peer)
    cpdef void on_link_flow(self, Link link)

    @cython.locals(inlet=End)
    cpdef void on_transfer(self, Link receiver, Delivery delivery, object data, Py_ssize_t start, Py_ssize_t end)
    cpdef void on_relayed(
        self, Link receiver, Link sender, Py_ssize_t count, DeliveryBatch batch, object data, Py_ssize_t start
    )
    cpdef void on_held(self, HeldBatch held)
    cpdef void on_hold_over(self, HeldBatch held)
    cpdef void on_accepted(self, DeliveryBatch batch, Py_ssize_t count)
    cpdef void on_parting(self, DeliveryBatch batch, Delivery delivery)
    cpdef void on_disposition(self, Delivery delivery)
