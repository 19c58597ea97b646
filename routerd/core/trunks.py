"""The network beyond this router, as one of its workers sees it: its trunks, and the ways that addresses take.

A trunk is a connection to another router; one worker has it. The routing engine hears of trunks by
`take_trunk_events` and says by `apply_network` which routers there are, how each is reached and which addresses it has.
From this follow the ways of each address that somebody here sends to: over a trunk of this worker, or over a link to
the sibling that has the trunk, which relays what comes there as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from routerd.core.address import Address
from routerd.core.addresses import AddressSpace
from routerd.core.departures import HOPS_MAX_AT_LEAST
from routerd.core.expectations import Expectations
from routerd.core.inlet import Inlet
from routerd.core.naming import Naming
from routerd.core.network import NetworkNews
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.passage import Passage
from routerd.core.peer import Peer
from routerd.core.settings import Distribution, RouterMode, RouterSettings
from routerd.core.siblings import RELAY, Siblings
from routerd.core.treatment import Treatment
from routerd.core.trunk import IDLE_STREAMS_MAX, OPENING_MAX, PRIORITIES, STREAMS_MAX, Trunk
from routerd.core.way import Way
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
PASSING_MAX = 10_000
"""Addresses that only messages without a link of their own go to, before those that nobody uses are forgotten."""

_NOT_A_ROUTER = Error(condition="qd:forbidden", description="this is no connection between routers")
_NOT_YET = Error(condition="qd:connection-role", description="links of clients are not for a connection of routers")
_NO_ROUTE = Error(condition="qd:no-route-to-dest", description="no route to the destination node")


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


class Trunks(Siblings):
    """Connections to other routers, and the ways to them."""

    def __init__(
        self, settings: RouterSettings, observer: Observer, worker: int, workers: int, token: Callable[[], str]
    ) -> None:
        Siblings.__init__(self, settings, observer, worker, workers)
        self.settings = settings
        self.trunks: dict[int, Trunk] = {}
        self._token = token
        self._space = AddressSpace(settings.id, is_edge=settings.mode is RouterMode.EDGE)
        self._naming = Naming(self._space, self._treatments)
        self._events: list[TrunkEvent] = []
        self._retiring: dict[Outlet, None] = {}
        self._passing: dict[Address, None] = {}
        self._expectations = Expectations()

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

    def apply_network(self, news: NetworkNews) -> None:
        """Take what the routing engine says of the network."""
        if news.version <= self.network.version and not news.is_full:
            return
        before = self.network.routes, self.network.link_state
        touched = self.network.apply(news)
        self._expectations.network_changed(before[0], self.network.routes, self.now)
        if self.recorder is not None:
            self.recorder.events.network_changed(*before, self.network, self.now)
        # Not by the radius, which counts the hops of our own paths: others' of the same cost may have more.
        self.hops_max = max(HOPS_MAX_AT_LEAST, len(self.network.routes) + 1)
        keys = dict.fromkeys(self.addresses) if news.is_full or news.routes is not None else touched
        if news.through is not None:
            # What waits for a way in the tree of its origin may have one now, or none any more.
            keys.update((key, None) for key, address in self.addresses.items() if address.parked_from_trunks)
        for key in keys:
            address = self.addresses.get(key)
            if address is not None and not key.startswith(RELAY):
                self._reconsider(address)

    def end_turn(self) -> None:
        """Share credit, and detach the links to siblings that are not needed any more."""
        Siblings.end_turn(self)
        if self._retiring:
            for outlet in list(self._retiring):
                if outlet.link.unsettled_count == 0 and outlet.link.current is None:
                    del self._retiring[outlet]
                    self.give_up_fabric(outlet)

    def consumers_came(self, address: Address) -> None:
        """Wait again for news of an address, should it have nobody once more."""
        self._expectations.came(address.key)
        Siblings.consumers_came(self, address)

    def consumers_went(self, address: Address) -> None:
        """Remember that messages which still come for an address are late."""
        if not address.has_outlet(False):
            address.expected_until = 0.0
            self._expectations.went(address.key, self.now)
        Siblings.consumers_went(self, address)

    def each_second(self, now: float) -> None:
        """Look after the trunks: greet neighbours, and give up messages that have waited for news in vain."""
        self._repeat_greetings(now)
        for address in self._expectations.overdue(now):
            if not address.has_outlet(False):
                self.release_parked(address)
            self.serve(address)
            self.forget_if_idle(address)

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

    # --- ways

    def treatment_of_key(self, key: str) -> Treatment:
        """Return the treatment by our own configuration, or the hint of a router that has the address."""
        return self._treatments.of_key(key, self.network.hint_of(key))

    def find_ways(self, address: Address) -> None:
        routes = self.network.routes
        if not routes and not address.ways:
            return
        reached: dict[int, list[tuple[int, str]]] = {}
        for router in self.routers_with(address):
            route = routes.get(router)
            if route is not None:
                reached.setdefault(route.trunk, []).append((route.cost, router))
        known = {way.trunk: way for way in address.ways}
        ways = []
        for trunk, routers in reached.items():
            way = known.pop(trunk, None)
            if way is None:
                way = Way(address, trunk, routes[routers[0][1]].next_hop)
            way.routers = tuple(router for _, router in routers)
            way.cost = min(routers)[0]
            way.nearest = sum(cost == way.cost for cost, _ in routers)
            way.end = self.trunks.get(trunk)
            ways.append(way)
        address.ways = ways
        for way in known.values():
            self._drop(way)

    def routers_with(self, address: Address) -> tuple[str, ...]:
        """Return the other routers that messages of an address can go to."""
        return self.network.routers_of(address.key)

    def attach_ways(self, address: Address) -> None:
        for way in address.ways:
            if way.outlet is not None or way.end is not None or way.is_refused:
                continue
            if (way.trunk - 1) % self.workers != self.worker:
                neighbour = self.neighbours.get((way.trunk - 1) % self.workers)
                if neighbour is not None:
                    way.outlet = self.fabric_outlet(neighbour, address, f"{RELAY}{way.trunk}:{address.key}")
                    if way.outlet is not None:
                        way.outlet.way = way

    def _reconsider(self, address: Address) -> None:
        had_ways = bool(address.ways)
        self.find_ways(address)
        if address.ways and self.has_senders(address):
            self.attach_ways(address)
        if had_ways and not address.ways:
            self.consumers_went(address)
        elif address.ways and not had_ways:
            self.consumers_came(address)
        else:
            self.serve(address)
        for way in address.ways:
            self.serve_way(way)
        self.destinations_changed(address)
        self.forget_if_idle(address)

    def forget_if_idle(self, address: Address) -> None:
        """Forget an address that nobody uses, and give up the links by which siblings relay its messages."""
        Siblings.forget_if_idle(self, address)
        if self.addresses.get(address.key) is not address:
            for way in address.ways:
                self._retire(way)

    def _drop(self, way: Way) -> None:
        self.way_lost(way)
        self._retire(way)

    def _retire(self, way: Way) -> None:
        outlet, way.outlet = way.outlet, None
        if outlet is not None:
            # What it has sent may yet be settled.
            outlet.way = None
            self._retiring[outlet] = None

    def sibling_connected(self, peer: Peer, performative: Open) -> None:
        """Have a sibling relay again what it has trunks for."""
        Siblings.sibling_connected(self, peer, performative)
        for address in list(self.addresses.values()):
            if address.ways and self.has_senders(address):
                self.attach_ways(address)

    def relay_attached(self, peer: Peer, link: Link, key: str) -> None:
        number, _, relayed = key[len(RELAY) :].partition(":")
        trunk = self.trunks.get(int(number)) if number.isdecimal() else None
        if trunk is None:
            self.refuse(link, _NO_ROUTE)
            return
        priority = self.treatment_of_key(relayed).priority
        address = self.address_with(key, Treatment(Distribution.CLOSEST, priority=priority))
        if not address.ways:
            way = Way(address, trunk.peer.number, "")
            way.end = trunk
            address.ways = [way]
        self.answer_fabric(peer, link, address, True)

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
            self._way_answered(end)
        else:
            self.fabric_answered(link)

    def _way_answered(self, outlet: Outlet) -> None:
        if outlet.link.is_attached and outlet.link.remote_target is not None:
            outlet.is_open = True
        elif outlet.way is not None:
            outlet.way.is_refused = True

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
            trunk.opening.pop(outlet, None)
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
        inlet.trunk = trunk
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
            self.refuse(link, _NO_ROUTE if trunk is not None and trunk.is_up else _NOT_YET)
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
        if outlet.link.is_attached:
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
            return
        session.begin()
        outlet = self.attach_stream(trunk, session)
        trunk.streams[outlet] = trunk.opening[outlet] = None

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

    def ingress_phase_of(self, to: str) -> int:
        return self._treatments.of(to).ingress_phase

    def trunk_destination(self, passage: Passage, to: str) -> Address | None:
        key = passage.key if passage.to is not None else ""
        if not key:
            key = self._naming.arrival_key(to, passage.phase)
            if passage.to is not None:
                passage.key = key
        address = self.addresses.get(key)
        if address is None:
            address = self.passing_address(key)
            if address is None:
                return None
        if address.missing or address.ways:
            self._attach_for_message(address)
        return address

    def treatments_changed(self) -> None:
        """Look at the addresses of messages anew."""
        self._naming.forget()
        self.passages.forget_keys()

    def passing_address(self, key: str) -> Address | None:
        """Return an address that nobody here has a link to, if there are consumers elsewhere."""
        if not key or not (self.remote_consumers(key) or self.network.reaches(key)):
            return None
        if len(self._passing) >= PASSING_MAX:
            passing, self._passing = self._passing, {}
            for one in passing:
                self.forget_if_idle(one)
        address = self.address_with(key, self.treatment_of_key(key))
        self._passing[address] = None
        return address

    def expected_destination(self, passage: Passage, to: str) -> Address | None:
        """Return the address of a message from another router, if there may be news of it soon."""
        key = passage.key if passage.to is not None else self._naming.arrival_key(to, passage.phase)
        if not key or not self._expectations.may_come(key, self.now):
            return None
        address = self.address_with(key, self.treatment_of_key(key))
        self._passing[address] = None
        return address

    def is_expected(self, inlet: Inlet, address: Address) -> bool:
        """Whether a message from another router waits for news of its address."""
        trunk = inlet.trunk
        return trunk is not None and trunk.is_up and self._expectations.wait_for(address, self.now)

    def _attach_for_message(self, address: Address) -> None:
        if address.missing:
            self.refresh(address, True)
            return
        for way in address.ways:
            if way.end is None and way.outlet is None:
                self.attach_ways(address)
                return

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
