"""The trunks of a worker: its connections to other routers, with links for control and data.

Each trunk belongs to one worker. `take_trunk_events` tells the routing engine of trunks and of messages on their
control links. `send_control` sends the engine's messages to neighbours.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from routerd.core.links.address import Address
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.role import ConnectionRole, LinkRole
from routerd.core.links.trunk import (
    IDLE_STREAMS_IN_TESTS_MAX,
    IDLE_STREAMS_MAX,
    OPENING_MAX,
    PRIORITIES,
    STREAMS_MAX,
    Trunk,
)
from routerd.core.roles.address_routes import NO_ROUTE
from routerd.core.roles.control import ControlRole
from routerd.core.roles.link_routing import INCOMPLETE
from routerd.core.settings import Distribution, RouterSettings
from routerd.wire import Attach, Error, Open, Receiver, Sender, Session, Source, StateError, Symbol, Target

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.credit import Credit
    from routerd.core.delivery.intake import Intake
    from routerd.core.delivery.queues import Queues
    from routerd.core.directory.directory import Directory
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.address_routes import AddressRoutes
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.ends import Ends
    from routerd.core.roles.link_routing import LinkRouting
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link

CONTROL = "qd.router"
DATA = "qd.router-data"
COST = "qd.inter-router-cost"
COST_MAX = 0x7FFFFFFF
"""Octets of the largest message of the routing protocol."""
GREETING = b"_local/qdhello"
"""Text that is in every HELLO."""
ENGINE_AWAY_S = 60.0
"""How long neighbours are greeted while the routing engine is silent."""

_NOT_YET = Error(condition="qd:connection-role", description="links of clients are not for a connection of routers")


@dataclass(frozen=True, slots=True)
class TrunkOpened:
    """A connection to another router can carry control messages."""

    trunk: int
    cost: int


@dataclass(frozen=True, slots=True)
class TrunkClosed:
    """A connection to another router is lost, or carries no control messages any more."""

    trunk: int


@dataclass(frozen=True, slots=True)
class ControlArrived:
    """A message of the routing protocol has come."""

    trunk: int
    octets: bytes


TrunkEvent = TrunkOpened | TrunkClosed | ControlArrived


class Trunks:
    """Makes trunks of connections, and gives them their links."""

    outlet_role: LinkRole
    inlet_role: LinkRole
    control_role: LinkRole
    """Set once by the builder of the parts."""

    def __init__(
        self,
        clock: "Clock",
        settings: RouterSettings,
        observer: "Observer",
        directory: "Directory",
        queues: "Queues",
        attaching: "Attaching",
        routes: "AddressRoutes",
        routing: "LinkRouting",
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._observer = observer
        self._directory = directory
        self._queues = queues
        self._attaching = attaching
        self._routes = routes
        self._routing = routing
        self.events: list[TrunkEvent] = []
        # The connections of edge routers that want links for large messages.
        self.wanting: dict[Trunk, None] = {}

    # --- for the shell

    def take_events(self) -> list[TrunkEvent]:
        """Return the events for the routing engine."""
        events, self.events = self.events, []
        return events

    def open_trunks(self) -> list[TrunkEvent]:
        """Return the open trunks, for a new routing engine."""
        return [TrunkOpened(number, trunk.cost) for number, trunk in self._directory.trunks.items() if trunk.is_up]

    def send_control(self, number: int, octets: bytes) -> None:
        """Send a message of the routing protocol if the trunk is still there."""
        trunk = self._directory.trunks.get(number)
        if trunk is not None:
            trunk.told_at = self._clock.now
            if GREETING in octets:
                trunk.greeting, trunk.greeted_at = octets, self._clock.now
            trunk.send_control(octets)

    def each_second(self, now: float) -> None:
        """Greet neighbours in place of a silent routing engine.

        A restart of the engine may take longer than neighbours wait. Its last HELLO is repeated until it sends another
        one.
        """
        interval_s = self._settings.hello_interval_s
        for trunk in self._directory.trunks.values():
            is_silent = now - trunk.greeted_at > 1.5 * interval_s and now - trunk.told_at < ENGINE_AWAY_S
            if trunk.is_up and trunk.greeting and is_silent and now - trunk.heard_at < self._settings.hello_max_age_s:
                trunk.greeted_at = now
                trunk.send_control(trunk.greeting)

    def leave_network(self) -> None:
        """Tell neighbours at once that no message should take a route over this router any more."""
        for trunk in self._directory.trunks.values():
            if trunk.control is not None and trunk.control.link.is_attached:
                trunk.control.link.detach()

    # --- connections

    def connected(self, peer: "Peer", performative: Open) -> None:
        """Make a trunk of a connection to another router."""
        properties: Any = performative.properties or {}
        remote_cost = properties.get(COST)
        cost = max(peer.cost, min(remote_cost, COST_MAX) if isinstance(remote_cost, int) else 1)
        trunk = peer.trunk = Trunk(peer, cost)
        self._directory.trunks[peer.number] = trunk
        if peer.is_initiator:
            self._attach_all(peer, trunk)

    def lost(self, peer: "Peer") -> None:
        """Forget a trunk; its links were lost before."""
        trunk = self._directory.trunks.pop(peer.number, None)
        if trunk is not None:
            self.down(trunk)
            self._routes.trunk_lost(trunk)

    def down(self, trunk: Trunk) -> None:
        """Tell the routing engine that a trunk is out of use."""
        if trunk.is_up:
            trunk.is_up = False
            self.events.append(TrunkClosed(trunk.peer.number))

    def _look_whether_up(self, trunk: Trunk) -> None:
        if trunk.is_up or trunk.control is None or not trunk.control.is_open or not trunk.has_control_in:
            return
        trunk.is_up = True
        self.events.append(TrunkOpened(trunk.peer.number, trunk.cost))

    # --- links

    def _attach_all(self, peer: "Peer", trunk: Trunk) -> None:
        """Attach the links of a trunk, in each session in the order that neighbours expect."""
        connection = peer.connection
        sessions: list[Session] = []
        try:
            for _ in range(1 + PRIORITIES):
                session = connection.session()
                session.begin()
                sessions.append(session)
        except StateError:
            # The neighbour takes fewer sessions; one session for several priorities works too.
            if not sessions:
                return
        self._attach_receiver(peer, trunk, sessions[0], CONTROL)
        trunk.control = self._attach_sender(peer, trunk, sessions[0], CONTROL)
        for priority in range(PRIORITIES):
            session = sessions[min(1 + priority, len(sessions) - 1)]
            self._attach_receiver(peer, trunk, session, DATA)
            trunk.data.append(self._attach_sender(peer, trunk, session, DATA))

    def _attach_receiver(self, peer: "Peer", trunk: Trunk, session: Session, capability: str) -> None:
        link = session.receiver(self._attaching.link_name())
        self._new_inlet(peer, trunk, link, capability)
        link.attach(source=_terminus(Source, capability), target=_terminus(Target, capability))

    def _attach_sender(self, peer: "Peer", trunk: Trunk, session: Session, capability: str) -> Outlet:
        link = session.sender(self._attaching.link_name())
        outlet = self.new_outlet(peer, trunk, link, self.outlet_role)
        link.attach(source=_terminus(Source, capability), target=_terminus(Target, capability))
        return outlet

    def attached(self, peer: "Peer", link: "Link", performative: Attach) -> None:
        """Answer a link of a neighbour: control, data, or a further one for large messages."""
        trunk = peer.trunk
        terminus: Any = performative.source if link.is_sender else performative.target
        capabilities = getattr(terminus, "capabilities", ())
        capability = next((one for one in capabilities if one in (CONTROL, DATA)), None)
        if trunk is None:
            self._attaching.refuse(link, _NOT_YET)
        elif capability is None:
            answer = self._routing.route(peer, link, performative)
            if answer is not True:
                not_routed = NO_ROUTE if trunk.is_up else _NOT_YET
                self._attaching.refuse(link, answer or not_routed)
        elif link.is_sender and link.is_incomplete:
            self._attaching.refuse(link, INCOMPLETE)
        elif not self._attaching.complete(link, link.remote_source, link.remote_target):
            return
        elif link.is_sender:
            outlet = self.new_outlet(peer, trunk, cast(Sender, link), self.outlet_role)
            if capability == CONTROL:
                trunk.control = outlet
            elif len(trunk.data) < PRIORITIES:
                trunk.data.append(outlet)
            else:
                trunk.streams[outlet] = None
            self.outlet_answered(outlet)
        else:
            inlet = self._new_inlet(peer, trunk, cast(Receiver, link), capability)
            inlet.is_open = link.is_attached
            inlet.top_up()
            self._look_whether_up(trunk)

    def _new_inlet(self, peer: "Peer", trunk: Trunk, link: Receiver, capability: str) -> Inlet:
        is_control = capability == CONTROL
        inlet = self.new_inlet(peer, trunk, link, self.control_role if is_control else self.inlet_role)
        if is_control:
            inlet.is_control = trunk.has_control_in = True
        else:
            inlet.is_shared = trunk.receivers < PRIORITIES
            inlet.share_session()
            trunk.receivers += 1
        return inlet

    def new_inlet(self, peer: "Peer", trunk: Trunk, link: Receiver, role: LinkRole) -> Inlet:
        """Return the end of a link from another router."""
        inlet = Inlet(self._attaching.take_number(), peer, link, None)
        inlet.role = role
        inlet.join(trunk)
        link.context = inlet
        peer.inlets[inlet] = None
        return inlet

    def new_outlet(self, peer: "Peer", trunk: Trunk, link: Sender, role: LinkRole) -> Outlet:
        """Return the end of a link to another router."""
        # Its messages are of many addresses; this address is a placeholder outside the router's addresses.
        outlet = Outlet(self._attaching.take_number(), peer, link, Address("", Distribution.CLOSEST))
        outlet.role = role
        outlet.trunk = trunk
        link.context = outlet
        peer.outlets[outlet] = None
        return outlet

    def outlet_answered(self, outlet: Outlet) -> None:
        """Use a link, or drop it if it was refused."""
        trunk = outlet.trunk
        assert trunk is not None
        trunk.opening.pop(outlet, None)
        if trunk.wanting is not None and outlet.link.remote_target is None:
            self._do_without_streams(trunk)
        elif outlet.link.is_attached:
            if outlet.peer.is_edge:
                self._attaching.unlimit(outlet.link)
            outlet.is_open = True
            self._observer.link_attached(outlet)
            self._look_whether_up(trunk)

    def outlet_ended(self, outlet: Outlet) -> None:
        """Forget a link to another router; its deliveries have been settled."""
        trunk = outlet.trunk
        assert trunk is not None
        if outlet is trunk.control:
            trunk.control = None
            trunk.queue.clear()
            self.down(trunk)
        elif outlet in trunk.streams:
            del trunk.streams[outlet]
            if outlet in trunk.opening:
                del trunk.opening[outlet]
                self._do_without_streams(trunk)
        else:
            trunk.data[:] = [None if one is outlet else one for one in trunk.data]

    # --- links for large messages

    def open_streams(self) -> None:
        """Attach links for large messages that found none, and detach links that were idle for long."""
        for trunk in self._directory.trunks.values():
            self._look_after_streams(trunk)
        if self.wanting:
            for trunk in list(self.wanting):
                del self.wanting[trunk]
                self._look_after_streams(trunk)

    def _look_after_streams(self, trunk: Trunk) -> None:
        # Links with an unanswered attach count against the limit only within a turn.
        wanted, trunk.wanted_streams = trunk.wanted_streams, 0
        if wanted > 0 and trunk.peer.is_open:
            room = min(wanted, OPENING_MAX - len(trunk.opening), STREAMS_MAX - len(trunk.streams))
            for _ in range(room):
                self._open_stream(trunk)
        elif len(trunk.streams) > (IDLE_STREAMS_IN_TESTS_MAX if self._settings.has_test_hooks else IDLE_STREAMS_MAX):
            self._close_idle_stream(trunk)

    def _open_stream(self, trunk: Trunk) -> None:
        try:
            session = trunk.peer.connection.session()
        except StateError:
            self._do_without_streams(trunk)
            return
        session.begin()
        outlet = self._attach_stream(trunk, session)
        trunk.streams[outlet] = trunk.opening[outlet] = None

    def _attach_stream(self, trunk: Trunk, session: Session) -> Outlet:
        if not trunk.peer.is_edge:
            return self._attach_sender(trunk.peer, trunk, session, DATA)
        # To and from an edge router, messages on a link without address go by their annotations.
        link = session.sender(self._attaching.link_name())
        outlet = self.new_outlet(trunk.peer, trunk, link, self.outlet_role)
        link.attach(source=Source(), target=Target())
        return outlet

    def _do_without_streams(self, trunk: Trunk) -> None:
        """Send large messages for an edge router on the links of their addresses, as it refuses other links."""
        if trunk.wanting is not None and not trunk.is_streamless:
            trunk.is_streamless = True
            self._queues.serve_trunk(trunk)

    def _close_idle_stream(self, trunk: Trunk) -> None:
        for outlet in trunk.streams:
            if outlet.link.is_attached and outlet.link.unsettled_count == 0 and outlet.link.current is None:
                # A link is not counted while its detach is unanswered; otherwise more would be detached.
                del trunk.streams[outlet]
                outlet.link.detach()
                return


class TrunkRole(ConnectionRole):
    """The role of a connection to another router."""

    def __init__(self, trunks: Trunks) -> None:
        self._trunks = trunks

    def opened(self, peer: "Peer", performative: Open) -> None:
        """Make a trunk of the connection."""
        self._trunks.connected(peer, performative)

    def closed(self, peer: "Peer") -> None:
        """Stop using the trunk."""
        self._trunks.lost(peer)

    def attached(self, peer: "Peer", link: "Link", performative: Attach) -> None:
        """Answer a neighbour's link."""
        self._trunks.attached(peer, link, performative)


