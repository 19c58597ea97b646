"""One worker's part of a router: its connections, and the links that peers attach to addresses.

The floors below, each in a module: `edges` (edge routers), `trunks` (other routers), `siblings` (addresses, other
workers), `forwarder` (messages in), `multicast` (copies out), `departures` (ways to other routers), `settlement`
(outcomes back). Each is a class that adds to the one below it: the engine tells one handler.
"""

from collections.abc import Callable
from typing import Any, cast

from routerd.core.address import Address
from routerd.core.addresses import canonical
from routerd.core.edges import DOWNLINK, Edges
from routerd.core.inlet import Inlet
from routerd.core.link_keeper import LinkKeeper
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.passage import section
from routerd.core.peer import FABRIC, NORMAL, Peer
from routerd.core.policy.gate import LINK_DENIED, MESSAGE_TOO_LARGE, Gate
from routerd.core.settings import DEFAULT_LINK_CAPACITY, AddressSettings, Distribution, RouterSettings
from routerd.core.totals import Totals
from routerd.core.treatment import Treatment
from routerd.wire import (
    Attach,
    ConnectionState,
    Coordinator,
    Error,
    LinkState,
    MessageSizeExceeded,
    Open,
    RemoteError,
    Scope,
    SessionState,
    Source,
    Target,
)
from routerd.wire.connection import Connection
from routerd.wire.link import Link
from routerd.wire.receiver import Receiver
from routerd.wire.sender import Sender
from routerd.wire.session import Session

FABRIC_CAPACITY = 1000
"""Deliveries that may be under way on one link between siblings."""
ADDRESS_MAX = 4096
"""Characters of an address: a link between siblings has it three times in its attach, which is one frame."""
QUIET_S = 1.0
"""How long a producer is waited for to say that it has seen its credit withdrawn, when the router ends."""
KNOWN_DESTINATIONS_MAX = 10_000
"""Addresses of anonymous senders whose keys are remembered."""

_SHUTTING_DOWN = Error(condition="amqp:connection:forced", description="the router is shutting down")
_UNAVAILABLE = Error(condition="amqp:not-found", description="Node not found")
_NO_DESTINATION = Error(
    condition="amqp:not-found", description="Deliveries cannot be sent to an unavailable address"
)
_NO_SOURCE = Error(condition="amqp:invalid-field", description="a receiver needs a source with an address, or dynamic")
_NO_TARGET = Error(condition="amqp:invalid-field", description="a sender needs a target")
_TOO_LONG = Error(
    condition="amqp:invalid-field", description=f"an address has {ADDRESS_MAX} characters at most"
)
_NOT_TEXT = Error(condition="amqp:invalid-field", description="an address has to be a string")
_NO_COORDINATOR = Error(
    condition="amqp:precondition-failed",
    description="there is no transaction coordinator behind this router",
)
_WAYPOINT = "qd.waypoint"
_DOWN = Treatment(Distribution.BALANCED)
_ATTACH_RCVD = LinkState.ATTACH_RCVD
_BEGIN_RCVD = SessionState.BEGIN_RCVD
_OPEN_RCVD = ConnectionState.OPEN_RCVD
_OPENED = ConnectionState.OPENED
_CLOSED_BY_OPERATOR = Error(
    condition="amqp:connection:forced", description="the connection is closed by request of management"
)


