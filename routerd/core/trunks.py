"""The trunks of a worker: its connections to other routers, each with links for control and for data.

One worker has a trunk. The routing engine hears of trunks, and of what comes on their control links, by
`take_trunk_events`; what it says to neighbours goes out by `send_control`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from routerd.core.address import Address
from routerd.core.inlet import Inlet
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.peer import Peer
from routerd.core.settings import Distribution, RouterSettings
from routerd.core.siblings import RELAY
from routerd.core.trunk import IDLE_STREAMS_MAX, OPENING_MAX, PRIORITIES, STREAMS_MAX, Trunk
from routerd.core.ways import NO_ROUTE, Ways
from routerd.wire import Attach, Error, Open, Receiver, Sender, Session, Source, StateError, Symbol, Target
from routerd.wire.link import Link

CONTROL = "qd.router"
DATA = "qd.router-data"
COST = "qd.inter-router-cost"
COST_MAX = 0x7FFFFFFF
"""The most that messages of the routing protocol can say."""
GREETING = b"_local/qdhello"
"""What the octets of a HELLO have in them."""
ENGINE_AWAY_S = 60.0
"""How long neighbours are greeted in place of a routing engine that is silent."""

_NOT_A_ROUTER = Error(condition="qd:forbidden", description="this is no connection between routers")
_NOT_YET = Error(condition="qd:connection-role", description="links of clients are not for a connection of routers")


@dataclass(frozen=True, slots=True)
class TrunkOpened:
    """A connection to another router can take control messages."""

    trunk: int
    cost: int


@dataclass(frozen=True, slots=True)
class TrunkClosed:
    """A connection to another router is lost, or takes no control messages any more."""

    trunk: int


@dataclass(frozen=True, slots=True)
class ControlArrived:
    """A message of the routing protocol has come."""

    trunk: int
    octets: bytes


TrunkEvent = TrunkOpened | TrunkClosed | ControlArrived


class Trunks(Ways):
    """Makes trunks of connections, and gives them the links that they need."""

    def __init__(
        self, settings: RouterSettings, observer: Observer, worker: int, workers: int, token: Callable[[], str]
    ) -> None:
        Ways.__init__(self, settings, observer, worker, workers, token)
        self._events: list[TrunkEvent] = []
        # The connections of edge routers that want links for large messages.
        self.wanting: dict[Trunk, None] = {}

    # --- for the shell

    def take_trunk_events(self) -> list[TrunkEvent]:
        """Return what the routing engine has to be told."""
        events, self._events = self._events, []
        return events

    def open_trunks(self) -> list[TrunkEvent]:
        """Return the trunks that there are, for an engine that has to learn of them again."""
        return [TrunkOpened(number, trunk.cost) for number, trunk in self.trunks.items() if trunk.is_up]

    def send_control(self, number: int, octets: bytes) -> None:
        """Send a message of the routing protocol, if there still is such a trunk."""
        trunk = self.trunks.get(number)
        if trunk is not None:
            trunk.told_at = self.now
            if GREETING in octets:
                trunk.greeting, trunk.greeted_at = octets, self.now
            trunk.send_control(octets)

    def each_second(self, now: float) -> None:
        """Look after trunks and ways: greet neighbours, and give up messages that have waited for news in vain."""
        self.set_clock(now)
        self._repeat_greetings(now)
        Ways.each_second(self, now)

    def _repeat_greetings(self, now: float) -> None:
        """Greet neighbours that are there in place of a routing engine that is silent.

        One that is started anew may take longer than neighbours wait. What it said last holds until it says more.
        """
        interval_s = self.settings.hello_interval_s
        for trunk in self.trunks.values():
            is_silent = now - trunk.greeted_at > 1.5 * interval_s and now - trunk.told_at < ENGINE_AWAY_S
            if trunk.is_up and trunk.greeting and is_silent and now - trunk.heard_at < self.settings.hello_max_age_s:
                trunk.greeted_at = now
                trunk.send_control(trunk.greeting)

    def leave_network(self) -> None:
        """Have the neighbours know at once that no message should come over us any more."""
        for trunk in self.trunks.values():
            if trunk.control is not None and trunk.control.link.is_attached:
                trunk.control.link.detach()

    # --- links of the router's own

    def own_link_answered(self, link: Link) -> None:
        """Go on with a link that we have attached."""
        end = link.context
        if isinstance(end, Inlet):
            if link.is_attached:
                end.is_open = True
                end.top_up()
        elif end.trunk is not None:
            self._trunk_answered(end)
        elif end.way is not None:
            self.way_answered(end)
        else:
            self.fabric_answered(link)

    def router_outlet_ended(self, outlet: Outlet) -> None:
        """Forget a link to another router, or to the sibling that has it; what was under way has been settled."""
        trunk = outlet.trunk
        self._retiring.pop(outlet, None)
        if outlet.way is not None:
            outlet.way.outlet = None
        if trunk is None:
            return
        if outlet is trunk.control:
            trunk.control = None
            trunk.queue.clear()
            self._trunk_down(trunk)
        elif outlet in trunk.streams:
            del trunk.streams[outlet]
            if outlet in trunk.opening:
                del trunk.opening[outlet]
                self._do_without_streams(trunk)
        else:
            trunk.data[:] = [None if one is outlet else one for one in trunk.data]

    def router_inlet_ended(self, inlet: Inlet) -> None:
        """Note that the neighbour's control link is gone."""
        if inlet.is_control and inlet.trunk is not None:
            inlet.trunk.has_control_in = False
            self._trunk_down(inlet.trunk)

    # --- trunks

    def trunk_connected(self, peer: Peer, performative: Open) -> None:
        """Make a trunk of a connection to another router."""
        properties: Any = performative.properties or {}
        remote_cost = properties.get(COST)
        cost = max(peer.cost, min(remote_cost, COST_MAX) if isinstance(remote_cost, int) else 1)
        trunk = peer.trunk = Trunk(peer, cost)
        self.trunks[peer.number] = trunk
        if peer.is_initiator:
            self._attach_all(peer, trunk)

    def trunk_lost(self, peer: Peer) -> None:
        """Have nothing to do with a trunk any more; its links were lost before."""
        trunk = self.trunks.pop(peer.number, None)
        if trunk is None:
            return
        self._trunk_down(trunk)
        mark = f"{RELAY}{peer.number}:"
        for address in list(self.addresses.values()):
            if address.key.startswith(mark):
                for way in address.ways:
                    self.way_lost(way)
                address.ways = []
                self.consumers_went(address)
            else:
                for way in address.ways:
                    if way.end is trunk:
                        way.end = None

    def _trunk_down(self, trunk: Trunk) -> None:
        if trunk.is_up:
            trunk.is_up = False
            self._events.append(TrunkClosed(trunk.peer.number))

    def _attach_all(self, peer: Peer, trunk: Trunk) -> None:
        """Attach the links of a trunk: those of each session in the order that neighbours count on."""
        connection = peer.connection
        sessions: list[Session] = []
        try:
            for _ in range(1 + PRIORITIES):
                session = connection.session()
                session.begin()
                sessions.append(session)
        except StateError:
            # The neighbour takes fewer: one session for several priorities does, too.
            if not sessions:
                return
        self._attach_receiver(peer, trunk, sessions[0], CONTROL)
        trunk.control = self._attach_sender(peer, trunk, sessions[0], CONTROL)
        for priority in range(PRIORITIES):
            session = sessions[min(1 + priority, len(sessions) - 1)]
            self._attach_receiver(peer, trunk, session, DATA)
            trunk.data.append(self._attach_sender(peer, trunk, session, DATA))

    def _attach_receiver(self, peer: Peer, trunk: Trunk, session: Session, capability: str) -> None:
        link = session.receiver(self.link_name())
        self.new_inlet(peer, trunk, link, capability)
        link.attach(source=_terminus(Source, capability), target=_terminus(Target, capability))

    def _attach_sender(self, peer: Peer, trunk: Trunk, session: Session, capability: str) -> Outlet:
        link = session.sender(self.link_name())
        outlet = self.new_outlet(peer, trunk, link)
        link.attach(source=_terminus(Source, capability), target=_terminus(Target, capability))
        return outlet

    def link_name(self) -> str:
        return f"qdlink.{self._token()}"

    def new_inlet(self, peer: Peer, trunk: Trunk, link: Receiver, capability: str) -> Inlet:
        inlet = Inlet(self.take_link_number(), peer, link, None)
        inlet.join(trunk)
        inlet.is_control = capability == CONTROL
        if inlet.is_control:
            trunk.has_control_in = True
        else:
            inlet.is_shared = trunk.receivers < PRIORITIES
            trunk.receivers += 1
        link.context = inlet
        peer.inlets[inlet] = None
        return inlet

    def new_outlet(self, peer: Peer, trunk: Trunk, link: Sender) -> Outlet:
        # Its messages are of many addresses; this one is none of the router's.
        outlet = Outlet(self.take_link_number(), peer, link, Address("", Distribution.CLOSEST))
        outlet.trunk = trunk
        link.context = outlet
        peer.outlets[outlet] = None
        return outlet

    def trunk_attached(self, peer: Peer, link: Link, performative: Attach) -> None:
        """Answer a link of a neighbour: control, data, or one more for large messages."""
        trunk = peer.trunk
        terminus: Any = performative.source if link.is_sender else performative.target
        capabilities = getattr(terminus, "capabilities", ())
        capability = next((one for one in capabilities if one in (CONTROL, DATA)), None)
        if trunk is None or capability is None:
            self.refuse(link, NO_ROUTE if trunk is not None and trunk.is_up else _NOT_YET)
        elif not self.complete(link, link.remote_source, link.remote_target):
            return
        elif link.is_sender:
            outlet = self.new_outlet(peer, trunk, cast(Sender, link))
            if capability == CONTROL:
                trunk.control = outlet
            elif len(trunk.data) < PRIORITIES:
                trunk.data.append(outlet)
            else:
                trunk.streams[outlet] = None
            self._trunk_answered(outlet)
        else:
            inlet = self.new_inlet(peer, trunk, cast(Receiver, link), capability)
            inlet.is_open = link.is_attached
            inlet.top_up()
            self._look_whether_up(trunk)

    def _trunk_answered(self, outlet: Outlet) -> None:
        trunk = outlet.trunk
        assert trunk is not None
        trunk.opening.pop(outlet, None)
        if trunk.wanting is not None and outlet.link.remote_target is None:
            self._do_without_streams(trunk)
        elif outlet.link.is_attached:
            outlet.is_open = True
            self.observer.link_attached(outlet)
            self._look_whether_up(trunk)

    def _look_whether_up(self, trunk: Trunk) -> None:
        if trunk.is_up or trunk.control is None or not trunk.control.is_open or not trunk.has_control_in:
            return
        trunk.is_up = True
        self._events.append(TrunkOpened(trunk.peer.number, trunk.cost))

    def open_streams(self) -> None:
        """Attach links for the large messages that found none; and detach those that have not been used for long."""
        for trunk in self.trunks.values():
            self._look_after_streams(trunk)
        if self.wanting:
            for trunk in list(self.wanting):
                del self.wanting[trunk]
                self._look_after_streams(trunk)

    def _look_after_streams(self, trunk: Trunk) -> None:
        # Those that are on their way count against it within a turn only.
        wanted, trunk.wanted_streams = trunk.wanted_streams, 0
        if wanted > 0 and trunk.peer.is_open:
            room = min(wanted, OPENING_MAX - len(trunk.opening), STREAMS_MAX - len(trunk.streams))
            for _ in range(room):
                self._open_stream(trunk)
        elif len(trunk.streams) > IDLE_STREAMS_MAX:
            self._close_idle_stream(trunk)

    def _open_stream(self, trunk: Trunk) -> None:
        try:
            session = trunk.peer.connection.session()
        except StateError:
            self._do_without_streams(trunk)
            return
        session.begin()
        outlet = self.attach_stream(trunk, session)
        trunk.streams[outlet] = trunk.opening[outlet] = None

    def _do_without_streams(self, trunk: Trunk) -> None:
        """Have large messages for an edge router go by the links of their addresses, as it takes no others."""
        if trunk.wanting is not None and not trunk.is_streamless:
            trunk.is_streamless = True
            self.serve_trunk(trunk)

    def attach_stream(self, trunk: Trunk, session: Session) -> Outlet:
        """Attach a link for large messages."""
        return self._attach_sender(trunk.peer, trunk, session, DATA)

    def _close_idle_stream(self, trunk: Trunk) -> None:
        for outlet in trunk.streams:
            if outlet.link.is_attached and outlet.link.unsettled_count == 0 and outlet.link.current is None:
                # It is not counted while its detach is on its way, or others would follow it.
                del trunk.streams[outlet]
                outlet.link.detach()
                return

    def control_arrived(self, inlet: Inlet, octets: bytes) -> None:
        if inlet.trunk is not None:
            inlet.trunk.heard_at = self.now
        self._events.append(ControlArrived(inlet.peer.number, octets))

    def is_for_routers(self, performative: Attach) -> bool:
        """Whether an attach is that of a link between routers."""
        for terminus in (performative.source, performative.target):
            capabilities = getattr(terminus, "capabilities", ())
            if CONTROL in capabilities or DATA in capabilities:
                return True
        return False

    def refuse_router_link(self, link: Link) -> None:
        """Refuse a link between routers on the connection of a client."""
        self.refuse(link, _NOT_A_ROUTER)


def _terminus(kind: Any, capability: str) -> Any:
    return kind(expiry_policy=Symbol("link-detach"), capabilities=(Symbol(capability),))
