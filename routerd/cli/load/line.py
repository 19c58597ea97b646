"""One connection of the load: an endpoint of the engine, its socket, and the roles of its links.

The loop reads into a buffer that all lines share; what was received is answered, and written, at the end of the turn.
What the socket does not take stays here, and until it is gone nothing more is sent.
"""

import socket
from typing import TYPE_CHECKING, Any, Protocol, cast

from routerd.cli.load.meter import Meter
from routerd.cli.load.roles import Role
from routerd.cli.load.welcome import Welcome
from routerd.wire import ConnectionConfig, LinkState, SessionState
from routerd.wire.connection import Connection
from routerd.wire.handler import Handler

if TYPE_CHECKING:
    from routerd.wire import Attach, Begin, Error, Open, Receiver, RemoteError, Sender
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link
    from routerd.wire.sasl import SaslClient, SaslServer
    from routerd.wire.session import Session

OUTPUT_MAX = 1 << 17
"""Octets that a line composes before it writes them."""
_LIMIT = OUTPUT_MAX
_SESSION_OFFERED = SessionState.BEGIN_RCVD
_LINK_OFFERED = LinkState.ATTACH_RCVD


class LineHost(Protocol):
    """The loop that a line is in, as the line sees it."""

    awake: list["Line"]
    is_attach_held: bool

    def remove(self, line: "Line") -> None:
        """Let go of a line, before its socket is closed."""

    def watch_output(self, line: "Line") -> None:
        """Watch for room in the socket of a line while it is blocked."""

    def opened(self, line: "Line") -> None:
        """A line is open."""

    def closed(self, line: "Line") -> None:
        """A line is closed; its socket may have output left."""

    def attached(self) -> None:
        """A link is attached."""

    def fail(self, failure: str) -> None:
        """Something went wrong that is not the end of everything."""


