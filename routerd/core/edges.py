"""Edge routers (inter-router protocol 6): the uplink of one, and what an interior router does for those it has.

An edge router is in no network. It has one uplink, a connection to an interior router, and may have more in reserve. To
the rest of the edge router the interior router is the one other router there is: it has the addresses that it says it
can reach (address tracking), and it takes what nobody here knows.

To an interior router an edge router is a client with many links: a producer without address, which is where most of its
messages come from, a consumer for everything that is under `_edge/<its id>/`, and one of either kind for each address
that the edge router's own clients use.
"""

from collections.abc import Callable
from typing import cast

from routerd.core.address import Address
from routerd.core.addresses import UPLINK
from routerd.core.inlet import Inlet
from routerd.core.network import MappedAddresses, NetworkNews, RouteTo
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.peer import Peer
from routerd.core.settings import RouterMode, RouterSettings
from routerd.core.trunk import Trunk
from routerd.core.trunks import Trunks
from routerd.wire import (
    AmqpValue,
    Attach,
    ConnectionState,
    Error,
    Header,
    Int,
    Message,
    Open,
    Properties,
    Receiver,
    Sender,
    Session,
    Source,
    StateError,
    Symbol,
    Target,
    UInt,
    WireError,
)
from routerd.wire.link import Link

DOWNLINK = "qd.router-edge-downlink"
TRACKING = "_$qd.edge_addr_tracking"
LOOKUP = "_$qd.addr_lookup"
HEARTBEAT = "_$qd.edge_heartbeat"
MANAGEMENT = "$management"
HEARTBEAT_S = 2.0
"""How often an edge router says that it is there."""
SILENCE_S = 8.0
"""After so long without it, its connection is cut."""
NOT_FOUND = 3
"""What a look-up answers for an address that is no link route (6.7)."""
WAYPOINT = "qd.waypoint."

_WRONG_WAY = Error(condition="amqp:not-allowed", description="this address is not for a link of that direction")
_EVERYBODY = "everybody"
_USELESS = Error(condition="amqp:not-allowed", description="an edge router needs a session here")
_NOT_AN_EDGE = Error(condition="qd:forbidden", description="this address is for edge routers only")


class Uplink:
    """The links of an edge router's active connection to an interior router."""

    def __init__(self, trunk: Trunk, interior: str) -> None:
        self.trunk = trunk
        self.interior = interior
        self.receivers: dict[str, Receiver] = {}
        """By address key, for what its consumers are to get."""
        self.senders: dict[str, Sender] = {}
        """By address key; they carry nothing, but have the interior router tell whether anybody receives."""
        # The keys of both, until the interior router has answered.
        self.unanswered: dict[Link, str] = {}
        self.heartbeat: Sender | None = None
        self.beats = 0


