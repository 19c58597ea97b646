"""An interior router's side of its connections to edge routers (inter-router protocol 6).

For an interior router, an edge router is a client with many links. Most messages come on its producer without address.
A consumer takes all addresses under `_edge/<its id>/`. Each address in use by clients of the edge router has a consumer
or producer as well. Three kinds of links exist only for edge routers: heartbeats, look-ups, and the notices of address
tracking.
"""

import math
from typing import TYPE_CHECKING, Any, cast

from routerd.core.directory.addresses import canonical
from routerd.core.links.address_route import AddressRoute
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.role import ConnectionRole, LinkRole
from routerd.core.links.trunk import Trunk
from routerd.core.roles.claims import Claimant
from routerd.core.roles.control import ControlRole
from routerd.core.roles.edge_lookups import LOOKUP, OPCODE, VERSION
from routerd.core.roles.uplinks import HEARTBEAT, TRACKING
from routerd.core.settings import LinkDirection
from routerd.wire import (
    ACCEPTED,
    AmqpValue,
    Attach,
    ConnectionState,
    Error,
    Header,
    Message,
    Open,
    Properties,
    Receiver,
    Rejected,
    Sender,
    Source,
    Target,
    UInt,
    WireError,
)

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.credit import Credit
    from routerd.core.directory.directory import Directory
    from routerd.core.directory.link_routes import LinkRoutes
    from routerd.core.links.address import Address
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.claims import Claims
    from routerd.core.roles.ends import Ends
    from routerd.core.roles.trunks import Trunks
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link

HEARTBEAT_S = 2.0
"""The interval of an edge router's heartbeats."""
HEARTBEAT_WINDOW = 2
"""Credit for heartbeats.

A qdrouterd counts the credit that each flow adds. A flow that adds none stops its heartbeats, and each flow allows one
more. So each heartbeat is answered by a flow of one.
"""
SILENCE_S = 8.0
"""The connection of an edge router is closed after this time without a heartbeat."""
STANDSTILL_S = 5.0
"""A router that did not check for this long did not read either, so it measures silence anew."""
FOUND = 0
NOT_FOUND = 3
"""The answer of a look-up for an address that is not a link route (6.7)."""

_WRONG_WAY = Error(condition="amqp:not-allowed", description="this address is not for a link of that direction")
_NOT_AN_EDGE = Error(condition="qd:forbidden", description="this address is for edge routers only")
_UNREADABLE = Rejected(error=Error(condition="amqp:decode-error", description="this is not a request of version 1"))
_LOST = Error(
    condition="amqp:connection:forced", description=f"no heartbeat has come on {HEARTBEAT} for {SILENCE_S:.0f} s"
)


