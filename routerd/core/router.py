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
from routerd.core.links.end import End
from routerd.core.links.peer import EDGE, FABRIC, INTER_ROUTER, ROUTE_CONTAINER, TOPICS, Peer
from routerd.core.links.role import LinkRole
from routerd.core.observer import Observer
from routerd.core.recording.journal import Journal
from routerd.core.roles.address_routes import AddressRoutes
from routerd.core.roles.attaching import Attaching
from routerd.core.roles.auto_links import AutoLinkInletRole, AutoLinkOutletRole, AutoLinks
from routerd.core.roles.awaited_attaches import AwaitedAttaches
from routerd.core.roles.claims import Claims
from routerd.core.roles.clients import (
    ClientRole,
    Clients,
    ConsumerRole,
    EdgeProducerRole,
    LeavingConsumerRole,
    ProducerRole,
)
from routerd.core.roles.configured_addresses import ConfiguredAddresses
from routerd.core.roles.connection_routes import ConnectionRoutes
from routerd.core.roles.connections import Connections
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
from routerd.core.roles.sibling_lookups import SiblingLookups
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
from routerd.core.settings import RouterSettings
from routerd.core.totals import Totals
from routerd.wire import Attach, Error, Open, Receiver, RemoteError
from routerd.wire.connection import Connection
from routerd.wire.delivery import Delivery
from routerd.wire.handler import Handler
from routerd.wire.link import Link
from routerd.wire.session import Session

