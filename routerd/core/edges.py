"""An interior router's side of its connections to edge routers (inter-router protocol 6).

To an interior router an edge router is a client with many links: a producer without address, which is where most of its
messages come from, a consumer for everything that is under `_edge/<its id>/`, and one of either kind for each address
that the edge router's own clients use. Beside them are the links that only edge routers have: a heartbeat, look-ups,
and the notices of address tracking.
"""

import math
from collections.abc import Callable
from typing import cast

from routerd.core.address import Address
from routerd.core.address_tracking import AddressTracking
from routerd.core.inlet import Inlet
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.peer import Peer
from routerd.core.settings import RouterSettings
from routerd.core.trunk import Trunk
from routerd.core.uplink import HEARTBEAT, TRACKING, Uplinks
from routerd.core.way import Way
from routerd.wire import (
    AmqpValue,
    Attach,
    ConnectionState,
    Error,
    Header,
    Link,
    Message,
    Open,
    Properties,
    Receiver,
    Sender,
    Source,
    Target,
    UInt,
    WireError,
)

LOOKUP = "_$qd.addr_lookup"
HEARTBEAT_S = 2.0
"""How often an edge router says that it is there."""
HEARTBEAT_WINDOW = 2
"""Heartbeats for which there is credit.

A qdrouterd counts what each flow adds: a flow that adds none lets it beat no more, and one flow lets it beat once.
So each heartbeat is answered by a flow of one.
"""
SILENCE_S = 8.0
"""After so long without a heartbeat, the connection of an edge router is closed."""
STANDSTILL_S = 5.0
"""A router that has not looked for so long has not read, either: the silence of edge routers begins anew."""
NOT_FOUND = 3
"""What a look-up answers for an address that is no link route (6.7)."""

_WRONG_WAY = Error(condition="amqp:not-allowed", description="this address is not for a link of that direction")
_NOT_AN_EDGE = Error(condition="qd:forbidden", description="this address is for edge routers only")
_LOST = Error(
    condition="amqp:connection:forced", description=f"no heartbeat has come on {HEARTBEAT} for {SILENCE_S:.0f} s"
)