class Edges:
    """Serves edge routers."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        directory: "Directory",
        trunks: "Trunks",
        link_routes: "LinkRoutes",
    ) -> None:
        self._clock = clock
        self._observer = observer
        self._directory = directory
        self._trunks = trunks
        self._link_routes = link_routes
        # The last sign of each edge router, and the time of the last check.
        self.heard: dict[Peer, float] = {}
        self._looked_at = math.inf

    # --- the connection

    def connected(self, peer: "Peer") -> None:
        """Start using the connection of an edge router."""
        peer.trunk = Trunk(peer, 0)
        peer.trunk.wanting = self._trunks.wanting

    def lost(self, peer: "Peer") -> None:
        """Forget a connection."""
        if peer.trunk is not None:
            self._trunks.wanting.pop(peer.trunk, None)
        self.heard.pop(peer, None)
        self._directory.tracking.forget(peer)

    def look(self, now: float) -> None:
        """Check edge routers for silence; to be called every `HEARTBEAT_S`."""
        has_stood_still = now - self._looked_at > STANDSTILL_S
        self._looked_at = now
        for peer, heard in list(self.heard.items()):
            if has_stood_still:
                # Heartbeats that came meanwhile may be unread.
                self.heard[peer] = now
            elif now - heard > SILENCE_S:
                self._close_silent(peer, now - heard)

    def _close_silent(self, peer: "Peer", silence_s: float) -> None:
        """Close the connection of a silent edge router."""
        del self.heard[peer]
        self._observer.heartbeat_lost(peer, silence_s)
        if peer.connection.state is ConnectionState.OPENED:
            peer.connection.close(_LOST)
        if peer.shell is not None:
            peer.shell.end_soon()

    # --- large messages

    def let_pass_large(self, outlet: Outlet) -> None:
        """Give large messages for an edge router's link separate links, so that other messages need not wait."""
        peer = outlet.peer
        trunk = peer.trunk
        if trunk is None or self._directory.is_edge or not peer.is_edge:
            return
        performative = peer.connection.remote_open
        route = AddressRoute(outlet.address, peer.number, "" if performative is None else performative.container_id)
        route.end, route.beside = trunk, outlet
        outlet.side = route
        trunk.sides.setdefault(outlet.address, []).append(route)

    def forget_side(self, outlet: Outlet) -> None:
        """Forget the route beside a link that has ended."""
        route, outlet.side = outlet.side, None
        trunk = outlet.peer.trunk
        if route is not None and trunk is not None:
            sides = trunk.sides[outlet.address]
            sides.remove(route)
            if not sides:
                del trunk.sides[outlet.address]

    # --- look-ups

    def answer_lookup(self, peer: "Peer", octets: bytes) -> bool:
        """Answer whether links of an address are routed, and whether there is a container for them.

        Return whether this could be read as a request.
        """
        try:
            request = Message.decode(octets)
        except WireError:
            return False
        properties = request.properties
        about = request.application_properties or {}
        body: Any = request.body.value if isinstance(request.body, AmqpValue) else None
        if (about.get("version"), about.get("opcode")) != (VERSION, OPCODE) or not _is_question(body):
            return False
        if properties is None or properties.correlation_id is None or not isinstance(properties.reply_to, str):
            return False
        reply_to = properties.reply_to
        found = self._looked_up(peer, body)
        status = NOT_FOUND if found is None else FOUND
        answer = Message(
            header=Header(),
            properties=Properties(to=reply_to, correlation_id=properties.correlation_id),
            application_properties={"version": VERSION, "opcode": OPCODE, "status": UInt(status)},
            body=AmqpValue([found is not None, bool(found)]),
        ).encode()
        address: Address | None = self._directory.addresses.get(self._directory.space.key(reply_to))
        for outlet in [] if address is None else address.outlets[: address.local_count]:
            # Its credit bounds what is sent, whether there is room for it now or not.
            if outlet.peer is peer and outlet.link.is_attached and outlet.link.credit > 0:
                outlet.link.send(answer, None, True)
        return True

    def _looked_up(self, peer: "Peer", body: list[Any]) -> bool | None:
        """Return whether there is a container for links of an address; None if these are not routed."""
        direction = LinkDirection.IN if body[1] is True else LinkDirection.OUT
        address = canonical(str(body[0]))
        if peer.tenant and not address.startswith("_"):
            address = f"{peer.tenant}/{address}"
        pattern = self._link_routes.match(address, direction) if self._link_routes else None
        return None if pattern is None else self._link_routes.has_destination(pattern, peer)


