"""`Router`: one worker's part of a router. It builds the parts and gives them the engine's events.

`docs/architecture.md` shows which part uses which. Each part is built once and has the parts it uses as typed members.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.core.clock import Clock
from routerd.core.delivery.batches import Batches
from routerd.core.delivery.copies import Copies
from routerd.core.delivery.credit import Credit
from routerd.core.delivery.destinations import Destinations
from routerd.core.delivery.endings import Endings
from routerd.core.delivery.intake import Intake
from routerd.core.delivery.marking import Marking
from routerd.core.delivery.queues import Queues
from routerd.core.delivery.remainders import Remainders
from routerd.core.delivery.resending import Resending
from routerd.core.delivery.routing import Routing
from routerd.core.delivery.sending import Sending
from routerd.core.delivery.settlement import Settlement
from routerd.core.directory.directory import Directory
from routerd.core.directory.link_routes import LinkRoutes
from routerd.core.directory.path_rules import PathRules
from routerd.core.inside.topics import Topics
from routerd.core.links.end import End
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.peer import EDGE, FABRIC, INTER_ROUTER, NORMAL, ROUTE_CONTAINER, TOPICS, Peer
from routerd.core.links.role import ConnectionRole, LinkRole
from routerd.core.observer import Observer
from routerd.core.policy.gate import MESSAGE_TOO_LARGE, Gate
from routerd.core.recording.journal import Journal
from routerd.core.roles.address_routes import AddressRoutes
from routerd.core.roles.attaching import Attaching
from routerd.core.roles.auto_links import AutoLinkInletRole, AutoLinkOutletRole, AutoLinks
from routerd.core.roles.claims import Claims
from routerd.core.roles.clients import (
    ClientRole,
    Clients,
    ConsumerRole,
    EdgeProducerRole,
    LeavingConsumerRole,
    ProducerRole,
)
from routerd.core.roles.connection_routes import ConnectionRoutes
from routerd.core.roles.containers import ContainerRole, Containers
from routerd.core.roles.demand import Demand
from routerd.core.roles.edge_lookups import LOOKUP, EdgeLookups
from routerd.core.roles.edge_proxies import EdgeProxies
from routerd.core.roles.edges import EdgeClaim, EdgeRole, Edges, HeartbeatRole, LookupRole, TrackerRole
from routerd.core.roles.ends import Ends
from routerd.core.roles.fabric import Fabric
from routerd.core.roles.keeping import KeeperClaim, Keeping, KeptClaim
from routerd.core.roles.leaving import Leaving
from routerd.core.roles.link_route_uses import LinkRouteUses
from routerd.core.roles.link_routing import INCOMPLETE, IncompleteClaim, LinkRouteClaim, LinkRouting
from routerd.core.roles.refusals import DrainingClaim, PolicyClaim, RouterLinkClaim
from routerd.core.roles.routed_links import RoutedLinks, RoutedRole
from routerd.core.roles.routed_traffic import RoutedTraffic
from routerd.core.roles.siblings import FabricInletRole, FabricOutletRole, FabricRole, Siblings
from routerd.core.roles.trunks import TrunkControlRole, TrunkInletRole, TrunkOutletRole, TrunkRole, Trunks
from routerd.core.roles.uplink_requests import ReplyRole, RequestRole, UplinkRequests
from routerd.core.roles.uplinks import (
    HEARTBEAT,
    NoticeRole,
    UplinkInletRole,
    UplinkOutletRole,
    UplinkRole,
    Uplinks,
)
from routerd.core.settings import (
    DEFAULT_LINK_CAPACITY,
    AddressSettings,
    AutoLinkSettings,
    Distribution,
    LinkRouteSettings,
    RouterSettings,
)
from routerd.core.totals import Totals
from routerd.wire import (
    Attach,
    ConnectionState,
    Error,
    MessageSizeExceeded,
    Open,
    Receiver,
    RemoteError,
    Scope,
    SessionState,
)
from routerd.wire.connection import Connection
from routerd.wire.delivery import Delivery
from routerd.wire.handler import Handler
from routerd.wire.link import Link
from routerd.wire.session import Session

if TYPE_CHECKING:
    from routerd.core.directory.membership import Changes, Delta
    from routerd.core.directory.network import Network, NetworkNews
    from routerd.core.directory.treatment import Treatment
    from routerd.core.inside.link_keeper import LinkKeeper
    from routerd.core.links.routed_end import RoutedEnd
    from routerd.core.recording.recorder import Recorder
    from routerd.core.roles.trunks import TrunkEvent
    from routerd.core.roles.uplinks import Uplink
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.held_batch import HeldBatch

FABRIC_CAPACITY = 2000
"""Deliveries under way on one link between siblings: more than a producer may have, so that none waits for the link."""

_BEGIN_RCVD = SessionState.BEGIN_RCVD
_OPEN_RCVD = ConnectionState.OPEN_RCVD
_OPENED = ConnectionState.OPENED
_CLOSED_BY_OPERATOR = Error(
    condition="amqp:connection:forced", description="the connection is closed by request of management"
)


class Router(Handler):
    """Builds and owns the parts, and gives them the events of all connections of a worker."""

    awake: list[Connection]

    def __init__(
        self,
        settings: RouterSettings,
        token: Callable[[], str],
        observer: Observer | None = None,
        *,
        worker: int = 0,
        workers: int = 1,
        is_alone: bool = True,
        chance: Callable[[], float] = float,
    ) -> None:
        """`worker` of `workers` is the index of this one: numbers of connections and links differ between workers.

        `chance` returns a random number from 0 to 1.
        """
        self.settings = settings
        self.router_id = settings.id
        self.observer = observer = Observer() if observer is None else observer
        self.worker = worker
        self.workers = workers
        self.peers: dict[int, Peer] = {}
        self.totals = Totals()
        # Connections with output; the shell flushes them at the end of its turn.
        self.awake = []
        self._last_peer = worker + 1 - workers
        self._make_delivery()
        self._make_roles(token, is_alone, chance)

    def _make_delivery(self) -> None:
        """Build the parts that messages pass through, the lowest first."""
        settings, observer = self.settings, self.observer
        clock = self._clock = Clock()
        directory = self.directory = Directory(settings)
        is_edge = directory.is_edge
        rules = self._rules = PathRules(clock, directory.network, settings.id, is_edge)
        marking = self._marking = Marking(directory.treatments, settings.id, is_edge)
        marking.reader.takes_anything = settings.carries_anything
        journal = self._journal = Journal(clock, rules, marking.reader)
        settlement = self._settlement = Settlement(clock, journal)
        routing = Routing(rules)
        sending = self._sending = Sending(clock, observer, marking, journal, settlement, is_edge)
        copies = self._copies = Copies(rules, journal, settlement, sending)
        batches = self._batches = Batches(clock, rules, journal, marking, routing, sending)
        resending = self._resending = Resending(rules, marking, settlement, sending)
        queues = self._queues = Queues(
            clock, directory, rules, journal, marking, settlement, routing, sending, copies, batches, resending
        )
        remainders = Remainders(journal, settlement, sending, copies, queues)
        self._credit = Credit(clock, journal, queues)
        forgets_waiting = settings.forgets_of_lost_producers
        self._endings = Endings(clock, journal, settlement, copies, queues, remainders, forgets_waiting)
        guards_requests = not (settings.has_policy or settings.allows_management_changes)
        self._destinations = Destinations(clock, directory, guards_requests)
        self._intake = Intake(
            clock,
            observer,
            rules,
            self._destinations,
            journal,
            marking,
            settlement,
            routing,
            sending,
            copies,
            batches,
            queues,
            remainders,
            settings.gathers_messages,
        )

    def _make_roles(self, token: Callable[[], str], is_alone: bool, chance: Callable[[], float]) -> None:
        """Build the roles of connections and links."""
        clock, directory, observer = self._clock, self.directory, self.observer
        journal, copies, queues, credit = self._journal, self._copies, self._queues, self._credit
        intake, settlement, reader = self._intake, self._settlement, self._marking.reader
        ends = Ends(clock, observer, journal, self._endings, self.totals)
        attaching = self._attaching = Attaching(
            observer, token, self.worker, self.workers, self.settings.cuts_for_large_messages
        )
        claims = Claims(attaching)
        link_routes = self.link_routes = LinkRoutes(directory)
        traffic = self._routed_traffic = RoutedTraffic(clock)
        routed = self.routed_links = RoutedLinks(clock, observer, attaching, traffic, self.totals)
        routed.role = RoutedRole(routed, traffic)
        routing = LinkRouting(
            directory,
            link_routes,
            attaching,
            routed,
            self.settings.allows_resumable_link_routes,
            self.workers,
        )
        demand = self._demand = Demand(clock, directory, queues)
        fabric = Fabric(reader, attaching)
        routes = self._routes = AddressRoutes(
            clock,
            directory,
            self._rules,
            journal,
            copies,
            queues,
            attaching,
            demand,
            fabric,
            link_routes,
            self.worker,
            self.workers,
        )
        siblings = self._siblings = Siblings(
            directory, queues, attaching, demand, fabric, routes, link_routes, routing, self.worker
        )
        fabric.outlet_role = FabricOutletRole(directory, credit, ends, routes, siblings)
        fabric.inlet_role = FabricInletRole(directory, intake, credit, ends)

        trunks = self._trunks = Trunks(
            clock, self.settings, observer, directory, queues, attaching, routes, routing
        )
        trunks.outlet_role = TrunkOutletRole(credit, ends, trunks)
        trunks.inlet_role = TrunkInletRole(intake, credit, ends)
        trunks.control_role = TrunkControlRole(clock, observer, settlement, credit, ends, trunks)

        requests = self._requests = UplinkRequests(clock, attaching, trunks)
        requests.inlet_role = ReplyRole(clock, observer, settlement, credit, ends, requests)
        uplinks = self._uplinks = Uplinks(self.router_id, directory, attaching, routes, trunks, requests)
        requests.outlet_role = RequestRole(credit, ends, trunks, uplinks, requests)
        uplinks.outlet_role = UplinkOutletRole(credit, ends, trunks, uplinks)
        uplinks.inlet_role = UplinkInletRole(directory, intake, credit, ends, uplinks)
        uplinks.notice_role = NoticeRole(clock, observer, settlement, credit, ends, uplinks)

        self._proxies = EdgeProxies(self.router_id, link_routes, requests)
        if directory.is_edge:
            routing.uplinks = uplinks
            routing.lookups = EdgeLookups(attaching, claims, routing, requests)
        self.connection_routes = ConnectionRoutes(
            observer, link_routes, attaching, self.settings.allows_management_changes
        )
        self._intake.answer_own = self.connection_routes.take

        edges = self._edges = Edges(clock, observer, directory, trunks, link_routes)
        edge_roles: dict[str, LinkRole] = {
            HEARTBEAT: HeartbeatRole(clock, observer, settlement, credit, ends, edges),
            LOOKUP: LookupRole(clock, observer, settlement, credit, ends, edges),
        }
        tracker_role = TrackerRole(directory, credit, ends)

        policy = self._policy = PolicyClaim()
        keeping = self._keeping = Keeping()
        clients = self._clients = Clients(
            clock,
            observer,
            directory,
            journal,
            reader,
            self._destinations,
            queues,
            credit,
            attaching,
            demand,
            siblings,
            uplinks,
            edges,
            policy,
            is_alone,
        )
        clients.consumer_role = ConsumerRole(credit, ends, clients)
        clients.leaving_role = LeavingConsumerRole(ends)
        clients.producer_role = ProducerRole(intake, credit, ends, clients)
        clients.edge_producer_role = EdgeProducerRole(directory, intake, credit, ends, clients)

        claims.rows.extend(
            (
                ("kept", KeptClaim(keeping)),
                ("policy", policy),
                ("edge", EdgeClaim(clock, directory, attaching, trunks, edges, edge_roles, tracker_role)),
                ("draining", DrainingClaim(attaching)),
                ("keepers", KeeperClaim(keeping, directory.space)),
                ("router links", RouterLinkClaim()),
                ("link routes", LinkRouteClaim(routing)),
                ("incomplete", IncompleteClaim()),
                ("addresses", clients),
            )
        )
        containers = self._containers = Containers(observer)
        self.link_route_uses = LinkRouteUses(observer, containers, link_routes)
        auto_links = self.auto_links = AutoLinks(
            clock, observer, directory, attaching, clients, containers, chance
        )
        auto_links.inlet_role = AutoLinkInletRole(intake, credit, ends, clients, auto_links)
        auto_links.outlet_role = AutoLinkOutletRole(credit, ends, clients, auto_links)
        self._leaving = Leaving(clock, directory, copies, queues, self._endings, attaching, trunks, routed, self.peers)
        self._client_role: ConnectionRole = ClientRole(claims)
        self.topics = Topics()
        container_role = ContainerRole(containers, claims)
        self._roles: dict[str, ConnectionRole] = {
            FABRIC: FabricRole(siblings),
            INTER_ROUTER: TrunkRole(trunks),
            ROUTE_CONTAINER: container_role,
            TOPICS: container_role,
            EDGE: UplinkRole(uplinks, claims) if directory.is_edge else EdgeRole(edges, claims),
        }

    # --- the clock, and turns

    @property
    def now(self) -> float:
        """The present time."""
        return self._clock.now

    def set_clock(self, now: float) -> None:
        """Set the present time, until the next call."""
        self._clock.now = now

    def has_news(self) -> bool:
        """Whether the shell must ask for more than octets at the end of its turn."""
        recorder = self._journal.recorder
        return bool(
            self.directory.changed or self._trunks.events or self.directory.trunks or self._trunks.wanting
        ) or (recorder is not None and recorder.is_pressed)

    def end_turn(self) -> None:
        """Do the work that this turn left, before the shell flushes."""
        self.directory.tracking.tell()
        if self.directory.is_edge:
            self._uplinks.end_turn()
            self._proxies.end_turn()
        self._siblings.end_turn()
        self._routes.end_turn()

    def each_second(self, now: float) -> None:
        """Greet neighbours, release messages that waited for news in vain, and retry auto-links."""
        self.set_clock(now)
        self._trunks.each_second(now)
        self._demand.each_second(now)
        self.auto_links.each_second(now)
        self._routes.each_second(now)
        self._resending.each_second()
        self.routed_links.each_second(now)
        self._requests.each_second(now)

    def look_after_edges(self, now: float) -> None:
        """Send a heartbeat, or check edge routers for silence; to be called every `HEARTBEAT_S`."""
        self.set_clock(now)
        self._uplinks.beat()
        self._edges.look(now)

    # --- connections

    def new_peer(
        self,
        role: str = NORMAL,
        capacity: int = 0,
        strips_in: bool = True,
        strips_out: bool = True,
        is_multi_tenant: bool = False,
        place: str = "",
    ) -> Peer:
        """Return the record of a new connection; the caller sets its `connection` and that connection's `context`.

        `place` is the name of its listener or connector, if it has one.
        """
        self._last_peer += self.workers
        if role == FABRIC:
            capacity = FABRIC_CAPACITY
        peer = Peer(
            self._last_peer,
            role,
            capacity=capacity or DEFAULT_LINK_CAPACITY,
            strips_in=strips_in,
            strips_out=strips_out,
            is_multi_tenant=is_multi_tenant,
            place=place,
        )
        is_client = peer.is_external and not (peer.is_router or peer.is_edge)
        # Nothing that endpoints inside the router send is dropped, such as answers of management.
        peer.gives_credit_at_once = self.settings.gives_credit_at_once and is_client
        peer.role = self._roles.get(role, self._client_role)
        self.peers[peer.number] = peer
        return peer

    def on_opened(self, connection: Connection, performative: Open) -> None:
        """Answer the open; links to siblings can be attached from now on."""
        peer: Peer = connection.context
        if self.gate is not None and self.gate.holds(peer, performative):
            return
        self._open(peer, performative)

    def go_on(self, peer: Peer, performative: Open | None) -> None:
        """Continue with a connection that waited; None means that it was refused."""
        if performative is not None:
            self._open(peer, performative)
        peer.connection.release(self.now)

    def _open(self, peer: Peer, performative: Open) -> None:
        connection = peer.connection
        if connection.state is _OPEN_RCVD:
            connection.open(None if self.gate is None else self.gate.told(peer))
        peer.is_open = True
        peer.opened_at = self.now
        if peer.is_multi_tenant:
            # Policy may use another name for the vhost than the peer, and policy's name counts.
            peer.tenant = (performative.hostname or "") if peer.grant is None else peer.grant.vhost
        peer.role.opened(peer, performative)
        self.observer.connection_opened(peer, performative)

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        """Forget the connection."""
        peer: Peer = connection.context
        peer.is_open = False
        peer.error = error
        self.peers.pop(peer.number, None)
        if self.gate is not None:
            self.gate.closed(peer)
        if self.connection_routes.by_peer:
            self.connection_routes.closed(peer)
        peer.role.closed(peer)
        self.observer.connection_closed(peer, error)

    def on_authenticated(self, connection: Connection) -> None:
        """Note the user of the peer."""
        peer: Peer = connection.context
        if connection.sasl is not None and connection.sasl.identity is not None:
            peer.user = connection.sasl.identity

    def on_authentication_failed(self, connection: Connection) -> None:
        """Report it."""
        self.observer.authentication_failed(connection.context)

    def on_violation(self, connection: Connection, error: RemoteError) -> None:
        """Report it. The engine has told the peer, which may not answer our close either."""
        peer: Peer = connection.context
        if error.scope is Scope.CONNECTION and peer.shell is not None:
            peer.shell.end_soon()
        self.observer.violation(peer, error)
        if peer.routed and error.scope is not Scope.CONNECTION:
            self.routed_links.violated(peer, error)
        if self.gate is not None and peer.grant is not None and isinstance(error, MessageSizeExceeded):
            self.gate.message_too_large(peer, _number_of_faulty(peer))
            if connection.state is _OPENED:
                connection.close(MESSAGE_TOO_LARGE)
            if peer.shell is not None:
                peer.shell.end_soon()

    def on_session_begun(self, session: Session, performative: Any) -> None:
        """Answer a session that the peer began."""
        if session.state is not _BEGIN_RCVD:
            if self.routed_links.unused:
                self.routed_links.session_begun(session)
            return
        peer: Peer = session.connection.context
        if self.gate is None or peer.grant is None:
            session.begin()
            return
        error = self.gate.session_error(peer)
        if error is None:
            session.begin(incoming_window=self.gate.session_window(peer))
            session.context = peer.grant
        else:
            session.begin()
            session.end(error)

    def on_session_ended(self, session: Session, error: Error | None) -> None:
        """Stop counting it, if it counted."""
        self.routed_links.unused.pop(session, None)
        if session.context is not None and self.gate is not None:
            session.context = None
            self.gate.session_ended(session.connection.context)

    def on_session_flow(self, session: Session) -> None:
        """Continue with links that waited for the session's window."""
        self._credit.of_session(session)
        peer: Peer = session.connection.context
        if peer.stuck:
            self._routed_traffic.relieve(peer)

    def on_output(self, connection: Connection) -> None:
        """Remember the connection until the shell flushes it."""
        self.awake.append(connection)

    def set_blocked(self, peer: Peer, is_blocked: bool) -> None:
        """Note whether the transport of a connection has room; if so, continue with links that waited for it."""
        peer.is_blocked = is_blocked
        if not is_blocked:
            if peer.starved:
                self._credit.relieve(peer)
            if peer.stuck:
                self._routed_traffic.relieve(peer)

    def written(self, peer: Peer) -> None:
        """Continue with links that waited for a write of the connection's output."""
        peer.is_full = False
        self._credit.relieve(peer)
        if peer.stuck:
            self._routed_traffic.relieve(peer)

    def watch(self, peer: Peer, is_watched: bool) -> None:
        """Report the messages of a connection to the observer, or stop that."""
        peer.is_watched = is_watched
        ends: list[End] = [*peer.inlets, *peer.outlets, *peer.routed]
        for end in ends:
            end.is_watched = is_watched

    def close_connection(self, number: int) -> bool:
        """Close the connection of a client; return whether the number exists."""
        peer = self.peers.get(number)
        if peer is None or not peer.is_external:
            return False
        if peer.connection.state is _OPENED:
            peer.connection.close(_CLOSED_BY_OPERATOR)
        if peer.shell is not None:
            peer.shell.end_soon()
        return True

    # --- links

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Give a new link its place, or refuse it; complete one of our own."""
        if link.is_relayed:
            self.routed_links.answered(link.context, performative)
        elif link.is_attached and link.is_sender and link.is_incomplete:
            # Only what is resumed may be sent (2.7.3), and nothing is kept here for that.
            link.detach(error=INCOMPLETE)
        elif link.context is not None:
            end: End = link.context
            end.role.answered(end)
        else:
            peer: Peer = link.session.connection.context
            peer.role.attached(peer, link, performative)

    def on_link_detaching(self, link: Link, closed: bool, error: Error | None) -> None:
        """Detach the other half of a routed link."""
        self.routed_links.detaching(link.context, closed, error)

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        """Forget a link, and settle its deliveries."""
        end: End | None = link.context
        if end is None:
            self._keeping.ended(link, error)
        else:
            end.role.ended(end, error)
            link.context = None
            # Its deliveries refer to it, and without them it goes at once: collecting thousands takes 100 ms and more.
            link.suspended = None

    def on_link_flow(self, link: Link) -> None:
        """Use new credit, answer a drain, or note credit that a producer gave back."""
        end: End | None = link.context
        if end is not None:
            end.role.flow(end)
        peer: Peer = link.session.connection.context
        if peer.stuck:
            self._routed_traffic.relieve(peer)

    def keep(self, link: Link, keeper: "LinkKeeper") -> None:
        """Leave a link to its keeper, which gets the link's events."""
        self._keeping.keep(link, keeper)

    # --- messages

    def on_transfer(
        self, receiver: "Receiver", delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Forward a message, or keep it until it can be forwarded."""
        inlet: End | None = receiver.context
        if inlet is not None:
            inlet.role.transfer(inlet, delivery, data, start, end)

    def on_relayed(
        self,
        receiver: Link,
        sender: Link,
        count: int,
        batch: "DeliveryBatch | None",
        data: bytes | bytearray,
        start: int,
    ) -> None:
        """Count messages that left together with the one before them."""
        if receiver.is_relayed:
            self._routed_traffic.relayed(receiver, sender, count, batch)
        else:
            self._batches.relayed(receiver, sender, count, batch, data, start)

    def on_held(self, held: "HeldBatch") -> None:
        """Keep messages behind one that waits, as a held batch."""
        self._batches.hold(held)

    def on_hold_over(self, held: "HeldBatch") -> None:
        """Have each message of a held batch wait singly."""
        self._batches.part(held.context)

    def on_accepted(self, batch: "DeliveryBatch", count: int) -> None:
        """Count deliveries that were accepted together; their producer has the outcome."""
        if batch.receiver.is_relayed:
            self._routed_traffic.accepted(batch, count)
        else:
            self._settlement.accepted_together(batch, count)

    def on_parting(self, batch: "DeliveryBatch", delivery: Delivery) -> None:
        """Give a delivery of a batch the flow and row for its outcome."""
        self._journal.part(batch.context, delivery)

    def on_disposition(self, delivery: Delivery) -> None:
        """Pass on the consumer's outcome, or the producer's settlement."""
        if delivery.link.is_relayed:
            self._routed_traffic.decided(delivery)
        else:
            self._settlement.decided(delivery)

    # --- the address table and the routing engine

    def take_changes(self) -> "Changes | None":
        """Return the changes for the address table; the shell sends them at the end of its turn."""
        return self._siblings.take_changes()

    def all_interests(self) -> "Changes":
        """Return all interests of this worker, for a join."""
        return self._siblings.all_interests()

    def confirm(self, sequence: int) -> None:
        """Answer the attaches whose changes every worker knows now."""
        for outlet in self._siblings.confirmed(sequence):
            self._clients.answer(outlet)

    def apply(self, delta: "Delta") -> None:
        """Apply the table's delta of siblings and their interests; raises FullDeltaMissing."""
        self._siblings.apply(delta)

    def connect_failed(self, worker: int) -> None:
        """Note that a sibling is unreachable: messages do not wait for it."""
        self._siblings.connect_failed(worker)

    def apply_network(self, news: "NetworkNews") -> None:
        """Apply news of the routing engine."""
        self._routes.apply_network(news)

    def take_trunk_events(self) -> "list[TrunkEvent]":
        """Return the events of trunks for the routing engine."""
        return self._trunks.take_events()

    def open_trunks(self) -> "list[TrunkEvent]":
        """Return the open trunks, for a new routing engine."""
        return self._trunks.open_trunks()

    def send_control(self, number: int, octets: bytes) -> None:
        """Send a message of the routing protocol if the trunk is still there."""
        self._trunks.send_control(number, octets)

    def open_streams(self) -> None:
        """Attach links for large messages that found none, and detach links that were idle for long."""
        self._trunks.open_streams()

    # --- configuration

    def configure_address(self, settings: AddressSettings) -> None:
        """Configure the addresses of a pattern that come into use from now on; raises DuplicatePattern."""
        self.directory.treatments.add(settings)
        self._treatments_changed()
        if settings.topic is not None:
            self.topics.add(settings.pattern, settings.topic)

    def forget_pattern(self, pattern: str) -> None:
        """Remove the settings of a pattern for addresses that come into use from now on; raises UnknownPattern."""
        self.directory.treatments.remove(pattern)
        self._treatments_changed()
        self.topics.remove(pattern)

    def add_link_route(self, settings: LinkRouteSettings) -> None:
        """Route the links of addresses to a container, whenever it is connected; raises InvalidPattern."""
        self.link_route_uses.add(settings)

    def remove_link_route(self, name: str) -> None:
        """Remove a link route; links that are routed stay."""
        self.link_route_uses.remove(name)

    def add_auto_link(self, settings: AutoLinkSettings) -> None:
        """Attach a link to a container, on each of its connections."""
        self.auto_links.add(settings)

    def remove_auto_link(self, name: str) -> None:
        """Remove an auto-link; its links are detached once their messages are settled."""
        self.auto_links.remove(name)

    def treat_as_exchange(self, key: str, is_exchange: bool) -> None:
        """Have all consumers of an exchange's address get its messages, or treat the address as any other."""
        directory = self.directory
        known = directory.treatments.exchanges
        if is_exchange:
            known.add(key)
        else:
            known.discard(key)
        address = directory.addresses.get(key)
        if address is not None:
            usual = directory.treatment_of_key(key).distribution
            self._demand.spread(address, Distribution.MULTICAST if is_exchange else usual)

    def retire_consumer(self, outlet: Outlet) -> None:
        """Send a consumer no more messages; those under way on its link may settle."""
        self._endings.release_waiting(outlet)
        self._clients.retire(outlet)

    def _treatments_changed(self) -> None:
        """Look up the addresses of messages again."""
        self.directory.naming.forget()
        self._marking.reader.forget_keys()

    # --- the end

    def drain(self) -> None:
        """Take no new links and no new messages; deliveries under way may settle."""
        self._leaving.drain()

    def is_drained(self) -> bool:
        """Detach producers with nothing under way; return whether nothing at all is under way."""
        return self._leaving.is_drained()

    def close_all(self) -> None:
        """Settle the remaining deliveries, detach every link with the reason, and close every connection."""
        self._leaving.close_all()

    # --- for readers outside the core

    @property
    def recorder(self) -> "Recorder | None":
        """Records decisions and their outcomes; None while recording is off."""
        return self._journal.recorder

    @recorder.setter
    def recorder(self, recorder: "Recorder | None") -> None:
        self._journal.recorder = recorder

    @property
    def gate(self) -> Gate | None:
        """The gate of policy; None without policy."""
        return self._policy.gate

    @gate.setter
    def gate(self, gate: Gate | None) -> None:
        self._policy.gate = gate

    @property
    def answer_forbidden(self) -> Callable[[bytes], bool] | None:
        """Answers a request to management that its sender must not make; returns whether there is an answer."""
        return self._intake.answer_forbidden

    @answer_forbidden.setter
    def answer_forbidden(self, answer: Callable[[bytes], bool] | None) -> None:
        self._intake.answer_forbidden = answer

    @property
    def keepers(self) -> "dict[str, LinkKeeper]":
        """The link keepers by address key."""
        return self._keeping.keepers

    @property
    def is_alone(self) -> bool:
        """Whether no other worker needs to know of a consumer."""
        return self._clients.is_alone

    @property
    def is_draining(self) -> bool:
        """Whether the router is about to end."""
        return self._attaching.is_draining

    @property
    def is_edge(self) -> bool:
        """Whether this is an edge router."""
        return self.directory.is_edge

    @property
    def uplink(self) -> "Uplink | None":
        """The active connection of an edge router to an interior one."""
        return self._uplinks.active

    def is_in_reserve(self, peer: Peer) -> bool:
        """Whether a connection is in reserve."""
        return self._uplinks.is_in_reserve(peer)

    @property
    def addresses(self) -> "dict[str, Any]":
        """The addresses that are in use here, by key."""
        return self.directory.addresses

    @property
    def neighbours(self) -> "dict[int, Any]":
        """The other workers, by index."""
        return self.directory.neighbours

    @property
    def trunks(self) -> "dict[int, Any]":
        """The connections to other routers, by number."""
        return self.directory.trunks

    @property
    def wanting(self) -> "dict[Any, None]":
        """The connections of edge routers that need links for large messages."""
        return self._trunks.wanting

    @property
    def network(self) -> "Network":
        """The known network."""
        return self.directory.network

    @property
    def version(self) -> tuple[int, int]:
        """The version of the known interests of siblings."""
        return self._siblings.version

    @property
    def transit(self) -> int:
        """Deliveries that came from one router and went to another."""
        return self._sending.transit

    @property
    def kept_octets(self) -> int:
        """Octets of messages that go elsewhere if they are released."""
        return self._settlement.kept_octets

    @property
    def kept_max(self) -> int:
        """The limit of those octets."""
        return self._settlement.kept_max

    @kept_max.setter
    def kept_max(self, octets: int) -> None:
        self._settlement.kept_max = octets

    @property
    def redirected(self) -> int:
        """Deliveries that went to fallback destinations."""
        return self._intake.redirected

    def treatment_of_key(self, key: str) -> "Treatment":
        """Return the treatment of an address by its key."""
        return self.directory.treatment_of_key(key)


def _number_of_faulty(peer: Peer) -> int:
    """Return the number of the producer's link that was just detached for an error."""
    ends: list[Inlet | RoutedEnd] = [*peer.inlets, *peer.routed]
    return next((end.number for end in ends if end.link.has_error and not end.link.is_sender), 0)
