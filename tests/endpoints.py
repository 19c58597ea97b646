"""Two ends of a connection joined in memory, and a handler that writes down what it is told."""

from typing import Any

from routerd.wire import Connection, ConnectionConfig, Handler, LinkState, SessionState


class Recorder(Handler):
    """Keeps every event as a tuple; answers opens, begins and attaches unless it is told not to."""

    def __init__(self, *, answers: bool = True) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.answers = answers
        self.size_max = 0
        self.links: dict[str, Any] = {}
        self.sessions: list[Any] = []
        self.deliveries: list[Any] = []
        self.bodies: list[bytes] = []
        self.attaches: list[Any] = []
        self.opens: list[Any] = []
        self.begins: list[Any] = []
        self.dispositions: list[Any] = []
        self.violations: list[Any] = []

    def take(self) -> list[tuple[Any, ...]]:
        """Return the events since the last call."""
        events, self.events = self.events, []
        return events

    def on_authenticated(self, connection: Connection) -> None:
        self.events.append(("authenticated",))

    def on_authentication_failed(self, connection: Connection) -> None:
        self.events.append(("authentication failed",))

    def on_opened(self, connection: Connection, performative: Any) -> None:
        self.events.append(("opened", performative.container_id))
        self.opens.append(performative)
        if self.answers and not connection.is_client:
            connection.open()

    def on_closed(self, connection: Connection, error: Any) -> None:
        self.events.append(("closed", error and str(error.condition)))

    def on_violation(self, connection: Connection, error: Any) -> None:
        self.events.append(("violation", error.condition))
        self.violations.append(error)

    def on_session_begun(self, session: Any, performative: Any) -> None:
        self.events.append(("session begun", session.channel))
        self.begins.append(performative)
        self.sessions.append(session)
        if self.answers and session.state is SessionState.BEGIN_RCVD:
            session.begin()

    def on_session_flow(self, session: Any) -> None:
        self.events.append(("session flow", session.channel))

    def on_session_ended(self, session: Any, error: Any) -> None:
        self.events.append(("session ended", session.channel, error and str(error.condition)))

    def on_link_attached(self, link: Any, performative: Any) -> None:
        self.events.append(("link attached", link.name))
        self.links[link.name] = link
        self.attaches.append(performative)
        if self.answers and link.state is LinkState.ATTACH_RCVD:
            size = 0 if link.is_sender else self.size_max
            link.attach(source=performative.source, target=performative.target, max_message_size=size)

    def on_link_flow(self, link: Any) -> None:
        self.events.append(("link flow", link.name, link.credit))

    def on_link_detached(self, link: Any, closed: bool, error: Any) -> None:
        self.events.append(("link detached", link.name, closed, error and str(error.condition)))

    def on_transfer(self, receiver: Any, delivery: Any, data: bytes | bytearray, start: int, end: int) -> None:
        body = bytes(data[start:end])
        self.events.append(("transfer", receiver.name, body, delivery.is_partial))
        self.bodies.append(body)
        if not self.deliveries or self.deliveries[-1] is not delivery:
            self.deliveries.append(delivery)

    def on_parting(self, batch: Any, delivery: Any) -> None:
        self.events.append(("parting", batch.context, delivery.id))

    def on_disposition(self, delivery: Any) -> None:
        self.events.append(("disposition", delivery.remote_state, delivery.remote_settled))
        self.dispositions.append(delivery)


class Pair:
    """A client and a server, each with a recorder; `pump` carries octets until both are silent."""

    def __init__(
        self,
        *,
        client: dict[str, Any] | None = None,
        server: dict[str, Any] | None = None,
        client_sasl: Any = None,
        server_sasl: Any = None,
        is_sasl_required: bool = True,
        client_handler: Handler | None = None,
        server_handler: Handler | None = None,
    ) -> None:
        self.now = 0.0
        self.at_client = client_handler or Recorder()
        self.at_server = server_handler or Recorder()
        self.client = Connection(
            ConnectionConfig(**{"container_id": "client"} | (client or {})),
            self.at_client,
            is_client=True,
            sasl=client_sasl,
        )
        self.server = Connection(
            ConnectionConfig(**{"container_id": "server"} | (server or {})),
            self.at_server,
            is_client=False,
            sasl=server_sasl,
            is_sasl_required=is_sasl_required,
        )
        self.to_client = bytearray()
        self.to_server = bytearray()

    def pump(self) -> None:
        """Carry octets both ways until there are none; `to_client` and `to_server` keep a copy."""
        while True:
            upward = self.client.data_to_send(self.now)
            if upward:
                self.to_server += upward
                self.server.receive_data(upward, self.now)
            downward = self.server.data_to_send(self.now)
            if downward:
                self.to_client += downward
                self.client.receive_data(downward, self.now)
            if not upward and not downward:
                return

    def open(self) -> "Pair":
        """Start both, open the connection, and forget the events of it."""
        self.server.start(self.now)
        self.client.start(self.now)
        self.client.open()
        self.settle_down()
        return self

    def settle_down(self) -> None:
        """Pump, and forget events and octets so far."""
        self.pump()
        for recorder in (self.at_client, self.at_server):
            if isinstance(recorder, Recorder):
                recorder.take()
        self.to_client.clear()
        self.to_server.clear()

    def session(self, **options: Any) -> Any:
        """Begin a session from the client, and return the client's end."""
        session = self.client.session()
        session.begin(**options)
        self.settle_down()
        return session