if TYPE_CHECKING:
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.held_batch import HeldBatch


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
        self.totals = Totals()
        # Connections with output; the shell flushes them at the end of its turn.
        self.awake = []
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
        journal = self.journal = Journal(clock, rules, marking.reader)
        settlement = self.settlement = Settlement(clock, journal)
        routing = Routing(rules)
        sending = self.sending = Sending(clock, observer, marking, journal, settlement, is_edge)
        copies = self._copies = Copies(rules, journal, settlement, sending)
        batches = self._batches = Batches(clock, rules, journal, marking, routing, sending)
        resending = self._resending = Resending(directory, rules, marking, settlement, sending)
        queues = self._queues = Queues(
            clock, directory, rules, journal, marking, settlement, routing, sending, copies, batches, resending
        )
        remainders = Remainders(journal, settlement, sending, copies, queues)
        self._credit = Credit(clock, journal, queues)
        forgets_waiting = settings.forgets_of_lost_producers
        self._endings = Endings(clock, journal, settlement, copies, queues, remainders, forgets_waiting)
        guards_requests = not (settings.has_policy or settings.allows_management_changes)
        self._destinations = Destinations(clock, directory, guards_requests)
        self.intake = Intake(
            clock, observer, rules, self._destinations, journal, marking, settlement, routing, sending, copies, batches,
            queues, remainders, settings.gathers_messages
        )

    def _make_roles(self, token: Callable[[], str], is_alone: bool, chance: Callable[[], float]) -> None:
        """Build the roles of connections and links."""
        clock, directory, observer = self._clock, self.directory, self.observer
        journal, copies, queues, credit = self.journal, self._copies, self._queues, self._credit
        intake, settlement, reader = self.intake, self.settlement, self._marking.reader
        ends = Ends(clock, observer, journal, self._endings, self.totals)
        cuts = self.settings.cuts_for_large_messages
        attaching = self.attaching = Attaching(observer, token, self.worker, self.workers, cuts)
        claims = Claims(attaching)
        link_routes = self.link_routes = LinkRoutes(directory)
        traffic = self._routed_traffic = RoutedTraffic(clock)
        routed = self.routed_links = RoutedLinks(clock, observer, attaching, traffic, self.totals)
        routed.role = RoutedRole(routed, traffic)
        resumes = self.settings.allows_resumable_link_routes
        routing = LinkRouting(directory, link_routes, attaching, routed, resumes, self.workers)
        demand = self._demand = Demand(clock, directory, queues)
        self.configured_addresses = ConfiguredAddresses(directory, reader, demand)
        fabric = Fabric(reader, attaching, directory)
        routes = self.routes = AddressRoutes(
            clock, directory, self._rules, journal, copies, queues, attaching, demand, fabric, link_routes, self.worker,
            self.workers
        )
        siblings = self.siblings = Siblings(
            directory, queues, attaching, demand, fabric, routes, link_routes, routing, self.worker
        )
        directory.expectations.ask_siblings = siblings.ask_of
        awaited = AwaitedAttaches(attaching, claims)
        routing.siblings = SiblingLookups(directory, awaited, routing, siblings)
        fabric.outlet_role = FabricOutletRole(directory, queues, credit, ends, routes, siblings)
        fabric.inlet_role = FabricInletRole(directory, intake, credit, ends)

        trunks = self.trunks = Trunks(
            clock, self.settings, observer, directory, queues, attaching, routes, routing
        )
        trunks.outlet_role = TrunkOutletRole(credit, ends, trunks)
        trunks.inlet_role = TrunkInletRole(intake, credit, ends)
        trunks.control_role = TrunkControlRole(clock, observer, settlement, credit, ends, trunks)

        requests = self._requests = UplinkRequests(clock, attaching, trunks)
        requests.inlet_role = ReplyRole(clock, observer, settlement, credit, ends, requests)
        uplinks = self.uplinks = Uplinks(self.router_id, directory, attaching, routes, trunks, requests)
        requests.outlet_role = RequestRole(credit, ends, trunks, uplinks, requests)
        uplinks.outlet_role = UplinkOutletRole(credit, ends, trunks, uplinks)
        uplinks.inlet_role = UplinkInletRole(directory, intake, credit, ends, uplinks)
        uplinks.notice_role = NoticeRole(clock, observer, settlement, credit, ends, uplinks)

        self._proxies = EdgeProxies(self.router_id, link_routes, requests)
        if directory.is_edge:
            routing.uplinks = uplinks
            routing.lookups = EdgeLookups(awaited, routing, requests)
        self.connection_routes = ConnectionRoutes(
            observer, link_routes, attaching, self.settings.allows_management_changes
        )
        self.intake.answer_own = self.connection_routes.take

        edges = self._edges = Edges(clock, observer, directory, trunks, link_routes)
        edge_roles: dict[str, LinkRole] = {
            HEARTBEAT: HeartbeatRole(clock, observer, settlement, credit, ends, edges),
            LOOKUP: LookupRole(clock, observer, settlement, credit, ends, edges),
        }
        tracker_role = TrackerRole(directory, credit, ends)

        policy = self.policy = PolicyClaim()
        keeping = self.keeping = Keeping()
        clients = self.clients = Clients(
            clock, observer, directory, journal, reader, self._destinations, queues, credit, self._endings, attaching,
            demand, siblings, uplinks, edges, policy, is_alone
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
        at_once = self.settings.gives_credit_at_once
        connections = self.connections = Connections(
            clock, observer, policy, self.connection_routes, routed, self.worker, self.workers, at_once
        )
        self.peers = connections.peers
        self.leaving = Leaving(clock, directory, copies, queues, self._endings, attaching, trunks, routed, self.peers)
        connections.client_role = ClientRole(claims)
        container_role = ContainerRole(containers, claims)
        connections.roles = {
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
        recorder = self.journal.recorder
        return bool(
            self.directory.changed or self.trunks.events or self.directory.trunks or self.trunks.wanting
        ) or (recorder is not None and recorder.is_pressed)

    def end_turn(self) -> None:
        """Do the work that this turn left, before the shell flushes."""
        self.directory.tracking.tell()
        if self.directory.is_edge:
            self.uplinks.end_turn()
            self._proxies.end_turn()
        self.siblings.end_turn()
        self.routes.end_turn()

    def each_second(self, now: float) -> None:
        """Greet neighbours, release messages that waited for news in vain, and retry auto-links."""
        self.set_clock(now)
        self.trunks.each_second(now)
        self._demand.each_second(now)
        self.auto_links.each_second(now)
        self.routes.each_second(now)
        self._resending.each_second()
        self.routed_links.each_second(now)
        self._requests.each_second(now)

    def look_after_edges(self, now: float) -> None:
        """Send a heartbeat, or check edge routers for silence; to be called every `HEARTBEAT_S`."""
        self.set_clock(now)
        self.uplinks.beat()
        self._edges.look(now)

    # --- connections

    def on_opened(self, connection: Connection, performative: Open) -> None:
        """Answer the open; links to siblings can be attached from now on."""
        self.connections.opened(connection.context, performative)

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        """Forget the connection."""
        self.connections.closed(connection.context, error)

    def on_authenticated(self, connection: Connection) -> None:
        """Note the user of the peer."""
        self.connections.authenticated(connection.context)

    def on_authentication_failed(self, connection: Connection) -> None:
        """Report it."""
        self.observer.authentication_failed(connection.context)

    def on_violation(self, connection: Connection, error: RemoteError) -> None:
        """Report it, and end the connection if the violation or policy asks for that."""
        self.connections.violated(connection.context, error)

    def on_session_begun(self, session: Session, performative: Any) -> None:
        """Answer a session that the peer began."""
        self.connections.session_begun(session, performative)

    def on_session_ended(self, session: Session, error: Error | None) -> None:
        """Stop counting it, if it counted."""
        self.connections.session_ended(session)

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
            self.keeping.ended(link, error)
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
            self.settlement.accepted_together(batch, count)

    def on_parting(self, batch: "DeliveryBatch", delivery: Delivery) -> None:
        """Give a delivery of a batch the flow and row for its outcome."""
        self.journal.part(batch.context, delivery)

    def on_disposition(self, delivery: Delivery) -> None:
        """Pass on the consumer's outcome, or the producer's settlement."""
        if delivery.link.is_relayed:
            self._routed_traffic.decided(delivery)
        else:
            self.settlement.decided(delivery)

    # --- for readers outside the core

    @property
    def addresses(self) -> "dict[str, Any]":
        """The addresses that are in use here, by key."""
        return self.directory.addresses
