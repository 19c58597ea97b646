"""An edge router's side of its connection to an interior router (inter-router protocol 6).

An edge router is outside the network. It has one uplink, a connection to an interior router, and may have others in
reserve. To the other parts, the interior router looks like the only other router. It has the addresses that its notices
report as reachable (address tracking), and it takes messages for addresses unknown here.
"""

from typing import TYPE_CHECKING, Any

from routerd.core.directory.address_tracking import read_notice
from routerd.core.directory.addresses import FALLBACK_PHASE
from routerd.core.directory.naming import FALLBACK_LINK, phase_of
from routerd.core.directory.network import MappedAddresses, NetworkNews, RouteTo
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.role import ConnectionRole, LinkRole
from routerd.core.links.trunk import Trunk
from routerd.core.roles.control import ControlRole
from routerd.core.settings import PHASE_MAX
from routerd.wire import (
    AmqpValue,
    ConnectionState,
    Error,
    Header,
    Int,
    Message,
    Open,
    Receiver,
    Sender,
    Session,
    Source,
    StateError,
    Symbol,
    Target,
)

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.credit import Credit
    from routerd.core.delivery.intake import Intake
    from routerd.core.directory.directory import Directory
    from routerd.core.links.address import Address
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.address_routes import AddressRoutes
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.claims import Claims
    from routerd.core.roles.ends import Ends
    from routerd.core.roles.trunks import Trunks
    from routerd.core.roles.uplink_requests import UplinkRequests
    from routerd.wire import Attach
    from routerd.wire.delivery import Delivery
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
        """By address key: links for messages to consumers here."""
        self.senders: dict[str, Sender] = {}
        """By address key: links without messages, which make the interior router report whether an address has
        consumers.
        """
        # The keys of both kinds whose attach is unanswered.
        self.unanswered: dict[Link, str] = {}
        self.heartbeat: Sender | None = None
        self.beats = 0