class Edges(Uplinks):
    """Serves edge routers; in one, it hands on what comes from the interior router."""

    def __init__(
        self, settings: RouterSettings, observer: Observer, worker: int, workers: int, token: Callable[[], str]
    ) -> None:
        Uplinks.__init__(self, settings, observer, worker, workers, token)
        self._tracking = AddressTracking(self.addresses)
        # When each edge router was heard last, and when that was looked up.
        self._heard: dict[Peer, float] = {}
        self._looked_at = math.inf
        self.is_draining = False

    # --- the connection

    def edge_connected(self, peer: Peer, performative: Open) -> None:
        """Take a connection between an edge and an interior router into use."""
        if self.is_edge:
            self.interior_connected(peer, performative.container_id)
        else:
            peer.trunk = Trunk(peer, 0)
            peer.trunk.wanting = self.wanting

    def edge_lost(self, peer: Peer) -> None:
        """Forget a connection."""
        if peer.trunk is not None:
            self.wanting.pop(peer.trunk, None)
        self._heard.pop(peer, None)
        self._tracking.forget(peer)
        Uplinks.edge_lost(self, peer)

    def look_after_edges(self, now: float) -> None:
        """Say that we are there, or see who has not said so for too long; to be called every `HEARTBEAT_S`."""
        self.set_clock(now)
        self.beat()
        has_stood_still = now - self._looked_at > STANDSTILL_S
        self._looked_at = now
        for peer, heard in list(self._heard.items()):
            if has_stood_still:
                # What came meanwhile may not have been read yet.
                self._heard[peer] = now
            elif now - heard > SILENCE_S:
                self._close_silent(peer, now - heard)

    def _close_silent(self, peer: Peer, silence_s: float) -> None:
        """Close the connection of an edge router that is not heard any more."""
        del self._heard[peer]
        self.observer.heartbeat_lost(peer, silence_s)
        if peer.connection.state is ConnectionState.OPENED:
            peer.connection.close(_LOST)
        if peer.shell is not None:
            peer.shell.end_soon()

    def end_turn(self) -> None:
        """Tell edge routers who has consumers, unless this router is about to end.

        It has left the network then, and would say of each address that it has none. A qdrouterd in edge mode unbinds
        its links of these addresses. When the uplink is lost it keeps pointers to those links, gets no credit for the
        addresses at the next interior router, and aborts later.
        """
        if not self.is_draining:
            self._tracking.tell()
        Uplinks.end_turn(self)

    def serve_trunk(self, trunk: Trunk) -> None:
        """Send what waits for a connection, notices for an edge router among it."""
        Uplinks.serve_trunk(self, trunk)
        if not self.is_draining:
            self._tracking.go_on(trunk.peer)

    # --- links

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
            if text == HEARTBEAT:
                inlet.narrow(HEARTBEAT_WINDOW)
                if peer.trunk is not None:
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
            self._tracking.begin(outlet)
        return True

    def let_pass_large(self, outlet: Outlet) -> None:
        """Have large messages for an edge router's link take links of their own, so that others need not wait."""
        peer = outlet.peer
        trunk = peer.trunk
        if trunk is None or self.is_edge or not peer.is_edge:
            return
        performative = peer.connection.remote_open
        way = Way(outlet.address, peer.number, "" if performative is None else performative.container_id)
        way.end, way.beside = trunk, outlet
        outlet.side = way
        trunk.sides.setdefault(outlet.address, []).append(way)

    def forget_side(self, outlet: Outlet) -> None:
        """Forget the way beside a link that has ended."""
        way, outlet.side = outlet.side, None
        trunk = outlet.peer.trunk
        if way is not None and trunk is not None:
            sides = trunk.sides[outlet.address]
            sides.remove(way)
            if not sides:
                del trunk.sides[outlet.address]

    def edge_outlet_ended(self, outlet: Outlet) -> None:
        """Forget a link that edge routers are told by."""
        Uplinks.edge_outlet_ended(self, outlet)
        self._tracking.end(outlet)

    def service_ended(self, inlet: Inlet) -> None:
        """Forget a link of an edge router, or to one."""
        peer = inlet.peer
        if self._services.pop(inlet, None) == HEARTBEAT:
            self._heard.pop(peer, None)
        address = inlet.address
        if address is not None and not any(other.peer is peer and other is not inlet for other in address.inlets):
            self._tracking.sends_no_more(peer, address)
        Uplinks.service_ended(self, inlet)

    # --- addresses

    def consumers_changed(self, address: Address) -> None:
        """Note that consumers of clients came or went."""
        Uplinks.consumers_changed(self, address)
        self.destinations_changed(address)

    def destinations_changed(self, address: Address) -> None:
        """Note that who can receive from an address may have changed."""
        self._tracking.changed(address)

    def forget_if_idle(self, address: Address) -> None:
        """Forget an address that nobody uses, and who could receive from it."""
        Uplinks.forget_if_idle(self, address)
        if address.key not in self.addresses:
            self._tracking.forgotten(address.key)

    def edge_sends(self, peer: Peer, address: Address) -> None:
        """Note that a connection has another link to an address; an edge router is told whether it has consumers."""
        self._tracking.sends(peer, address)

    # --- messages

    def control_arrived(self, inlet: Inlet, octets: bytes) -> None:
        service = self._services.get(inlet)
        if service is None:
            Uplinks.control_arrived(self, inlet, octets)
        elif service == HEARTBEAT:
            self._heard[inlet.peer] = self.now
        elif service == TRACKING:
            self.take_notice(octets)
        elif service == LOOKUP:
            self._answer_lookup(inlet.peer, octets)

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
