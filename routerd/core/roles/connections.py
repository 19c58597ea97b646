"""The connections of a worker, from their opens to their ends, and the sessions that peers begin on them."""

from typing import TYPE_CHECKING, Any

from routerd.core.links.peer import FABRIC, NORMAL, Peer
from routerd.core.policy.gate import MESSAGE_TOO_LARGE
from routerd.core.settings import DEFAULT_LINK_CAPACITY
from routerd.wire import ConnectionState, Error, MessageSizeExceeded, Scope, SessionState

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.role import ConnectionRole
    from routerd.core.links.routed_end import RoutedEnd
    from routerd.core.observer import Observer
    from routerd.core.roles.connection_routes import ConnectionRoutes
    from routerd.core.roles.refusals import PolicyClaim
    from routerd.core.roles.routed_links import RoutedLinks
    from routerd.wire import Open, RemoteError
    from routerd.wire.session import Session

FABRIC_CAPACITY = 2000
"""Deliveries under way on one link between siblings: more than a producer may have, so that none waits for the link."""

_BEGIN_RCVD = SessionState.BEGIN_RCVD
_OPEN_RCVD = ConnectionState.OPEN_RCVD
_OPENED = ConnectionState.OPENED
_CLOSED_BY_OPERATOR = Error(
    condition="amqp:connection:forced", description="the connection is closed by request of management"
)


class Connections:
    """Knows the peers of a worker. Policy, link routes of connections and routed links hear of connections from it."""

    client_role: "ConnectionRole"
    """For connections whose role has no row in `roles`."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        policy: "PolicyClaim",
        routes: "ConnectionRoutes",
        routed: "RoutedLinks",
        worker: int,
        workers: int,
        gives_credit_at_once: bool,
    ) -> None:
        """`worker` of `workers` is the index of this one: numbers of connections differ between workers."""
        self.peers: dict[int, Peer] = {}
        self.roles: dict[str, ConnectionRole] = {}
        self._clock = clock
        self._observer = observer
        self._policy = policy
        self._routes = routes
        self._routed = routed
        self._workers = workers
        self._last_number = worker + 1 - workers
        self._gives_credit_at_once = gives_credit_at_once

    def new_peer(
        self,
        role: str = NORMAL,
        capacity: int = 0,
        strips_in: bool = True,
        strips_out: bool = True,
        is_multi_tenant: bool = False,
        place: str = "",
    ) -> Peer:
        """Return the record of a new connection; the caller sets its `connection` and that connection's `context`.

        `place` is the name of its listener or connector, if it has one.
        """
        self._last_number += self._workers
        if role == FABRIC:
            capacity = FABRIC_CAPACITY
        peer = Peer(
            self._last_number,
            role,
            capacity=capacity or DEFAULT_LINK_CAPACITY,
            strips_in=strips_in,
            strips_out=strips_out,
            is_multi_tenant=is_multi_tenant,
            place=place,
        )
        is_client = peer.is_external and not (peer.is_router or peer.is_edge)
        # Nothing that endpoints inside the router send is dropped, such as answers of management.
        peer.gives_credit_at_once = self._gives_credit_at_once and is_client
        peer.role = self.roles.get(role, self.client_role)
        self.peers[peer.number] = peer
        return peer

    def opened(self, peer: Peer, performative: "Open") -> None:
        """Answer the open, unless policy has to wait for an answer first."""
        gate = self._policy.gate
        if gate is None or not gate.holds(peer, performative):
            self._open(peer, performative)

    def go_on(self, peer: Peer, performative: "Open | None") -> None:
        """Continue with a connection that waited; None means that it was refused."""
        if performative is not None:
            self._open(peer, performative)
        peer.connection.release(self._clock.now)

    def _open(self, peer: Peer, performative: "Open") -> None:
        gate = self._policy.gate
        if peer.connection.state is _OPEN_RCVD:
            peer.connection.open(None if gate is None else gate.told(peer))
        peer.is_open = True
        peer.opened_at = self._clock.now
        if peer.is_multi_tenant:
            # Policy may use another name for the vhost than the peer, and policy's name counts.
            peer.tenant = (performative.hostname or "") if peer.grant is None else peer.grant.vhost
        peer.role.opened(peer, performative)
        self._observer.connection_opened(peer, performative)

    def closed(self, peer: Peer, error: Error | None) -> None:
        """Forget a connection."""
        peer.is_open = False
        peer.error = error
        self.peers.pop(peer.number, None)
        if self._policy.gate is not None:
            self._policy.gate.closed(peer)
        if self._routes.by_peer:
            self._routes.closed(peer)
        peer.role.closed(peer)
        self._observer.connection_closed(peer, error)

    def authenticated(self, peer: Peer) -> None:
        """Note the user of a peer."""
        sasl = peer.connection.sasl
        if sasl is not None and sasl.identity is not None:
            peer.user = sasl.identity

    def violated(self, peer: Peer, error: "RemoteError") -> None:
        """Report a violation. The engine has told the peer, which may not answer our close either."""
        if error.scope is Scope.CONNECTION and peer.shell is not None:
            peer.shell.end_soon()
        self._observer.violation(peer, error)
        if peer.routed and error.scope is not Scope.CONNECTION:
            self._routed.violated(peer, error)
        gate = self._policy.gate
        if gate is not None and peer.grant is not None and isinstance(error, MessageSizeExceeded):
            gate.message_too_large(peer, _number_of_faulty(peer))
            if peer.connection.state is _OPENED:
                peer.connection.close(MESSAGE_TOO_LARGE)
            if peer.shell is not None:
                peer.shell.end_soon()

    def close(self, number: int) -> bool:
        """Close the connection of a client; return whether the number exists."""
        peer = self.peers.get(number)
        if peer is None or not peer.is_external:
            return False
        if peer.connection.state is _OPENED:
            peer.connection.close(_CLOSED_BY_OPERATOR)
        if peer.shell is not None:
            peer.shell.end_soon()
        return True

    # --- sessions

    def session_begun(self, session: "Session", performative: Any) -> None:
        """Answer a session that the peer began."""
        if session.state is not _BEGIN_RCVD:
            return
        peer: Peer = session.connection.context
        gate = self._policy.gate
        if gate is None or peer.grant is None:
            session.begin()
            return
        error = gate.session_error(peer)
        if error is None:
            session.begin(incoming_window=gate.session_window(peer))
            session.context = peer.grant
        else:
            session.begin()
            session.end(error)

    def session_ended(self, session: "Session") -> None:
        """Stop counting it, if it counted."""
        if session.context is not None and self._policy.gate is not None:
            session.context = None
            self._policy.gate.session_ended(session.connection.context)


def _number_of_faulty(peer: Peer) -> int:
    """Return the number of the producer's link that was just detached for an error."""
    ends: list[Inlet | RoutedEnd] = [*peer.inlets, *peer.routed]
    return next((end.number for end in ends if end.link.has_error and not end.link.is_sender), 0)