class EdgeClaim(Claimant):
    """Claims the links that only edge routers have."""

    def __init__(
        self,
        clock: "Clock",
        directory: "Directory",
        attaching: "Attaching",
        trunks: "Trunks",
        edges: Edges,
        roles: dict[str, LinkRole],
        tracker_role: LinkRole,
    ) -> None:
        """`roles` are the roles of inlets by their addresses."""
        self._clock = clock
        self._directory = directory
        self._attaching = attaching
        self._trunks = trunks
        self._edges = edges
        self._roles = roles
        self._tracker_role = tracker_role

    def claim(self, peer: "Peer", link: "Link", performative: Attach) -> "bool | Error":
        """Take the link for heartbeats, look-ups or notices."""
        if peer.is_inner:
            return False
        if link.is_sender:
            return self._claim_tracker(peer, cast(Sender, link), performative)
        target = performative.target
        text = target.address if isinstance(target, Target) and isinstance(target.address, str) else ""
        if text == TRACKING:
            return _WRONG_WAY
        role = self._roles.get(text)
        if role is None:
            return False
        if self._directory.is_edge or (text == LOOKUP and peer.trunk is None):
            self._attaching.refuse_without_reason(link, _NOT_AN_EDGE)
        elif self._attaching.complete(link, link.remote_source, target):
            trunk = peer.trunk or Trunk(peer, 0)
            inlet = self._trunks.new_inlet(peer, trunk, cast(Receiver, link), role)
            inlet.is_control = True
            if text == HEARTBEAT:
                inlet.narrow(HEARTBEAT_WINDOW)
                # The edge router has to send heartbeats from now on.
                self._edges.heard[peer] = self._clock.now
            inlet.is_open = link.is_attached
            inlet.top_up()
        return True

    def _claim_tracker(self, peer: "Peer", link: Sender, performative: Attach) -> "bool | Error":
        source = performative.source
        text = source.address if isinstance(source, Source) and isinstance(source.address, str) else ""
        if text in self._roles:
            self._attaching.refuse_without_reason(link, _WRONG_WAY)
            return True
        if text != TRACKING:
            return False
        if peer.trunk is None or self._directory.is_edge:
            return _NOT_AN_EDGE
        if self._attaching.complete(link, source, link.remote_target):
            outlet = self._trunks.new_outlet(peer, peer.trunk, link, self._tracker_role)
            outlet.is_open = link.is_attached
            self._directory.tracking.begin(outlet)
        return True


class EdgeRole(ConnectionRole):
    """The role of an edge router's connection to this interior router."""

    def __init__(self, edges: Edges, claims: "Claims") -> None:
        self._edges = edges
        self._claims = claims

    def opened(self, peer: "Peer", performative: Open) -> None:
        """Start using the connection."""
        self._edges.connected(peer)

    def closed(self, peer: "Peer") -> None:
        """Forget it."""
        self._edges.lost(peer)

    def attached(self, peer: "Peer", link: "Link", performative: Attach) -> None:
        """Have the link claimed or refused."""
        self._claims.attached(peer, link, performative)


class HeartbeatRole(ControlRole):
    """The role of the link for heartbeats."""

    def __init__(
        self, clock: "Clock", observer: "Observer", settlement: Any, credit: "Credit", ends: "Ends", edges: Edges
    ) -> None:
        ControlRole.__init__(self, clock, observer, settlement, credit, ends)
        self._edges = edges

    def take(self, inlet: Inlet, octets: bytes) -> None:
        """Note a sign of life."""
        self._edges.heard[inlet.peer] = self._clock.now

    def left(self, inlet: Inlet) -> None:
        """Stop waiting for heartbeats."""
        self._edges.heard.pop(inlet.peer, None)


class LookupRole(ControlRole):
    """The role of the link by which an edge router asks whether an address is a link route."""

    def __init__(
        self, clock: "Clock", observer: "Observer", settlement: Any, credit: "Credit", ends: "Ends", edges: Edges
    ) -> None:
        ControlRole.__init__(self, clock, observer, settlement, credit, ends)
        self._edges = edges

    def _taken(self, inlet: Inlet, delivery: "Delivery", octets: bytes) -> None:
        """Answer, or reject what cannot be read."""
        is_read = self._edges.answer_lookup(inlet.peer, octets)
        if delivery.remote_settled:
            inlet.presettled += 1
        else:
            self._settlement.settle(inlet, delivery, ACCEPTED if is_read else _UNREADABLE)


class TrackerRole(LinkRole):
    """The role of the link for notices on addresses with consumers."""

    def __init__(self, directory: "Directory", credit: "Credit", ends: "Ends") -> None:
        self._directory = directory
        self._credit = credit
        self._ends = ends

    def flow(self, end: Outlet) -> None:
        """Send the notices that waited for credit."""
        self._credit.of_consumer(end)

    def ended(self, end: Outlet, error: Error | None) -> None:
        """Stop sending notices."""
        outlet: Outlet = end
        was_open = self._ends.begin_outlet(outlet)
        self._directory.tracking.end(outlet)
        outlet.link.session.end_unused()
        self._ends.finish_outlet(outlet, was_open, error)


def _is_question(body: Any) -> bool:
    """Whether a body names an address and a direction."""
    return isinstance(body, list) and len(body) >= 2 and isinstance(body[0], str)
