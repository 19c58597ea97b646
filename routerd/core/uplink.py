"""An edge router's side of its connection to an interior router (inter-router protocol 6).

An edge router is in no network. It has one uplink, a connection to an interior router, and may have more in reserve. To
the rest of the edge router the interior router is the one other router there is: it has the addresses that it says it
can reach (address tracking), and it takes what nobody here knows.
"""

from collections.abc import Callable

from routerd.core.address import Address
from routerd.core.address_tracking import read_notice
from routerd.core.addresses import UPLINK
from routerd.core.inlet import Inlet
from routerd.core.naming import phase_of
from routerd.core.network import MappedAddresses, NetworkNews, RouteTo
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.peer import Peer
from routerd.core.settings import RouterMode, RouterSettings
from routerd.core.trunk import Trunk
from routerd.core.trunks import Trunks
from routerd.wire import (
    AmqpValue,
    ConnectionState,
    Error,
    Header,
    Int,
    Message,
    Receiver,
    Sender,
    Session,
    Source,
    StateError,
    Symbol,
    Target,
)
from routerd.wire.link import Link

DOWNLINK = "qd.router-edge-downlink"
TRACKING = "_$qd.edge_addr_tracking"
HEARTBEAT = "_$qd.edge_heartbeat"
WAYPOINT = "qd.waypoint."

_USELESS = Error(condition="amqp:not-allowed", description="an edge router needs a session here")


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


class Uplinks(Trunks):
    """Has the uplink of an edge router follow what clients use; in an interior router there is none."""

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
        # The links that serve a purpose of the connection, by the address that stands for it.
        self._services: dict[Inlet, str] = {}

    # --- the connection

    def interior_connected(self, peer: Peer, interior: str) -> None:
        """Use a connection to an interior router, or keep it in reserve."""
        if self.uplink is None:
            self._activate(peer, interior)
        else:
            self._reserve[peer] = interior

    def is_in_reserve(self, peer: Peer) -> bool:
        """Whether a connection waits for the uplink to be lost."""
        return peer in self._reserve

    def edge_lost(self, peer: Peer) -> None:
        """Do without a connection; another uplink takes over if there is one."""
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

    def _give_up(self, peer: Peer) -> None:
        """Close a connection that is of no use, and take another uplink if there is one."""
        if peer.connection.state is ConnectionState.OPENED:
            peer.connection.close(_USELESS)
            if peer.shell is not None:
                peer.shell.end_soon()
        self.edge_lost(peer)

    def own_link_answered(self, link: Link) -> None:
        """Go on with a link that we have attached; it may not be wanted any more."""
        Trunks.own_link_answered(self, link)
        key = None if self.uplink is None else self.uplink.unanswered.pop(link, None)
        if key is not None:
            self._consumed[key] = self._produced[key] = None

    def edge_outlet_ended(self, outlet: Outlet) -> None:
        """Give an uplink up by which nothing goes up any more."""
        uplink = self.uplink
        if uplink is not None and outlet.trunk is uplink.trunk and not uplink.trunk.has_data:
            self._give_up(outlet.peer)

    def service_ended(self, inlet: Inlet) -> None:
        """End the session of a link that had it for itself."""
        session = inlet.link.session
        if self.is_edge and session.is_open and not session.links():
            session.end()

    def beat(self) -> None:
        """Say that we are there."""
        uplink = self.uplink
        if uplink is None or uplink.heartbeat is None:
            return
        link = uplink.heartbeat
        if link.is_attached and link.credit > 0:
            count = AmqpValue(Int(uplink.beats & 0x7FFFFFFF))
            link.send(Message(header=Header(), body=count).encode(), None, True)
            uplink.beats += 1

    # --- what the interior router says

    def _tell_network(self, routes: dict[str, RouteTo], mapped: tuple[MappedAddresses, ...]) -> None:
        self._news_count += 1
        self.apply_network(
            NetworkNews((1, self._news_count), is_full=True, routes=routes, radius=1, mapped=mapped)
        )

    def _map(self, uplink: Uplink, key: str, is_reached: bool) -> None:
        self._news_count += 1
        mapped = MappedAddresses(uplink.interior, {key: -1} if is_reached else {}, () if is_reached else (key,))
        self.apply_network(NetworkNews((1, self._news_count), mapped=(mapped,)))

    def take_notice(self, octets: bytes) -> None:
        """Note whether the interior router reaches consumers of an address, other than ours."""
        notice = read_notice(octets)
        if self.uplink is not None and notice is not None and notice[0] in self.uplink.senders:
            self._map(self.uplink, *notice)

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

    # --- what clients use

    def end_turn(self) -> None:
        """Bring the links of the uplink in line with what clients use."""
        if self.is_edge:
            self._follow_clients()
        Trunks.end_turn(self)

    def consumers_changed(self, address: Address) -> None:
        """Note that consumers of clients came or went."""
        if self.is_edge:
            self._consumed[address.key] = None
            if address.is_multicast:
                self.find_ways(address)

    def producers_changed(self, address: Address) -> None:
        """Note that producers of clients came or went."""
        if self.is_edge:
            self._produced[address.key] = None

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
        phase = phase_of(key)
        treatment = self._treatments.of_key(key)
        usual = treatment.ingress_phase if is_producer else treatment.egress_phase
        ordinal = phase if is_producer else phase + 1
        return f"{WAYPOINT}{ordinal}" if (phase or phase != usual) and ordinal else None

    # --- links

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
        if trunk.peer.is_edge:
            return self._sender_of(trunk.peer, trunk, session, None)
        return Trunks.attach_stream(self, trunk, session)


def _symbols(capability: str | None) -> tuple[Symbol, ...]:
    return () if capability is None else (Symbol(capability),)


def _is_ours(inlet: Inlet) -> bool:
    return inlet.trunk is not None or inlet.peer.is_inner