class Uplinks:
    """Adapts the uplink of an edge router to the addresses in use by clients; an interior router has no uplink."""

    outlet_role: LinkRole
    inlet_role: LinkRole
    notice_role: LinkRole
    """Set once by the builder of the parts."""

    def __init__(
        self,
        router_id: str,
        directory: "Directory",
        attaching: "Attaching",
        routes: "AddressRoutes",
        trunks: "Trunks",
        requests: "UplinkRequests",
    ) -> None:
        self._router_id = router_id
        self._requests = requests
        self._directory = directory
        self._attaching = attaching
        self._routes = routes
        self._trunks = trunks
        self.active: Uplink | None = None
        self._reserve: dict[Peer, str] = {}
        self._news_count = 0
        self._consumed: dict[str, None] = {}
        self._produced: dict[str, None] = {}

    # --- the connection

    def connected(self, peer: "Peer", interior: str) -> None:
        """Use a connection to an interior router, or keep it in reserve."""
        if self.active is None:
            self._activate(peer, interior)
        else:
            self._reserve[peer] = interior

    def is_in_reserve(self, peer: "Peer") -> bool:
        """Whether a connection is in reserve."""
        return peer in self._reserve

    def lost(self, peer: "Peer") -> None:
        """Forget a connection; another uplink takes over if there is one."""
        self._reserve.pop(peer, None)
        uplink = self.active
        if uplink is None or uplink.trunk.peer is not peer:
            return
        self.active = None
        unanswered = self._requests.end()
        self._directory.interior = ""
        self._directory.trunks.pop(peer.number, None)
        if self._reserve:
            other = next(iter(self._reserve))
            self._activate(other, self._reserve.pop(other))
        else:
            self._tell_network({}, ())
        self._requests.fail(unanswered)

    def _activate(self, peer: "Peer", interior: str) -> None:
        trunk = peer.trunk = Trunk(peer, 1)
        self._directory.trunks[peer.number] = trunk
        uplink = self.active = Uplink(trunk, interior)
        self._directory.interior = interior
        endpoints = self._new_session(peer)
        if endpoints is None:
            self._give_up(peer)
            return
        # A router that takes a single session works as well.
        core = self._new_session(peer) or endpoints
        trunk.data.append(self._sender_of(peer, trunk, endpoints, None))
        down = self._receiver_of(peer, trunk, endpoints, self._router_id, DOWNLINK, self.inlet_role)
        down.is_shared = True
        tracking = self._receiver_of(peer, trunk, core, TRACKING, None, self.notice_role)
        tracking.is_control = True
        uplink.heartbeat = self._sender_of(peer, trunk, core, HEARTBEAT).link
        self._requests.begin(trunk, core)
        for address in self._directory.addresses.values():
            self._consumed[address.key] = self._produced[address.key] = None
        self._tell_network({interior: RouteTo(interior, peer.number, 1)}, ())

    def _give_up(self, peer: "Peer") -> None:
        """Close a connection that is out of use, and take another uplink if there is one."""
        if peer.connection.state is ConnectionState.OPENED:
            peer.connection.close(_USELESS)
            if peer.shell is not None:
                peer.shell.end_soon()
        self.lost(peer)

    def answered(self, link: "Link") -> None:
        """Note that the interior router has answered a link of an address, which may be unused by now."""
        key = None if self.active is None else self.active.unanswered.pop(link, None)
        if key is not None:
            self._consumed[key] = self._produced[key] = None

    def outlet_ended(self, outlet: Outlet) -> None:
        """Give up an uplink on which no messages can go up any more."""
        uplink = self.active
        if uplink is not None and outlet.trunk is uplink.trunk and not uplink.trunk.has_data:
            self._give_up(outlet.peer)

    def beat(self) -> None:
        """Send a heartbeat."""
        uplink = self.active
        if uplink is None or uplink.heartbeat is None:
            return
        link = uplink.heartbeat
        if link.is_attached and link.credit > 0:
            count = AmqpValue(Int(uplink.beats & 0x7FFFFFFF))
            link.send(Message(header=Header(), body=count).encode(), None, True)
            uplink.beats += 1

    # --- notices of the interior router

    def _tell_network(self, routes: dict[str, RouteTo], mapped: tuple[MappedAddresses, ...]) -> None:
        self._news_count += 1
        self._routes.apply_network(
            NetworkNews((1, self._news_count), is_full=True, routes=routes, radius=1, mapped=mapped)
        )

    def _map(self, uplink: Uplink, key: str, is_reached: bool) -> None:
        self._news_count += 1
        mapped = MappedAddresses(uplink.interior, {key: -1} if is_reached else {}, () if is_reached else (key,))
        self._routes.apply_network(NetworkNews((1, self._news_count), mapped=(mapped,)))

    def take_notice(self, octets: bytes) -> None:
        """Note whether the interior router reaches consumers of an address, other than ours."""
        notice = read_notice(octets)
        if self.active is not None and notice is not None and notice[0] in self.active.senders:
            self._map(self.active, *notice)

    # --- addresses in use by clients

    def consumers_changed(self, address: "Address") -> None:
        """Note that consumers of clients came or left."""
        if self._directory.is_edge:
            self._consumed[address.key] = None
            if address.is_multicast:
                self._routes.find(address)

    def producers_changed(self, address: "Address") -> None:
        """Note that producers of clients came or left."""
        if self._directory.is_edge:
            self._produced[address.key] = None
            if address.fallback is not None:
                self._produced[address.fallback.key] = None

    def end_turn(self) -> None:
        """Update the links of the uplink from the addresses in use by clients."""
        uplink = self.active
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
        address = self._directory.addresses.get(key)
        is_wanted = address is not None and any(
            outlet.peer.is_followed for outlet in address.outlets[: address.local_count]
        )
        link = uplink.receivers.get(key)
        if is_wanted and link is None:
            # A separate session, so that a stalled consumer of large messages blocks no other link.
            session = self._new_session(uplink.trunk.peer)
            if session is not None:
                capability = self._waypoint(key, is_producer=False)
                peer, trunk = uplink.trunk.peer, uplink.trunk
                inlet = self._receiver_of(peer, trunk, session, key[2:], capability, self.inlet_role)
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
        address = self._directory.addresses.get(key)
        is_wanted = address is not None and _has_producers(address)
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
            # The notice on the address may be outdated when it is used again.
            self._map(uplink, key, False)

    def _waypoint(self, key: str, *, is_producer: bool) -> str | None:
        """Return the capability for the phase of an address, if it is not the usual one."""
        phase = phase_of(key)
        if phase == FALLBACK_PHASE:
            return FALLBACK_LINK
        treatment = self._directory.treatments.of_key(key)
        usual = treatment.ingress_phase if is_producer else treatment.egress_phase
        ordinal = phase if is_producer else phase + 1
        # Nobody can name the phase behind the last one; there the configuration of the interior router decides.
        is_named = phase != usual or (phase and ordinal <= PHASE_MAX)
        return f"{WAYPOINT}{ordinal}" if is_named and ordinal else None

    # --- links

    def _new_session(self, peer: "Peer") -> Session | None:
        try:
            session: Session = peer.connection.session()
        except StateError:
            return next((one for one in peer.connection.sessions() if one.is_open), None)
        session.begin()
        return session

    def _sender_of(
        self, peer: "Peer", trunk: Trunk, session: Session, target: str | None, capability: str | None = None
    ) -> Outlet:
        link = session.sender(self._attaching.link_name())
        outlet = self._trunks.new_outlet(peer, trunk, link, self.outlet_role)
        link.attach(source=Source(), target=Target(address=target, capabilities=_symbols(capability)))
        return outlet

    def _receiver_of(
        self, peer: "Peer", trunk: Trunk, session: Session, source: str, capability: str | None, role: LinkRole
    ) -> Inlet:
        link = session.receiver(self._attaching.link_name())
        inlet = self._trunks.new_inlet(peer, trunk, link, role)
        capabilities = _symbols(capability)
        # Both termini of the downlink carry its capability.
        target = Target(capabilities=capabilities if capability == DOWNLINK else ())
        link.attach(source=Source(address=source, capabilities=capabilities), target=target)
        return inlet


