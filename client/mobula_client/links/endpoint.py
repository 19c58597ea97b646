"""Our end of one connection: one session, and all links on it.

The shell gives it octets and the time, and writes its output. When the connection is over, the links stay in the
registry, for the endpoint of the next connection.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Protocol

from mobula_client.engine import (
    Attach,
    Begin,
    Connection,
    ConnectionConfig,
    Delivery,
    Error,
    Handler,
    Link,
    LinkState,
    Open,
    Receiver,
    RemoteError,
    SaslClient,
    SaslFailed,
    Scope,
    Session,
    StateError,
)
from mobula_client.errors import AuthenticationFailed, ConnectionFailed, PeerClosed
from mobula_client.links.deadlines import NEVER
from mobula_client.links.link import RecoverableLink


class EndpointHost(Protocol):
    """The shell, as an endpoint sees it."""

    def on_output(self) -> None:
        """There is output; called once until it is taken."""

    def on_ready(self) -> None:
        """The peer has opened, and the links are being attached."""

    def on_over(self, reason: ConnectionFailed | None) -> None:
        """The connection is over; None if we closed it."""


class Endpoint(Handler):
    """One connection, and the links of a registry on it."""

    def __init__(
        self,
        router: str,
        config: ConnectionConfig,
        sasl: SaslClient,
        links: Mapping[str, RecoverableLink],
        host: EndpointHost,
    ) -> None:
        self.router = router
        self.links = links
        self.host = host
        self.connection = Connection(config, self, is_client=True, sasl=sasl)
        self.connection.context = self
        self.session: Session | None = None
        self.is_ready = False
        self.is_blocked = False
        """Whether the transport has no room for more output."""
        self.is_over = False
        self._is_closing = False
        self._sasl = sasl
        self._reason: ConnectionFailed | None = None
        self._now = self._heard_at = 0.0
        # There may be many links, and in most turns few of them have anything to finish.
        self._asking: set[RecoverableLink] = set()
        self._is_deadline_stale = True
        self._link_deadline = NEVER

    # --- for the shell

    def start(self, now: float) -> None:
        """Begin, at the time when the transport is connected."""
        self._now = self._heard_at = now
        self.connection.start(now)
        self.connection.open()

    def receive(self, data: bytes, now: float) -> None:
        """Take octets of the peer."""
        self._now = self._heard_at = now
        self.connection.receive_data(data, now)
        self._check_over()

    def take_output(self, now: float) -> bytes | bytearray:
        """Return the output; links do first what they left until now."""
        while self._asking:
            self._asking.pop().finish_turn()
        output = self.connection.data_to_send(now)
        self._check_over()
        return output

    def next_deadline(self) -> float:
        """Return when `tick` is due."""
        if self._is_deadline_stale:
            self._is_deadline_stale = False
            self._link_deadline = min((link.deadline for link in self._links()), default=NEVER)
        return min(self.connection.next_deadline(), self._link_deadline if self.is_ready else NEVER)

    def tick(self, now: float) -> None:
        """Do what is due: heartbeats, and links that want to attach again."""
        self._now = now
        self.connection.tick(now)
        self._check_over()
        if not self.is_ready or self.is_over or self._link_deadline > now:
            return
        self._is_deadline_stale = True
        for link in self._links():
            if link.engine is None and link.attach_at <= now:
                self._attach(link)
            elif link.deadline <= now:
                link.tick(now)

    @property
    def now(self) -> float:
        """The time of what happened last."""
        return self._now

    @property
    def silent_s(self) -> float:
        """How long the peer had been silent by then."""
        return self._now - self._heard_at

    def set_blocked(self, is_blocked: bool) -> None:
        """Note whether the transport has room."""
        self.is_blocked = is_blocked
        if not is_blocked:
            for link in self._links():
                link.flowed()

    def add(self, link: RecoverableLink) -> None:
        """Attach a link that is new in the registry, as soon as the connection is open."""
        if self.is_ready and not self.is_over:
            self._attach(link)

    def close(self) -> None:
        """Close in order; the peer's close ends the connection."""
        self._is_closing = True
        try:
            self.connection.close()
        except StateError:
            self.transport_closed(None)

    def transport_closed(self, reason: str | None) -> None:
        """Note that the transport is gone."""
        if self._reason is None and reason is not None:
            self._reason = PeerClosed("amqp:connection:forced", reason)
        self.connection.transport_closed()
        self._check_over()

    # --- events of the engine

    def on_output(self, connection: Connection) -> None:
        self.host.on_output()

    def on_authentication_failed(self, connection: Connection) -> None:
        if self._reason is None:
            code = self._sasl.outcome
            reason = "the exchange was not finished" if code is None else f"the outcome of SASL is {code.name.lower()}"
            self._reason = AuthenticationFailed(self.router, reason)

    def on_opened(self, connection: Connection, performative: Open) -> None:
        session = self.session = connection.session()
        session.begin()

    def on_session_begun(self, session: Session, performative: Begin) -> None:
        if session is not self.session:
            session.begin()
            session.end()
            return
        self.is_ready = True
        self.host.on_ready()
        for link in self._links():
            if link.engine is None:
                self._attach(link)

    def on_session_ended(self, session: Session, error: Error | None) -> None:
        if session is self.session and not self._is_closing and not self.connection.is_finished:
            # Links without a session are of no use, and a new connection gives them one.
            self._reason = self._reason or _peer_closed(error)
            self.close()

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        if self._reason is None and not self._is_closing:
            self._reason = _peer_closed(error)

    def on_violation(self, connection: Connection, error: RemoteError) -> None:
        if self._reason is None and error.scope is Scope.CONNECTION:
            if isinstance(error, SaslFailed):
                self._reason = AuthenticationFailed(self.router, error.description)
            else:
                self._reason = PeerClosed(error.condition, error.description)

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        owner = self._owner(link)
        if owner is not None:
            owner.attached(performative)
        elif link.state is LinkState.ATTACH_RCVD:
            link.refuse(Error(condition="amqp:not-found", description="a client has no addresses"))

    def on_link_flow(self, link: Link) -> None:
        if (owner := self._owner(link)) is not None:
            owner.flowed()

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        owner = self._owner(link)
        if owner is not None and self.session is not None and self.session.is_open:
            owner.detached(closed, error, self._now)
            self._is_deadline_stale = True

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        if (owner := self._owner(receiver)) is not None:
            owner.transferred(delivery, bytes(data[start:end]))

    def on_disposition(self, delivery: Delivery) -> None:
        if (owner := self._owner(delivery.link)) is not None:
            owner.decided(delivery, self._now)

    # --- inside

    def _links(self) -> Iterable[RecoverableLink]:
        # A copy, because links may be opened and closed by what their events lead to.
        return list(self.links.values())

    def _owner(self, link: Link) -> RecoverableLink | None:
        owner = link.context
        return owner if isinstance(owner, RecoverableLink) and owner.engine is link else None

    def _attach(self, link: RecoverableLink) -> None:
        assert self.session is not None, "it has begun"
        if link.end is None and self.session.is_open:
            link.ask_turn = partial(self._turn_asked, link)
            link.attach(self.session)
            self._is_deadline_stale = True

    def _turn_asked(self, link: RecoverableLink) -> None:
        self._asking.add(link)
        self._is_deadline_stale = True
        self.host.on_output()

    def _check_over(self) -> None:
        if not self.connection.is_finished or self.is_over:
            return
        self.is_over = True
        self.is_ready = False
        for link in self._links():
            link.lost()
        self.host.on_over(self._reason)


def _peer_closed(error: Error | None) -> PeerClosed:
    if error is None:
        return PeerClosed("amqp:connection:forced", None)
    return PeerClosed(str(error.condition), error.description)