class TrunkControlRole(ControlRole):
    """The role of a neighbour's link for the routing protocol."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        settlement: Any,
        credit: "Credit",
        ends: "Ends",
        trunks: Trunks,
    ) -> None:
        ControlRole.__init__(self, clock, observer, settlement, credit, ends)
        self._trunks = trunks

    def take(self, inlet: Inlet, octets: bytes) -> None:
        """Pass the message to the routing engine."""
        if inlet.trunk is not None:
            inlet.trunk.heard_at = self._clock.now
        self._trunks.events.append(ControlArrived(inlet.peer.number, octets))

    def left(self, inlet: Inlet) -> None:
        """Stop using the trunk until the neighbour attaches another control link."""
        if inlet.trunk is not None:
            inlet.trunk.has_control_in = False
            self._trunks.down(inlet.trunk)


class TrunkInletRole(LinkRole):
    """The role of a neighbour's link for messages."""

    def __init__(self, intake: "Intake", credit: "Credit", ends: "Ends") -> None:
        self._intake = intake
        self._credit = credit
        self._ends = ends

    def transfer(self, end: Inlet, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Take a message from another router."""
        self._intake.from_router(end, delivery, data, start, stop)

    def flow(self, end: Inlet) -> None:
        """Note the credit that came back."""
        self._credit.of_producer(end)

    def answered(self, end: Inlet) -> None:
        """Grant credit to the neighbour."""
        inlet: Inlet = end
        if inlet.link.is_attached:
            inlet.is_open = True
            inlet.top_up()

    def ended(self, end: Inlet, error: Error | None) -> None:
        """Forget the link."""
        self._ends.begin_inlet(end)
        self._ends.finish_inlet(end, error)


class TrunkOutletRole(LinkRole):
    """The role of a link to a neighbour, or of one for large messages to an edge router."""

    def __init__(self, credit: "Credit", ends: "Ends", trunks: Trunks) -> None:
        self._credit = credit
        self._ends = ends
        self._trunks = trunks

    def flow(self, end: Outlet) -> None:
        """Use the neighbour's credit."""
        self._credit.of_consumer(end)

    def answered(self, end: Outlet) -> None:
        """Use the link, or drop it."""
        self._trunks.outlet_answered(end)

    def ended(self, end: Outlet, error: Error | None) -> None:
        """Forget the link."""
        outlet: Outlet = end
        was_open = self._ends.begin_outlet(outlet)
        self._trunks.outlet_ended(outlet)
        outlet.link.session.end_unused()
        self._ends.finish_outlet(outlet, was_open, error)


def is_for_routers(performative: Attach) -> bool:
    """Whether an attach is for a link between routers."""
    for terminus in (performative.source, performative.target):
        capabilities = getattr(terminus, "capabilities", ())
        if CONTROL in capabilities or DATA in capabilities:
            return True
    return False


def _terminus(kind: Any, capability: str) -> Any:
    return kind(expiry_policy=Symbol("link-detach"), capabilities=(Symbol(capability),))
