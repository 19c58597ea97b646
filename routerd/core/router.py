"""One worker's part of a router: its connections, what each of their links is for, and the end of both.

The floors below, each in a module: `clients` (consumers and producers), `edges` (edge routers), `uplink` (what an edge
router is to an interior one), `trunks` (other routers), `ways` (how addresses are reached there), `siblings`
(addresses, other workers), `forwarder` (messages in), `endings` (what links leave behind), `flows` (credit), `waiting`
(messages that wait), `multicast` (copies out), `departures` (ways to other routers), `settlement` (outcomes back). Each
is a class that adds to the one below it: the engine tells one handler.
"""

from collections.abc import Callable
from typing import Any

from routerd.core.clients import Clients
from routerd.core.inlet import Inlet
from routerd.core.link_keeper import LinkKeeper
from routerd.core.observer import Observer
from routerd.core.outlet import Outlet
from routerd.core.peer import FABRIC, NORMAL, Peer
from routerd.core.policy.gate import LINK_DENIED, MESSAGE_TOO_LARGE
from routerd.core.policy.grant import Grant
from routerd.core.settings import DEFAULT_LINK_CAPACITY, AddressSettings, RouterSettings
from routerd.core.totals import Totals
from routerd.wire import (
    Attach,
    ConnectionState,
    Error,
    MessageSizeExceeded,
    Open,
    RemoteError,
    Scope,
    SessionState,
)
from routerd.wire.connection import Connection
from routerd.wire.link import Link
from routerd.wire.session import Session

FABRIC_CAPACITY = 2000
"""Deliveries that may be under way on one link between siblings: more than of a producer, who is not to wait for it."""
QUIET_S = 1.0
"""How long a producer is waited for to say that it has seen its credit withdrawn, when the router ends."""

_SHUTTING_DOWN = Error(condition="amqp:connection:forced", description="the router is shutting down")
_INCOMPLETE = Error(
    condition="amqp:precondition-failed",
    description="the unsettled map is incomplete, and none of its deliveries is known here: attach without it",
)
_BEGIN_RCVD = SessionState.BEGIN_RCVD
_OPEN_RCVD = ConnectionState.OPEN_RCVD
_OPENED = ConnectionState.OPENED
_CLOSED_BY_OPERATOR = Error(
    condition="amqp:connection:forced", description="the connection is closed by request of management"
)


class Router(Clients):
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
        Clients.__init__(
            self, settings, Observer() if observer is None else observer, worker, workers, token, is_alone
        )
        self.peers: dict[int, Peer] = {}
        self.totals = Totals()
        self._quiet_at = 0.0
        # By address key: who may take links out of our hands; and the links that were taken.
        self.keepers: dict[str, LinkKeeper] = {}
        self._kept: dict[Link, LinkKeeper] = {}
        self._last_peer = worker + 1 - workers

    def has_news(self) -> bool:
        """Whether the shell has to ask for more than octets when its turn ends."""
        return bool(self._changed or self._events or self.trunks or self.wanting) or (
            self.recorder is not None and self.recorder.is_pressed
        )

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
        if link.is_sender and link.is_incomplete:
            self._end_incomplete(link)
        elif link.context is not None:
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
            self.consumer_attached(peer, link, performative)
        else:
            self.producer_attached(peer, link, performative)

    def _end_incomplete(self, link: Link) -> None:
        """Have a peer attach anew: only what is resumed may be sent (2.7.3), and nothing is kept here for that."""
        if link.is_attached:
            link.detach(error=_INCOMPLETE)
        else:
            self.refuse(link, _INCOMPLETE)

    def _is_denied(self, peer: Peer, link: Link, performative: Attach) -> bool:
        error: Error | None = None
        if peer.grant is None or self.gate is None:
            # Rules of a service, and nobody who holds the link against them.
            error = LINK_DENIED
        else:
            grant: Grant = peer.grant
            if not grant.knows(peer, link, performative):
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

    # --- configuration

    def configure_address(self, settings: AddressSettings) -> None:
        """Treat addresses that come into use from now on by these settings; raises DuplicatePattern."""
        self._treatments.add(settings)
        self.treatments_changed()

    def forget_pattern(self, pattern: str) -> None:
        """Treat addresses that come into use as if the pattern were not configured; raises UnknownPattern."""
        self._treatments.remove(pattern)
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
        outlet.wait_no_more()
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
            self.forget_side(outlet)
            self._changed[address.key] = None
            self.consumers_changed(address)
            if address.local_count == 0:
                outlet.link.session.connection.work += len(address.inlets) >> 3
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
                if not (peer.is_fabric or peer.is_router or _stays(inlet)):
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
                elif inlet.link.is_attached and not _stays(inlet):
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


def _stays(inlet: Inlet) -> bool:
    """Whether an inlet is of use to the end: endpoints inside the router answer there, or an edge router is heard."""
    return (inlet.peer.is_inner and inlet.address is None) or inlet.is_control