class Line(Handler):
    """A connection with its socket and roles; `welcome` gives it roles for links that the peer attaches."""

    def __init__(
        self,
        loop: LineHost,
        sock: socket.socket,
        config: ConnectionConfig,
        meter: Meter,
        roles: list[Role],
        *,
        is_client: bool,
        sasl: "SaslClient | SaslServer | None" = None,
        welcome: Welcome | None = None,
    ) -> None:
        self.loop = loop
        self.sock = sock
        self.fd = sock.fileno()
        self.meter = meter
        self.roles = roles
        self.welcome = welcome
        self.session: Session | None = None
        self.is_awake = False
        self.is_open = False
        self.is_closing = False
        self.is_over = False
        self.is_blocked = False
        self._unsent: Any = None
        self._first_role = 0
        self.connection = Connection(config, self, is_client=is_client, sasl=sasl, is_sasl_required=is_client)

    def start(self, now: float) -> None:
        """Begin, at the time the socket is connected."""
        self.connection.start(now)
        if self.connection.is_client:
            self.connection.open()

    def start_roles(self) -> None:
        """Attach the links of all roles."""
        assert self.session is not None
        for role in self.roles:
            role.start(self.session)

    def close(self) -> None:
        """Begin to close the connection; what follows from it is no failure."""
        self.is_closing = True
        if self.is_open and not self.connection.is_finished:
            self.connection.close()
        else:
            self.drop()

    def drop(self) -> None:
        """Close the socket."""
        if not self.is_over:
            self.is_over = True
            self.loop.remove(self)
            self.sock.close()

    def read(self, buffer: bytearray, now: float) -> None:
        """Take what the socket has, up to the size of the buffer."""
        try:
            size = self.sock.recv_into(buffer)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error.strerror or str(error))
            return
        if size == 0:
            self._lose("the peer closed the socket")
            return
        self.connection.receive_data(buffer, now, 0, size)
        self.wake()

    def serve(self, now: float) -> None:
        """Send what is due, and write; ask to be served again in the next turn if more could be sent."""
        self.is_awake = False
        if self.is_over:
            return
        if self._unsent is not None:
            self.write(now)
            if self._unsent is not None:
                return
        is_hungry = False
        if not self.is_closing:
            count = len(self.roles)
            for step in range(count):
                role: Role = self.roles[(self._first_role + step) % count]
                if role.pump(_LIMIT):
                    # Where the room ran out, the next turn goes on.
                    self._first_role = (self._first_role + step) % count
                    is_hungry = True
                    break
        self.write(now)
        if is_hungry and self._unsent is None:
            self.wake()

    def write(self, now: float) -> None:
        """Write what there is; what the socket does not take is kept."""
        data = self._unsent
        if data is None:
            data = self.connection.data_to_send(now)
        if len(data) > 0:
            try:
                sent = self.sock.send(data)
            except BlockingIOError:
                sent = 0
            except OSError as error:
                self._lose(error.strerror or str(error))
                return
            if sent < len(data):
                self._unsent = memoryview(data)[sent:]
            elif self._unsent is None:
                self.connection.written(data)
            else:
                self._unsent = None
        if (self._unsent is not None) != self.is_blocked:
            self.is_blocked = not self.is_blocked
            self.loop.watch_output(self)
        if self.connection.is_finished and self._unsent is None:
            self.drop()

    def wake(self) -> None:
        """Have the line served at the end of the turn."""
        if not self.is_awake:
            self.is_awake = True
            self.loop.awake.append(self)

    def due_ns(self) -> int:
        """Return when the first of the roles wants to be pumped; 0 for never."""
        earliest = 0
        for role in self.roles:
            due = role.due_ns()
            if due > 0 and (earliest == 0 or due < earliest):
                earliest = due
        return earliest

    def is_ready(self) -> bool:
        """Whether the connection is open and every role attached."""
        return self.is_open and all(role.is_ready for role in self.roles)

    # What the engine tells

    def on_output(self, connection: Connection) -> None:
        """Write at the end of the turn."""
        self.wake()

    def on_opened(self, connection: Connection, performative: "Open") -> None:
        """Begin a session, or answer the peer's open."""
        self.is_open = True
        if not connection.is_client:
            connection.open()
            return
        self.session = connection.session()
        self.session.begin()
        self.loop.opened(self)

    def on_session_begun(self, session: "Session", performative: "Begin") -> None:
        """Answer a session that the peer began; attach on our own."""
        if session.state is _SESSION_OFFERED:
            session.begin()
        elif not self.loop.is_attach_held:
            self.start_roles()

    def on_authentication_failed(self, connection: Connection) -> None:
        """The peer did not let us in."""
        if not self.is_closing and self.welcome is None:
            self.loop.fail("the peer refused SASL ANONYMOUS")

    def on_link_attached(self, link: "Link", performative: "Attach") -> None:
        """Answer an attach of the peer's, or take its answer to ours."""
        if link.state is _LINK_OFFERED:
            assert self.welcome is not None
            role = self.welcome.attach(link)
            if role is not None:
                self.roles.append(role)
            return
        # An answer without a terminus is a refusal: the detach that follows it has the reason (2.6.3).
        if (link.remote_target if link.is_sender else link.remote_source) is not None:
            link.context.attached(link)
            self.loop.attached()

    def on_link_flow(self, link: "Link") -> None:
        """Give back the credit that is drained; other credit is used when the line is served."""
        if link.is_sender and link.drain:
            cast("Sender", link).drained()

    def on_transfer(
        self, receiver: "Receiver", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Hand what arrived to the role of its link."""
        role: Role = receiver.context
        role.take(receiver, delivery, data, start, end)

    def on_disposition(self, delivery: "Delivery") -> None:
        """Count the outcome of what we sent."""
        if not delivery.is_incoming:
            self.meter.settle(delivery)

    def on_link_detached(self, link: "Link", closed: bool, error: "Error | None") -> None:
        """A link that the peer detaches is a failure, unless the peer is a client that ends."""
        if self.is_closing or self.welcome is not None:
            return
        reason = "no reason was given" if error is None else f"{error.condition}: {error.description or ''}"
        self.loop.fail(f"link {link.name!r} was detached ({reason.rstrip(': ')})")

    def on_violation(self, connection: Connection, error: "RemoteError") -> None:
        """The peer broke the protocol, or wants SASL where we began without, or the other way round."""
        self.loop.fail(f"the peer broke the protocol: {error}")

    def on_closed(self, connection: Connection, error: "Error | None") -> None:
        """A connection that the peer closes is a failure, unless the peer is a client that ends."""
        self.is_open = False
        if error is not None and not self.is_closing:
            self.loop.fail(f"the connection was closed ({error.condition}: {error.description or ''})")
        self.loop.closed(self)

    def _lose(self, reason: str) -> None:
        if not self.is_closing and self.welcome is None and not self.connection.is_finished:
            self.loop.fail(f"the connection was lost: {reason}")
        self.is_closing = True
        self.connection.transport_closed()
        self.drop()