class UplinkRole(ConnectionRole):
    """The role of an edge router's connection to an interior router."""

    def __init__(self, uplinks: Uplinks, claims: "Claims") -> None:
        self._uplinks = uplinks
        self._claims = claims

    def opened(self, peer: "Peer", performative: Open) -> None:
        """Use the connection, or keep it in reserve."""
        self._uplinks.connected(peer, performative.container_id)

    def closed(self, peer: "Peer") -> None:
        """Do without it."""
        self._uplinks.lost(peer)

    def attached(self, peer: "Peer", link: "Link", performative: "Attach") -> None:
        """Answer a link of the interior router, or refuse it."""
        self._claims.attached(peer, link, performative)


class UplinkOutletRole(LinkRole):
    """The role of an edge router's link to its interior router."""

    def __init__(self, credit: "Credit", ends: "Ends", trunks: "Trunks", uplinks: Uplinks) -> None:
        self._credit = credit
        self._ends = ends
        self._trunks = trunks
        self._uplinks = uplinks

    def flow(self, end: Outlet) -> None:
        """Use the interior router's credit."""
        self._credit.of_consumer(end)

    def answered(self, end: Outlet) -> None:
        """Use the link, which may be unwanted by now."""
        outlet: Outlet = end
        self._trunks.outlet_answered(outlet)
        self._uplinks.answered(outlet.link)

    def ended(self, end: Outlet, error: Error | None) -> None:
        """Forget the link; the uplink ends with its link for messages."""
        outlet: Outlet = end
        was_open = self._ends.begin_outlet(outlet)
        self._trunks.outlet_ended(outlet)
        self._uplinks.outlet_ended(outlet)
        outlet.link.session.end_unused()
        self._ends.finish_outlet(outlet, was_open, error)


class UplinkInletRole(LinkRole):
    """The role of a link for messages of the interior router to clients here."""

    def __init__(
        self, directory: "Directory", intake: "Intake", credit: "Credit", ends: "Ends", uplinks: Uplinks
    ) -> None:
        self._directory = directory
        self._intake = intake
        self._credit = credit
        self._ends = ends
        self._uplinks = uplinks

    def transfer(self, end: Inlet, delivery: "Delivery", data: bytes | bytearray, start: int, stop: int) -> None:
        """Take a message."""
        self._intake.from_router(end, delivery, data, start, stop)

    def flow(self, end: Inlet) -> None:
        """Note the credit that came back."""
        self._credit.of_producer(end)

    def answered(self, end: Inlet) -> None:
        """Grant credit to the interior router, if the link is still wanted."""
        inlet: Inlet = end
        if inlet.link.is_attached:
            inlet.is_open = True
            inlet.top_up()
        self._uplinks.answered(inlet.link)

    def ended(self, end: Inlet, error: Error | None) -> None:
        """Forget the link, and end the session that it had alone."""
        inlet: Inlet = end
        self._ends.begin_inlet(inlet)
        inlet.link.session.end_unused()
        address = inlet.address
        if address is not None:
            address.leave(inlet)
            self._uplinks.producers_changed(address)
            self._directory.forget_if_idle(address)
        self._ends.finish_inlet(inlet, error)


class NoticeRole(ControlRole):
    """The role of the link for notices on addresses that the interior router reaches."""

    def __init__(
        self, clock: "Clock", observer: "Observer", settlement: Any, credit: "Credit", ends: "Ends", uplinks: Uplinks
    ) -> None:
        ControlRole.__init__(self, clock, observer, settlement, credit, ends)
        self._uplinks = uplinks

    def take(self, inlet: Inlet, octets: bytes) -> None:
        """Take a notice."""
        self._uplinks.take_notice(octets)

    def left(self, inlet: Inlet) -> None:
        """End the session that the link had alone."""
        inlet.link.session.end_unused()


def _symbols(capability: str | None) -> tuple[Symbol, ...]:
    return () if capability is None else (Symbol(capability),)


def _has_producers(address: "Address") -> bool:
    """Whether clients send to an address, or may be diverted to it."""
    if any(not _is_ours(inlet) for inlet in address.inlets):
        return True
    primary = address.primary
    return primary is not None and any(inlet.diverts and not _is_ours(inlet) for inlet in primary.inlets)


def _is_ours(inlet: Inlet) -> bool:
    return inlet.trunk is not None or not inlet.peer.is_followed