class Edges(Trunks):
    """Both ends of the connections between edge and interior routers."""

    def __init__(
        self, settings: RouterSettings, observer: Observer, worker: int, workers: int, token: Callable[[], str]
    ) -> None:
        Trunks.__init__(self, settings, observer, worker, workers, token)
        self.is_edge = settings.mode is RouterMode.EDGE
        self.uplink: Uplink | None = None
        self._reserve: dict[Peer, str] = {}
        self._news_count = 0
        self._consumed: dict[str, None] = {}
        self._produced: dict[str, None] = {}
        self._trackers: dict[Peer, Outlet] = {}
        # What each edge router was told of the addresses it sends to, and those it has to be told of.
        self._tracked: dict[Peer, dict[str, bool]] = {}
        self._untold: dict[Peer, dict[str, None]] = {}
        self._tracking_due: dict[Address, None] = {}
        self._telling_due: dict[Peer, None] = {}
        # By address key, what `_reach_of` said last, to those who send there; nothing where it said None.
        self._reach: dict[str, object] = {}
        self._heard: dict[Peer, float] = {}
        self._services: dict[Inlet, str] = {}

    # --- both

    def edge_connected(self, peer: Peer, performative: Open) -> None:
        """Take a connection between an edge and an interior router into use."""
        if not self.is_edge:
            peer.trunk = Trunk(peer, 0)
        elif self.uplink is None:
            self._activate(peer, performative.container_id)
        else:
            self._reserve[peer] = performative.container_id

    def own_link_answered(self, link: Link) -> None:
        """Go on with a link that we have attached; it may not be wanted any more."""
        Trunks.own_link_answered(self, link)
        key = None if self.uplink is None else self.uplink.unanswered.pop(link, None)
        if key is not None:
            self._consumed[key] = self._produced[key] = None

    def is_in_reserve(self, peer: Peer) -> bool:
        """Whether a connection waits for the uplink to be lost."""
        return peer in self._reserve

    def edge_lost(self, peer: Peer) -> None:
        """Do without a connection; another uplink takes over if there is one."""
        self._heard.pop(peer, None)
        self._tracked.pop(peer, None)
        self._untold.pop(peer, None)
        self._reserve.pop(peer, None)
        uplink = self.uplink
        if uplink is None or uplink.trunk.peer is not peer:
            return
        self.uplink = None
        self.trunks.pop(peer.number, None)
        if self._reserve:
            other = next(iter(self._reserve))
            self._activate(other, self._reserve.pop(other))
        else:
            self._tell_network({}, ())

    def look_after_edges(self, now: float) -> None:
        """Say that we are there, or see who has not said so for too long; to be called every `HEARTBEAT_S`."""
        uplink = self.uplink
        if uplink is not None and uplink.heartbeat is not None:
            link = uplink.heartbeat
            if link.is_attached and link.credit > 0:
                link.send(_presettled(AmqpValue(Int(uplink.beats & 0x7FFFFFFF))), None, True)
                uplink.beats += 1
        for peer, heard in list(self._heard.items()):
            if now - heard > SILENCE_S and peer.shell is not None:
                peer.shell.abort()

    def end_turn(self) -> None:
        """Bring the links of the uplink in line with what clients use, and tell edge routers who has consumers."""
        if self.is_edge:
            self._follow_clients()
        elif self._tracking_due:
            due, self._tracking_due = self._tracking_due, {}
            for address in due:
                self._have_told(address)
            telling, self._telling_due = self._telling_due, {}
            for peer in telling:
                if peer in self._trackers:
                    self._tell_edge(peer)
        Trunks.end_turn(self)

    def serve_trunk(self, trunk: Trunk) -> None:
        """Send what waits for a connection, notices for an edge router among it."""
        Trunks.serve_trunk(self, trunk)
        if self._untold and trunk.peer in self._untold:
            self._tell_edge(trunk.peer)

    def control_arrived(self, inlet: Inlet, octets: bytes) -> None:
        service = self._services.get(inlet)
        if service is None:
            Trunks.control_arrived(self, inlet, octets)
        elif service == HEARTBEAT:
            self._heard[inlet.peer] = self.now
        elif service == TRACKING:
            self._take_notice(octets)
        elif service == LOOKUP:
            self._answer_lookup(inlet.peer, octets)

    def service_ended(self, inlet: Inlet) -> None:
        """Forget a link that has served one of these purposes."""
        peer = inlet.peer
        if self._services.pop(inlet, None) == HEARTBEAT:
            self._heard.pop(peer, None)
        address = inlet.address
        if address is not None and not any(other.peer is peer and other is not inlet for other in address.inlets):
            # Should the edge router send to the address again, it has to be told again.
            self._tracked.get(peer, {}).pop(address.key, None)
            self._untold.get(peer, {}).pop(address.key, None)
        session = inlet.link.session
        if self.is_edge and session.is_open and not session.links():
            session.end()

    # --- an edge router

    def consumers_changed(self, address: Address) -> None:
        """Note that consumers of clients came or went."""
        if self.is_edge:
            self._consumed[address.key] = None
            if address.is_multicast:
                self.find_ways(address)
        else:
            self.destinations_changed(address)

    def producers_changed(self, address: Address) -> None:
        """Note that producers of clients came or went."""
        if self.is_edge:
            self._produced[address.key] = None

    def _activate(self, peer: Peer, interior: str) -> None:
        trunk = peer.trunk = Trunk(peer, 1)
        self.trunks[peer.number] = trunk
        uplink = self.uplink = Uplink(trunk, interior)
        endpoints = self._new_session(peer)
        if endpoints is None:
            self._give_up(peer)
            return
        # One that takes a single session can do with that.
        core = self._new_session(peer) or endpoints
        trunk.data.append(self._sender_of(peer, trunk, endpoints, None))
        down = self._receiver_of(peer, trunk, endpoints, self.router_id, DOWNLINK)
        down.is_shared = True
        tracking = self._receiver_of(peer, trunk, core, TRACKING, None)
        tracking.is_control = True
        self._services[tracking] = TRACKING
        uplink.heartbeat = self._sender_of(peer, trunk, core, HEARTBEAT).link
        for address in self.addresses.values():
            self._consumed[address.key] = self._produced[address.key] = None
        self._tell_network({interior: RouteTo(interior, peer.number, 1)}, ())

    def _tell_network(self, routes: dict[str, RouteTo], mapped: tuple[MappedAddresses, ...]) -> None:
        self._news_count += 1
        self.apply_network(
            NetworkNews((1, self._news_count), is_full=True, routes=routes, radius=1, mapped=mapped)
        )

    def _take_notice(self, octets: bytes) -> None:
        """Note whether the interior router reaches consumers of an address, other than ours."""
        uplink = self.uplink
        try:
            body = Message.decode(octets).body
        except WireError:
            return
        notice = body.value if isinstance(body, AmqpValue) else None
        if uplink is None or not isinstance(notice, list) or len(notice) != 2:
            return
        key = notice[0]
        if isinstance(key, str) and key in uplink.senders:
            self._map(uplink, key, bool(notice[1]))

    def _give_up(self, peer: Peer) -> None:
        """Close a connection that is of no use, and take another uplink if there is one."""
        if peer.connection.state is ConnectionState.OPENED:
            peer.connection.close(_USELESS)
            if peer.shell is not None:
                peer.shell.end_soon()
        self.edge_lost(peer)

    def _map(self, uplink: Uplink, key: str, is_reached: bool) -> None:
        self._news_count += 1
        mapped = MappedAddresses(uplink.interior, {key: -1} if is_reached else {}, () if is_reached else (key,))
        self.apply_network(NetworkNews((1, self._news_count), mapped=(mapped,)))

    def _follow_clients(self) -> None:
        uplink = self.uplink
        consumed, self._consumed = self._consumed, {}
        produced, self._produced = self._produced, {}
        if uplink is None or not uplink.trunk.peer.is_open:
            return
        for key in consumed:
            if key[:1] == "M":
                self._follow_consumers(uplink, key)
        for key in produced:
            if key[:1] == "M":
                self._follow_producers(uplink, key)

    def _follow_consumers(self, uplink: Uplink, key: str) -> None:
        address = self.addresses.get(key)
        is_wanted = address is not None and any(
            not outlet.peer.is_inner for outlet in address.outlets[: address.local_count]
        )
        link = uplink.receivers.get(key)
        if is_wanted and link is None:
            # A session of its own, so that a consumer of large messages that stalls is in nobody's way.
            session = self._new_session(uplink.trunk.peer)
            if session is not None:
                capability = self._waypoint(key, is_producer=False)
                inlet = self._receiver_of(uplink.trunk.peer, uplink.trunk, session, key[2:], capability)
                inlet.address = address
                uplink.receivers[key] = inlet.link
                uplink.unanswered[inlet.link] = key
        elif link is not None and is_wanted:
            if link.context is not None:
                # Another consumer may have come in the turn in which the last one left.
                link.context.address = address
        elif link is not None and link not in uplink.unanswered:
            del uplink.receivers[key]
            if link.is_attached:
                link.detach()

    def _follow_producers(self, uplink: Uplink, key: str) -> None:
        address = self.addresses.get(key)
        is_wanted = address is not None and any(not _is_ours(inlet) for inlet in address.inlets)
        link = uplink.senders.get(key)
        if is_wanted and link is None:
            peer = uplink.trunk.peer
            session = next((one for one in peer.connection.sessions() if one.is_open), None)
            if session is None:
                # The interior router has ended all of them.
                self._give_up(peer)
                return
            capability = self._waypoint(key, is_producer=True)
            uplink.senders[key] = self._sender_of(peer, uplink.trunk, session, key[2:], capability).link
            uplink.unanswered[uplink.senders[key]] = key
        elif link is not None and not is_wanted and link not in uplink.unanswered:
            del uplink.senders[key]
            if link.is_attached:
                link.detach()
            # What was told of the address may not be so when somebody sends to it again.
            self._map(uplink, key, False)

    def _waypoint(self, key: str, *, is_producer: bool) -> str | None:
        """Return the capability that says the phase of an address, where it is not the usual one."""
        phase = int(key[1]) if key[1:2].isdecimal() else 0
        treatment = self._treatments.of_key(key)
        usual = treatment.ingress_phase if is_producer else treatment.egress_phase
        ordinal = phase if is_producer else phase + 1
        return f"{WAYPOINT}{ordinal}" if (phase or phase != usual) and ordinal else None

    def _new_session(self, peer: Peer) -> Session | None:
        try:
            session: Session = peer.connection.session()
        except StateError:
            return next((one for one in peer.connection.sessions() if one.is_open), None)
        session.begin()
        return session

    def _sender_of(
        self, peer: Peer, trunk: Trunk, session: Session, target: str | None, capability: str | None = None
    ) -> Outlet:
        link = session.sender(self.link_name())
        outlet = self.new_outlet(peer, trunk, link)
        link.attach(source=Source(), target=Target(address=target, capabilities=_symbols(capability)))
        return outlet

    def _receiver_of(
        self, peer: Peer, trunk: Trunk, session: Session, source: str, capability: str | None
    ) -> Inlet:
        link = session.receiver(self.link_name())
        inlet = self.new_inlet(peer, trunk, link, "")
        inlet.is_shared = False
        capabilities = _symbols(capability)
        # The downlink says what it is in both of its termini.
        target = Target(capabilities=capabilities if capability == DOWNLINK else ())
        link.attach(source=Source(address=source, capabilities=capabilities), target=target)
        return inlet

    def attach_stream(self, trunk: Trunk, session: Session) -> Outlet:
        if self.uplink is not None and trunk is self.uplink.trunk:
            return self._sender_of(trunk.peer, trunk, session, None)
        return Trunks.attach_stream(self, trunk, session)

    def routers_with(self, address: Address) -> tuple[str, ...]:
        routers = Trunks.routers_with(self, address)
        if not routers and self.uplink is not None and address.is_multicast and address.local_count:
            # Others may receive as well, of whom the interior router has not told yet.
            return (self.uplink.interior,) if address.key[:1] == "M" else ()
        return routers

    def fallback(self) -> Address | None:
        """Return where an edge router sends what nobody here knows."""
        if not self.is_edge or self.uplink is None:
            return None
        return self.addresses.get(UPLINK) or self.passing_address(UPLINK)

    # --- an interior router

    def edge_link_attached(self, peer: Peer, link: Link, performative: Attach) -> bool:
        """Answer a link that only edge routers have; whether it is one."""
        if link.is_sender:
            return self._edge_consumer_attached(peer, cast(Sender, link), performative)
        target = performative.target
        text = target.address if isinstance(target, Target) and isinstance(target.address, str) else ""
        if text not in (HEARTBEAT, LOOKUP, TRACKING):
            return False
        if text == TRACKING:
            self.refuse(link, _WRONG_WAY)
        elif self.is_edge or (text == LOOKUP and peer.trunk is None):
            self.refuse(link, _NOT_AN_EDGE)
        elif self.complete(link, link.remote_source, target):
            trunk = peer.trunk or Trunk(peer, 0)
            inlet = self.new_inlet(peer, trunk, cast(Receiver, link), "")
            inlet.is_control = True
            self._services[inlet] = text
            if text == HEARTBEAT and peer.trunk is not None:
                self._heard[peer] = self.now
            inlet.is_open = link.is_attached
            inlet.top_up()
        return True

    def _edge_consumer_attached(self, peer: Peer, link: Sender, performative: Attach) -> bool:
        source = performative.source
        text = source.address if isinstance(source, Source) and isinstance(source.address, str) else ""
        if text in (HEARTBEAT, LOOKUP):
            self.refuse(link, _WRONG_WAY)
        elif text != TRACKING:
            return False
        elif peer.trunk is None or self.is_edge:
            self.refuse(link, _NOT_AN_EDGE)
        elif self.complete(link, source, link.remote_target):
            outlet = self.new_outlet(peer, peer.trunk, link)
            outlet.is_open = link.is_attached
            self._trackers[peer] = outlet
            self._tracked[peer], self._untold[peer] = {}, {}
            for inlet in peer.inlets:
                if inlet.address is not None:
                    self.edge_sends(peer, inlet.address)
        return True

    def edge_outlet_ended(self, outlet: Outlet) -> None:
        """Forget a link that edge routers are told by."""
        uplink = self.uplink
        if uplink is not None and outlet.trunk is uplink.trunk and not uplink.trunk.has_data:
            # Nothing goes up any more.
            self._give_up(outlet.peer)
        if self._trackers.get(outlet.peer) is outlet:
            del self._trackers[outlet.peer]
            self._tracked.pop(outlet.peer, None)
            self._untold.pop(outlet.peer, None)
            if not self._trackers:
                self._reach.clear()

    def edge_sends(self, peer: Peer, address: Address) -> None:
        """Note that a connection has another link to an address; an edge router is told whether it has consumers."""
        if peer in self._trackers:
            self._untold[peer][address.key] = None
            self._telling_due[peer] = None
            self._tracking_due[address] = None

    def destinations_changed(self, address: Address) -> None:
        """Note that who can receive from an address may have changed."""
        if self._trackers:
            self._tracking_due[address] = None

    def _have_told(self, address: Address) -> None:
        """Tell the edge routers that send to an address whether it has consumers, as soon as there is credit for it.

        Those of an address may be thousands, and so may its consumers; who comes or goes among many changes nothing.
        """
        key, reach = address.key, self._reach_of(address)
        if reach is self._reach.get(key):
            return
        if reach is None:
            del self._reach[key]
        else:
            self._reach[key] = reach
        for peer in {inlet.peer: None for inlet in address.inlets}:
            if peer in self._trackers:
                self._untold[peer][key] = None
                self._tell_edge(peer)

    def _tell_edge(self, peer: Peer) -> None:
        tracker = self._trackers.get(peer)
        untold, tracked = self._untold[peer], self._tracked[peer]
        while untold and tracker is not None and tracker.link.is_attached and tracker.link.credit > 0:
            key = next(iter(untold))
            del untold[key]
            is_reached = self._is_reached(key, peer)
            if tracked.get(key, False) is not is_reached:
                tracked[key] = is_reached
                tracker.link.send(_presettled(AmqpValue([key, is_reached])), None, True)

    def _is_reached(self, key: str, edge: Peer) -> bool:
        """Whether an address has consumers other than this edge router's own."""
        address = self.addresses.get(key)
        reach = None if address is None else self._reach_of(address)
        return reach is _EVERYBODY or (reach is not None and reach is not edge)

    def _reach_of(self, address: Address) -> object:
        """Return who has all consumers of an address for itself, so that only others reach any; None for nobody."""
        if address.remote_count > 0 or address.ways:
            return _EVERYBODY
        if address.local_count == 0:
            return None
        first = address.outlets[0].peer
        for at in range(1, address.local_count):
            if address.outlets[at].peer is not first:
                return _EVERYBODY
        return first

    def _answer_lookup(self, peer: Peer, octets: bytes) -> None:
        """Say that an address is no link route."""
        try:
            request = Message.decode(octets)
        except WireError:
            return
        properties = request.properties
        reply_to = properties.reply_to if properties is not None else None
        if properties is None or not isinstance(reply_to, str):
            return
        asked = (request.application_properties or {}).get("opcode")
        opcode = UInt(asked) if isinstance(asked, int) and 0 <= asked < 1 << 32 else UInt(1)
        answer = Message(
            header=Header(),
            properties=Properties(to=reply_to, correlation_id=properties.correlation_id),
            application_properties={"version": UInt(1), "opcode": opcode, "status": UInt(NOT_FOUND)},
            body=AmqpValue([False, False]),
        ).encode()
        address = self.addresses.get(self._space.key(reply_to))
        for outlet in [] if address is None else address.outlets[: address.local_count]:
            if outlet.peer is peer and outlet.can_send():
                outlet.link.send(answer, None, True)


def _presettled(body: AmqpValue) -> bytes:
    return Message(header=Header(), body=body).encode()


def _symbols(capability: str | None) -> tuple[Symbol, ...]:
    return () if capability is None else (Symbol(capability),)


def _is_ours(inlet: Inlet) -> bool:
    return inlet.trunk is not None or inlet.peer.is_inner