class Router(Edges):
    """Handles the events of all connections of a worker."""

    def __init__(
        self,
        settings: RouterSettings,
        token: Callable[[], str],
        observer: Observer | None = None,
        *,
        worker: int = 0,
        workers: int = 1,
        is_alone: bool = True,
    ) -> None:
        """Be the worker of this index, one of so many: no two of them number connections or links alike."""
        Edges.__init__(self, settings, Observer() if observer is None else observer, worker, workers, token)
        self.is_alone = is_alone
        # Holds what begins against policy; None where none is configured.
        self.gate: Gate | None = None
        self.peers: dict[int, Peer] = {}
        self.totals = Totals()
        self.is_draining = False
        self._quiet_at = 0.0
        # By address key: who may take links out of our hands; and the links that were taken.
        self.keepers: dict[str, LinkKeeper] = {}
        self._kept: dict[Link, LinkKeeper] = {}
        self._destinations: dict[str, str | Error] = {}
        self._last_peer = worker + 1 - workers

    # --- connections

    def new_peer(
        self,
        role: str = NORMAL,
        capacity: int = 0,
        strips_in: bool = True,
        strips_out: bool = True,
        is_multi_tenant: bool = False,
    ) -> Peer:
        """Return the record of a connection that is about to be made; set its `connection` and that one's `context`."""
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
        )
        self.peers[peer.number] = peer
        return peer

    def on_opened(self, connection: Connection, performative: Open) -> None:
        """Answer the open; a sibling's links can be attached from now on."""
        peer: Peer = connection.context
        if self.gate is not None and self.gate.holds(peer, performative):
            return
        self._open(peer, performative)

    def go_on(self, peer: Peer, performative: Open | None) -> None:
        """Go on with a connection that waited; without its open it was refused."""
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
            # Policy may know the vhost by another name than the peer, which is the one that counts.
            peer.tenant = (performative.hostname or "") if peer.grant is None else peer.grant.vhost
        if peer.is_fabric:
            self.sibling_connected(peer, performative)
        elif peer.is_router:
            self.trunk_connected(peer, performative)
        elif peer.is_edge:
            self.edge_connected(peer, performative)
        self.observer.connection_opened(peer, performative)

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        """Forget the connection."""
        peer: Peer = connection.context
        peer.is_open = False
        peer.error = error
        self.peers.pop(peer.number, None)
        if self.gate is not None:
            self.gate.closed(peer)
        if peer.is_fabric:
            self.sibling_lost(peer)
        elif peer.is_router:
            self.trunk_lost(peer)
        elif peer.is_edge:
            self.edge_lost(peer)
        self.observer.connection_closed(peer, error)

    def on_authenticated(self, connection: Connection) -> None:
        """Note who the peer is."""
        peer: Peer = connection.context
        if connection.sasl is not None and connection.sasl.identity is not None:
            peer.user = connection.sasl.identity

    def on_authentication_failed(self, connection: Connection) -> None:
        """Report it."""
        self.observer.authentication_failed(connection.context)

    def on_violation(self, connection: Connection, error: RemoteError) -> None:
        """Report it; the engine has told the peer, who may not answer our close, either."""
        peer: Peer = connection.context
        if error.scope is Scope.CONNECTION and peer.shell is not None:
            peer.shell.end_soon()
        self.observer.violation(peer, error)
        if self.gate is not None and peer.grant is not None and isinstance(error, MessageSizeExceeded):
            self.gate.message_too_large(peer, _number_of_faulty(peer))
            if connection.state is _OPENED:
                connection.close(MESSAGE_TOO_LARGE)
            if peer.shell is not None:
                peer.shell.end_soon()

    def on_session_begun(self, session: Session, performative: Any) -> None:
        """Answer a session that the peer began."""
        if session.state is not _BEGIN_RCVD:
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
        """Count it no more, if it counted."""
        if session.context is not None and self.gate is not None:
            session.context = None
            self.gate.session_ended(session.connection.context)

    def set_blocked(self, peer: Peer, is_blocked: bool) -> None:
        """Note whether the transport of a connection has room; when it has again, what waited for it goes on."""
        peer.is_blocked = is_blocked
        if not is_blocked and peer.starved:
            self.relieve(peer)

    def watch(self, peer: Peer, is_watched: bool) -> None:
        """Have the observer told of the messages of a connection, or not any more."""
        peer.is_watched = is_watched
        ends: list[Inlet | Outlet] = [*peer.inlets, *peer.outlets]
        for end in ends:
            end.is_watched = is_watched

    # --- attaches

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Give a new link its place, or refuse it; complete one of our own."""
        peer: Peer = link.session.connection.context
        if link.context is not None:
            self.own_link_answered(link)
        elif peer.is_fabric:
            self.fabric_attached(peer, link, performative)
        elif peer.is_router:
            self.trunk_attached(peer, link, performative)
        elif self._kept and link in self._kept:
            self._kept[link].attached(link, performative)
        elif (peer.grant is not None or peer.service_rules is not None) and self._is_denied(peer, link, performative):
            pass
        elif not peer.is_inner and self.edge_link_attached(peer, link, performative):
            return
        elif self.is_draining:
            self.refuse(link, _SHUTTING_DOWN)
        elif self.keepers and self._is_taken(peer, link, performative):
            return
        elif not peer.is_inner and self.is_for_routers(performative):
            self.refuse_router_link(link)
        elif link.is_sender:
            self._consumer_attached(peer, link, performative)
        else:
            self._producer_attached(peer, link, performative)

    def _is_denied(self, peer: Peer, link: Link, performative: Attach) -> bool:
        error: Error | None = None
        if peer.service_rules is not None and not peer.service_rules.allow(link, performative, peer.user):
            error = LINK_DENIED
        elif peer.grant is not None and self.gate is not None:
            error = self.gate.link_error(peer, link, performative)
        if error is not None:
            self.refuse(link, error)
        return error is not None

    def keep(self, link: Link, keeper: LinkKeeper) -> None:
        """Tell a keeper what becomes of a link, and have nothing to do with it."""
        self._kept[link] = keeper

    def _is_taken(self, peer: Peer, link: Link, performative: Attach) -> bool:
        terminus = performative.source if link.is_sender else performative.target
        text = getattr(terminus, "address", None)
        keeper = self.keepers.get(self._space.key(text, 0, peer.tenant)) if isinstance(text, str) else None
        if keeper is None or peer.is_inner:
            return False
        error = keeper.refusal(link)
        if error is not None:
            self.refuse(link, error)
        elif keeper.keeps(link):
            self.keep(link, keeper)
            keeper.attached(link, performative)
        else:
            return False
        return True

    def _consumer_attached(self, peer: Peer, link: Link, performative: Attach) -> None:
        source = performative.source
        if not isinstance(source, Source):
            self.refuse(link, _NO_SOURCE)
            return
        if source.dynamic:
            source.address = self._space.reply_address(self._token())
        address = self._address_of(peer, source, False)
        if isinstance(address, Error):
            self.refuse(link, address)
            return
        if address is None:
            self.refuse(link, _NO_SOURCE)
            return
        source.filter = None  # none is applied (3.5.3)
        outlet = Outlet(self.take_link_number(), peer, cast(Sender, link), address)
        link.context = outlet
        outlet.source = source
        peer.outlets[outlet] = None
        address.add(outlet)
        self._changed[address.key] = None
        self.consumers_changed(address)
        if address.local_count == 1:
            self.consumers_came(address)
            if self.recorder is not None and address.remote_count == 0:
                self.recorder.events.address_added(address.key, self.now)
        if self.is_alone:
            self.answer(outlet)
        else:
            self._awaiting.append((self._sequence + 1, outlet))

    def answer(self, outlet: Outlet) -> None:
        link = outlet.link
        if link.state is not _ATTACH_RCVD or link.context is not outlet or not link.session.is_open:
            return
        if not self.complete(link, outlet.source, link.remote_target):
            return
        outlet.source = None
        outlet.is_open = link.is_attached
        outlet.address.note_credit()
        outlet.note_flow(self.now)
        self.observer.link_attached(outlet)
        if self.recorder is not None:
            self.recorder.events.consumer_attached(outlet, self.now)
        # Credit, and the wish to have it drained, may have come before the answer.
        self.serve_outlet(outlet)
        self._answer_drain(outlet)

    def _producer_attached(self, peer: Peer, link: Link, performative: Attach) -> None:
        target = performative.target
        if isinstance(target, Coordinator):
            self.refuse(link, _NO_COORDINATOR)
            return
        if not isinstance(target, Target):
            self.refuse(link, _NO_TARGET)
            return
        if target.dynamic:
            target.address = f"amqp:/_$temp.{self._token()}"
        address = self._address_of(peer, target, True)
        if isinstance(address, Error):
            self.refuse(link, address)
            return
        if not self.complete(link, link.remote_source, target):
            if address is not None:
                self.forget_if_idle(address)
            return
        inlet = Inlet(self.take_link_number(), peer, cast(Receiver, link), address)
        if peer.grant is not None and self.gate is not None:
            inlet.guard = self.gate.guard_for(peer, None if address is None else target.address)
        if peer.is_edge:
            inlet.trunk = peer.trunk
            inlet.is_withheld = address is not None
        link.context = inlet
        peer.inlets[inlet] = None
        inlet.is_open = link.is_attached
        if address is not None:
            self.producers_changed(address)
            self.edge_sends(peer, address)
            self._mark_entries(inlet, address, peer.tenant, target.address)
            address.enter(inlet)
            if address.missing or address.ways:
                self.refresh(address)
        self.observer.link_attached(inlet)
        if self.recorder is not None:
            self.recorder.events.producer_attached(inlet, self.now)
        inlet.top_up()

    def _mark_entries(self, inlet: Inlet, address: Address, tenant: str, text: str) -> None:
        """Prepare what messages of a link are marked with when they leave for another router."""
        phase = _phase_of(address.key)
        # Nobody else knows of tenants: their addresses are written out.
        to = address.key[2:] if tenant and address.key[:1] == "M" else text
        inlet.entry, inlet.entry_count = self.passages.entry(to, phase)
        inlet.entry_section = section(inlet.entry, inlet.entry_count)

    def _address_of(self, peer: Peer, terminus: Any, is_producer: bool) -> "Address | Error | None":
        """Return the address of a terminus, made if it is new; None if it names none."""
        text = terminus.address
        if text is None or text == "":
            return None
        if not isinstance(text, str):
            return _NOT_TEXT
        if peer.is_edge and DOWNLINK in terminus.capabilities and not (self.is_edge or is_producer):
            return _TOO_LONG if len(text) >= ADDRESS_MAX else self.address_with(f"H{text}", _DOWN)
        treatment = self._treatment(text, peer.tenant)
        phase = treatment.ingress_phase if is_producer else treatment.egress_phase
        for capability in terminus.capabilities:
            if capability.startswith(_WAYPOINT):
                phase = _waypoint_phase(capability, is_producer, phase)
        key = self._space.key(text, phase, peer.tenant)
        if len(key) > ADDRESS_MAX:
            return _TOO_LONG
        if treatment.distribution is Distribution.UNAVAILABLE and not self._is_provided(peer, key):
            return _UNAVAILABLE
        return self.address_with(key, treatment) if key else None

    def _is_provided(self, peer: Peer, key: str) -> bool:
        # What is closed to clients can be opened by endpoints inside the router, of this worker or a sibling.
        return (
            peer.is_inner or key in self.addresses or self.remote_consumers(key) > 0 or self.network.reaches(key)
        )

    def _treatment(self, text: str, tenant: str) -> Treatment:
        treatment = self._treatments.of(text)
        if not tenant or canonical(text).startswith("_"):
            return treatment
        return self._treatments.of(f"{tenant}/{canonical(text)}")

    def destination(self, inlet: Inlet, to: str) -> "Address | Error | None":
        """Return the address of a message by its `to`: one that somebody uses, or None."""
        tenant = inlet.peer.tenant
        name = f"{tenant}/{to}" if tenant else to
        key = self._destinations.get(name)
        if key is None:
            key = self._destination_key(to, tenant)
            if len(self._destinations) >= KNOWN_DESTINATIONS_MAX:
                self._destinations.clear()
            self._destinations[name] = key
        if not isinstance(key, str):
            return key
        address = self.addresses.get(key)
        if address is None:
            address = self.passing_address(key)
            if address is None:
                return self.fallback()
        elif self.is_edge and key[:1] == "M" and not address.has_outlet(False):
            return self.fallback()
        if address.missing or address.ways:
            self._attach_for_message(address)
        return address

    def _destination_key(self, to: str, tenant: str) -> "str | Error":
        treatment = self._treatment(to, tenant)
        if treatment.distribution is Distribution.UNAVAILABLE:
            return _NO_DESTINATION
        return self._space.key(to, treatment.ingress_phase, tenant)


    def configure_address(self, settings: AddressSettings) -> None:
        """Treat addresses that come into use from now on by these settings; raises DuplicatePattern."""
        self._treatments.add(settings)
        self._destinations.clear()
        self.treatments_changed()

    def forget_pattern(self, pattern: str) -> None:
        """Treat addresses that come into use as if the pattern were not configured; raises UnknownPattern."""
        self._treatments.remove(pattern)
        self._destinations.clear()
        self.treatments_changed()

    # --- ends of links

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        """Forget a link, and settle what it leaves behind."""
        end = link.context
        if end is None:
            keeper = self._kept.pop(link, None)
            if keeper is not None:
                keeper.detached(link, error)
            return
        if link.is_sender:
            self._outlet_ended(end, error)
        else:
            self._inlet_ended(end, error)
        link.context = None

    def _outlet_ended(self, outlet: Outlet, error: Error | None) -> None:
        was_open = outlet.is_open
        address = outlet.address
        peer = outlet.peer
        self.outlet_lost(outlet)
        peer.outlets.pop(outlet, None)
        peer.starved.pop(outlet, None)
        address.remove(outlet)
        if outlet.trunk is not None or outlet.way is not None or outlet in self._retiring:
            self.router_outlet_ended(outlet)
            self.edge_outlet_ended(outlet)
        if outlet.trunk is not None:
            session = outlet.link.session
            if session.is_open and not session.links():
                session.end()
        elif outlet.is_fabric:
            neighbour = self.neighbours.get(peer.sibling)
            if neighbour is not None and neighbour.outlets.get(address.key) is outlet:
                del neighbour.outlets[address.key]
            session = outlet.link.session
            if session.is_open and not session.links():
                session.end()
            # The sibling may have consumers again since the link was given up.
            self.refresh(address)
        else:
            self._changed[address.key] = None
            self.consumers_changed(address)
            self.consumers_went(address)
            if self.recorder is not None and address.local_count == address.remote_count == 0:
                self.recorder.events.address_removed(address.key, self.now)
        self.totals.add(outlet)
        if was_open:
            self.observer.link_lost(outlet, error)
            if self.recorder is not None:
                self.recorder.events.consumer_detached(outlet, self.now)

    def _inlet_ended(self, inlet: Inlet, error: Error | None) -> None:
        self.inlet_lost(inlet)
        inlet.peer.inlets.pop(inlet, None)
        if inlet.trunk is not None:
            self.router_inlet_ended(inlet)
            self.service_ended(inlet)
        address = inlet.address
        if address is not None:
            address.leave(inlet)
            self.producers_changed(address)
            if inlet.is_fabric:
                self.siblings_drained(address)
            self.forget_if_idle(address)
        self.totals.add(inlet)
        self.observer.link_lost(inlet, error)
        if self.recorder is not None:
            self.recorder.events.producer_detached(inlet, self.now)


    # --- the end

    def close_connection(self, number: int) -> bool:
        """Close the connection of a client; whether there is one of this number."""
        peer = self.peers.get(number)
        if peer is None or not peer.is_external:
            return False
        if peer.connection.state is _OPENED:
            peer.connection.close(_CLOSED_BY_OPERATOR)
        if peer.shell is not None:
            peer.shell.end_soon()
        return True

    def drain(self) -> None:
        """Take no new links and no new messages; what is under way may settle."""
        self.is_draining = True
        self._quiet_at = self.now + QUIET_S
        self.leave_network()
        for peer in self.peers.values():
            for inlet in peer.inlets:
                if not (peer.is_fabric or peer.is_router or _has_answers(inlet)):
                    inlet.is_quiet = inlet.link.credit == 0
                    inlet.withdraw()
                    inlet.is_open = False
                    if not inlet.is_quiet and inlet.link.is_attached:
                        # The answer comes behind everything that was sent on the credit of before.
                        inlet.link.flow(echo=True)

    def is_drained(self) -> bool:
        """Detach producers that have nothing under way any more; whether nothing at all is."""
        is_drained = True
        is_late = self.now >= self._quiet_at
        for peer in self.peers.values():
            for outlet in peer.outlets:
                if outlet.link.unsettled_count or outlet.waiting:
                    is_drained = False
            for inlet in peer.inlets:
                if inlet.link.unsettled_count or inlet.waiting or inlet.current is not None:
                    is_drained = False
                elif peer.is_fabric or peer.is_router:
                    continue
                elif inlet.link.is_attached and not _has_answers(inlet):
                    if inlet.is_quiet or is_late:
                        inlet.link.detach(error=_SHUTTING_DOWN)
                    else:
                        is_drained = False
        return is_drained

    def close_all(self) -> None:
        """Settle what is left, detach every link with the reason, and close every connection."""
        for peer in self.peers.values():
            for outlet in peer.outlets:
                self.outlet_lost(outlet)
                outlet.address.remove(outlet)
        for address in list(self.addresses.values()):
            address.remote_count = 0
            for way in address.ways:
                self.way_lost(way)
            address.ways = []
            self.release_parked(address)
        for peer in list(self.peers.values()):
            ends: list[Inlet | Outlet] = [*peer.inlets, *peer.outlets]
            for end in ends:
                if end.link.is_attached:
                    end.link.detach(error=_SHUTTING_DOWN)
            if peer.is_open and not peer.connection.is_finished:
                peer.is_open = False
                # One that was closed before waits for the answer to that.
                if peer.connection.state is _OPENED:
                    peer.connection.close(_SHUTTING_DOWN)


def _number_of_faulty(peer: Peer) -> int:
    """Return the number of the producer's link that has just been detached for an error."""
    return next((inlet.number for inlet in peer.inlets if inlet.link.has_error), 0)


def _has_answers(inlet: Inlet) -> bool:
    """Whether an inlet is for what endpoints inside the router answer, which they do to the end."""
    return inlet.peer.is_inner and inlet.address is None


def _phase_of(key: str) -> int:
    """Return the phase of a mobile address; others have none."""
    return int(key[1]) if key[:1] == "M" and key[1:2].isdecimal() else 0


def _waypoint_phase(capability: str, is_producer: bool, phase: int) -> int:
    """Return the phase at which a terminus that claims to be a waypoint takes part."""
    if capability == _WAYPOINT:
        ordinal = 1
    elif capability.startswith(_WAYPOINT + ".") and capability[len(_WAYPOINT) + 1 :].isdecimal():
        ordinal = int(capability[len(_WAYPOINT) + 1 :])
    else:
        return phase
    ordinal = min(ordinal, 9)
    return ordinal if is_producer else max(0, ordinal - 1)
