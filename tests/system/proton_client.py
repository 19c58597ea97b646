"""A client of python-qpid-proton in a thread of its own; whoever uses it waits with deadlines."""

import contextlib
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

import proton
from proton import Collector, Condition, Connection, Delivery, Endpoint, Event, Handler, Link, Message, Session, Transport

WITHIN_S = 20.0
READ_SIZE = 1 << 16
STREAM_AHEAD = 1 << 20
"""Octets of a message that proton may have before it is given more."""

Sink = Callable[[bytes], None]

STATES = {
    Delivery.ACCEPTED: "accepted",
    Delivery.REJECTED: "rejected",
    Delivery.RELEASED: "released",
    Delivery.MODIFIED: "modified",
}
OUTCOMES = {name: state for state, name in STATES.items()}


class Sent:
    """A message on its way, until its outcome is known."""

    def __init__(self, client: "ProtonClient", delivery: Delivery) -> None:
        self._client = client
        self.delivery = delivery
        self.state: str | None = None
        self.is_complete = True

    @property
    def condition(self) -> str | None:
        """The condition it was rejected with."""
        found = self.delivery.remote.condition
        return None if found is None else str(found.name)

    def outcome(self) -> str:
        """Return the outcome, once it is there."""
        self._client.wait_until(lambda: self.state is not None, "a message has its outcome")
        assert self.state is not None
        return self.state


class Streamed:
    """A message that is sent piece by piece."""

    def __init__(self, client: "ProtonClient", link: Link, *, settled: bool) -> None:
        self._client = client
        self._link = link
        self._is_settled = settled
        with client.lock:
            self.sent = Sent(client, link.delivery(client.next_tag()))
            self.sent.is_complete = False

    def write(self, octets: bytes) -> None:
        """Send some more, once what was written before has nearly left."""
        client, session = self._client, self._link.session
        client.wait_until(lambda: session.outgoing_bytes < STREAM_AHEAD, "what was written leaves")
        with client.lock:
            self._link.send(octets)
            client.wake()

    def end(self) -> None:
        """Say that this is all."""
        with self._client.lock:
            self.sent.is_complete = True
            self._link.advance()
            if self._is_settled or self.sent.state is not None:
                self.sent.delivery.settle()
            self._client.wake()

    def abort(self) -> None:
        """Give it up."""
        with self._client.lock:
            self.sent.delivery.abort()
            self._client.wake()


class Producer:
    """A link that sends."""

    def __init__(self, client: "ProtonClient", link: Link) -> None:
        self._client = client
        self.link = link
        self.undecided: dict[str, Sent] = {}

    @property
    def credit(self) -> int:
        """What the router has granted and is not used yet."""
        with self._client.lock:
            return int(self.link.credit)

    def send(self, body: Any, *, settled: bool = False, **fields: Any) -> Sent:
        """Send one message on credit, which is waited for; its fields are those of proton's Message."""
        return self.send_encoded(Message(body=body, **fields).encode(), settled=settled)

    def send_encoded(self, octets: bytes, *, settled: bool = False) -> Sent:
        """Send one message as it is, on credit."""
        client = self._client
        client.wait_until(lambda: self.link.credit > 0 or self._is_gone, "the router grants credit")
        assert not self._is_gone, f"the link is gone: {self.link.remote_condition}"
        with client.lock:
            return self.send_at_once(octets, settled=settled)

    def send_at_once(self, octets: bytes, *, settled: bool = False) -> Sent:
        """Send one message as it is, credit or not."""
        client = self._client
        with client.lock:
            tag = client.next_tag()
            delivery = self.link.delivery(tag)
            sent = Sent(client, delivery)
            self.link.send(octets)
            if settled:
                delivery.settle()
            else:
                self.undecided[tag] = sent
            self.link.advance()
            client.wake()
            return sent

    def stream(self, chunks: Iterable[bytes], *, settled: bool = False) -> Sent:
        """Send one message piece by piece, as fast as it leaves."""
        sending = Streamed(self._client, self.link, settled=settled)
        self.undecided[sending.sent.delivery.tag] = sending.sent
        for chunk in chunks:
            sending.write(chunk)
        sending.end()
        return sending.sent

    def begin(self) -> "Streamed":
        """Begin a message that is sent piece by piece, on credit."""
        self._client.wait_until(lambda: self.link.credit > 0, "the router grants credit")
        sending = Streamed(self._client, self.link, settled=False)
        self.undecided[sending.sent.delivery.tag] = sending.sent
        return sending

    def send_all(self, bodies: "list[Any]", *, settled: bool = False) -> list[Sent]:
        """Send many messages."""
        return [self.send(body, settled=settled) for body in bodies]

    @property
    def _is_gone(self) -> bool:
        return bool(self.link.state & Endpoint.REMOTE_CLOSED)

    def close(self) -> None:
        """Detach, and wait for the answer."""
        self._client.close_link(self.link)


class Received:
    """A message that has arrived, whole."""

    def __init__(self, client: "ProtonClient", delivery: Delivery, octets: bytes) -> None:
        self._client = client
        self.delivery = delivery
        self.octets = octets
        self.is_settled = bool(delivery.settled)

    @property
    def message(self) -> Message:
        """The message, decoded."""
        message = Message()
        message.decode(self.octets)
        return message

    @property
    def body(self) -> Any:
        """The body of the message."""
        message = self.message
        # The octets of a memoryview are gone with the message.
        return bytes(message.body) if isinstance(message.body, memoryview) else message.body

    def decide(self, outcome: str) -> None:
        """Give it this outcome, and settle."""
        with self._client.lock:
            self.delivery.update(OUTCOMES[outcome])
            self.delivery.settle()
            self._client.wake()


class Consumer:
    """A link that receives; each message gets `outcome` at once, or waits to be decided by hand if that is None."""

    def __init__(
        self, client: "ProtonClient", link: Link, window: int, outcome: str | None, sink: Sink | None = None
    ) -> None:
        self._client = client
        self.link = link
        self._window = window
        self._outcome = outcome
        self._sink = sink
        self._is_stalled = False
        self._octets = b""
        self.waiting: deque[Received] = deque()
        self.received: list[Received] = []
        self.aborted = 0

    @property
    def address(self) -> str:
        """The address as the router answered it."""
        return str(self.link.remote_source.address)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all messages so far."""
        with self._client.lock:
            return [one.body for one in self.received]

    @property
    def credit(self) -> int:
        """What is granted and not used."""
        with self._client.lock:
            return int(self.link.credit)

    @property
    def partial_octets(self) -> int:
        """How much of a message is here that is not complete."""
        return len(self._octets)

    def take(self) -> Received:
        """Return the next message that was not taken yet."""
        self._client.wait_until(lambda: self.waiting, f"a message arrives from {self.link.source.address}")
        return self.waiting.popleft()

    def wait_for(self, count: int) -> list[Any]:
        """Return all bodies, once there are so many."""
        self._client.wait_until(
            lambda: len(self.received) >= count, f"{count} messages arrive, not {len(self.received)}"
        )
        return self.bodies

    def stall(self) -> None:
        """Take nothing more of the messages of this link."""
        with self._client.lock:
            self._is_stalled = True

    def go_on(self) -> None:
        """Take what has come meanwhile, and what comes."""
        with self._client.lock:
            self._is_stalled = False
            if (delivery := self.link.current) is not None:
                self.on_delivery(delivery)
            self._client.wake()

    def grant(self, credit: int) -> None:
        """Grant credit, once: it is not renewed."""
        with self._client.lock:
            self.link.flow(credit)
            self._client.wake()

    def drain(self, credit: int) -> None:
        """Grant credit once, and return when what was not used has been given back."""
        with self._client.lock:
            self.link.drain(credit)
            self._client.wake()
        self._client.wait_until(lambda: not self.link.draining() or self.link.credit == 0, "the link is drained")
        with self._client.lock:
            self.link.drained()

    def close(self) -> None:
        """Detach, and wait for the answer."""
        self._client.close_link(self.link)

    def on_delivery(self, delivery: Delivery) -> None:
        """Collect what has arrived; called by the pump."""
        if delivery.aborted:
            self.aborted += 1
            self._octets = b""
            delivery.settle()
            self._renew()
            return
        if self._is_stalled:
            return
        while delivery.pending:
            octets = self.link.recv(delivery.pending) or b""
            if self._sink is None:
                self._octets += octets
            else:
                self._sink(octets)
        if delivery.partial or not delivery.readable:
            return
        octets, self._octets = self._octets, b""
        received = Received(self._client, delivery, octets)
        self.link.advance()
        self.received.append(received)
        self.waiting.append(received)
        if received.is_settled:
            delivery.settle()
        elif self._outcome is not None:
            delivery.update(OUTCOMES[self._outcome])
            delivery.settle()
        self._renew()

    def _renew(self) -> None:
        if self._window and self.link.credit <= self._window // 2:
            self.link.flow(self._window - self.link.credit)


class ProtonClient(Handler):
    """One connection and its links."""

    def __init__(
        self,
        port: int,
        *,
        container_id: str = "proton-client",
        hostname: str = "localhost",
        idle_timeout_s: float = 0,
        max_frame_size: int = 0,
        properties: Mapping[str, Any] | None = None,
        has_sasl: bool = True,
    ) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)
        self._tags = 0
        self._is_over = False
        self._is_reading = True
        self._ends: dict[str, Producer | Consumer] = {}
        self.error: Condition | None = None
        self._collector = Collector()
        self.connection = Connection()
        self.connection.collect(self._collector)
        self.connection.container = container_id
        self.connection.hostname = hostname
        if properties:
            self.connection.properties = {proton.symbol(key): value for key, value in properties.items()}
        self.transport = Transport(Transport.CLIENT)
        if max_frame_size:
            self.transport.max_frame_size = max_frame_size
        if idle_timeout_s:
            self.transport.idle_timeout = idle_timeout_s
        if has_sasl:
            self.transport.sasl().allowed_mechs("ANONYMOUS")
        self.transport.bind(self.connection)
        self.connection.open()
        self._session: Session = self.connection.session()
        self._session.open()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S)
        self._socket.setblocking(False)
        self._waker, self._wakes = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="proton-client", daemon=True)
        self._thread.start()
        self.wait_until(lambda: self.connection.state & Endpoint.REMOTE_ACTIVE or self._is_over, "the open is answered")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- links

    def producer(self, address: str | None, *, name: str | None = None, session: Session | None = None) -> Producer:
        """Attach a sending link to an address, or an anonymous one; return it once it is answered."""
        with self.lock:
            link = (session or self._session).sender(name or f"out-{self.next_tag()}")
            link.target.address = address
            producer = Producer(self, link)
            self._ends[link.name] = producer
            link.open()
            self.wake()
        self._wait_attached(link)
        return producer

    def consumer(
        self,
        address: str | None,
        *,
        credit: int = 100,
        outcome: str | None = "accepted",
        is_renewed: bool = True,
        name: str | None = None,
        session: Session | None = None,
        settle_mode: int | None = None,
        max_message_size: int = 0,
        sink: Sink | None = None,
    ) -> Consumer:
        """Attach a receiving link to an address, or with none to a dynamic one; return it once it is answered."""
        with self.lock:
            link = (session or self._session).receiver(name or f"in-{self.next_tag()}")
            if address is None:
                link.source.dynamic = True
            else:
                link.source.address = address
            if settle_mode is not None:
                link.snd_settle_mode = settle_mode
            if max_message_size:
                link.max_message_size = max_message_size
            consumer = Consumer(self, link, credit if is_renewed else 0, outcome, sink)
            self._ends[link.name] = consumer
            link.open()
            if credit:
                link.flow(credit)
            self.wake()
        self._wait_attached(link)
        return consumer

    def session(self, window_bytes: int = 0) -> Session:
        """Begin another session, in which no more than so much may wait to be taken."""
        with self.lock:
            session = self.connection.session()
            session.incoming_capacity = window_bytes
            session.open()
            self.wake()
            return session

    def refusal(self, attach: Callable[[Session], Link]) -> str:
        """Attach a link that is to be refused; return the condition that it was refused with."""
        with self.lock:
            link = attach(self._session)
            link.open()
            self.wake()
        self.wait_until(lambda: link.state & Endpoint.REMOTE_CLOSED, "the link is refused")
        with self.lock:
            link.close()
            self.wake()
            return str(link.remote_condition.name)

    def refused_producer(self, address: str) -> str:
        """Return the condition that a sending link is refused with."""

        def attach(session: Session) -> Link:
            link = session.sender(f"out-{self.next_tag()}")
            link.target.address = address
            return link

        return self.refusal(attach)

    def refused_consumer(self, address: str) -> str:
        """Return the condition that a receiving link is refused with."""

        def attach(session: Session) -> Link:
            link = session.receiver(f"in-{self.next_tag()}")
            link.source.address = address
            return link

        return self.refusal(attach)

    def _wait_attached(self, link: Link) -> None:
        self.wait_until(
            lambda: link.state & (Endpoint.REMOTE_ACTIVE | Endpoint.REMOTE_CLOSED) or self._is_over, f"{link.name} is attached"
        )
        with self.lock:
            assert not self._is_over, f"the connection is over: {self.connection.remote_condition}"
            assert not link.state & Endpoint.REMOTE_CLOSED, f"the link is refused: {link.remote_condition}"

    def close_link(self, link: Link) -> None:
        """Detach a link, and wait for the answer."""
        with self.lock:
            link.close()
            self.wake()
        self.wait_until(lambda: link.state & Endpoint.REMOTE_CLOSED or self._is_over, "the detach is answered")

    # --- the connection

    @property
    def is_open(self) -> bool:
        """Whether the connection is open at both ends."""
        with self.lock:
            return not self._is_over and bool(self.connection.state & Endpoint.REMOTE_ACTIVE)

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended, in whatever way."""
        return self._is_over

    @property
    def closed_with(self) -> str | None:
        """The condition that the router closed the connection with."""
        with self.lock:
            found = self.connection.remote_condition
            return None if found is None else str(found.name)

    def next_tag(self) -> str:
        """Return a text that was not used on this connection before."""
        with self.lock:
            self._tags += 1
            return str(self._tags)

    def wait_until(self, claim: Callable[[], Any], what: str, within_s: float = WITHIN_S) -> None:
        """Wait until a claim about this connection holds."""
        with self._changed:
            assert self._changed.wait_for(claim, within_s), f"not within {within_s:g} s: {what}"

    def wait_over(self) -> None:
        """Wait until the router has closed the connection."""
        self.wait_until(lambda: self._is_over, "the router closes the connection")

    def stop_reading(self) -> None:
        """Read nothing more, as a client that hangs."""
        self._is_reading = False
        self.wake()

    def go_on_reading(self) -> None:
        """Read again."""
        self._is_reading = True
        self.wake()

    def wake(self) -> None:
        """Have the pump look at the connection."""
        with contextlib.suppress(OSError):
            self._waker.send(b"!")

    def cut(self) -> None:
        """End the connection without a word."""
        with self.lock:
            self._is_over = True
            self.wake()
        self._thread.join(WITHIN_S)
        self._free()

    def close(self) -> None:
        """Close in order, or cut if that does not work out."""
        with self.lock:
            if not self._is_over:
                self._is_reading = True
                self.connection.close()
                self.wake()
        self._thread.join(5.0)
        if self._thread.is_alive():
            self.cut()
        self._free()

    def _free(self) -> None:
        for one in (self._socket, self._waker, self._wakes):
            one.close()

    # --- the pump, in its thread

    def _run(self) -> None:
        try:
            while not self._is_over:
                with self._changed:
                    wake_at = self._step()
                    self._changed.notify_all()
                    if self._is_over:
                        return
                    capacity, pending = self.transport.capacity(), self.transport.pending()
                self._wait(capacity, pending, wake_at)
        finally:
            with self._changed:
                self._is_over = True
                with contextlib.suppress(OSError):
                    self._socket.close()
                self._changed.notify_all()

    def _step(self) -> float:
        self._dispatch()
        wake_at = float(self.transport.tick(time.monotonic()))
        self._write()
        self._dispatch()
        if self.transport.closed:
            self._is_over = True
        return wake_at

    def _write(self) -> None:
        pending = self.transport.pending()
        if pending > 0:
            with contextlib.suppress(BlockingIOError):
                try:
                    self.transport.pop(self._socket.send(self.transport.peek(pending)))
                except ConnectionError:
                    self.transport.close_head()
        elif pending < 0:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)

    def _wait(self, capacity: int, pending: int, wake_at: float) -> None:
        readers = [self._wakes]
        if self._is_reading and capacity > 0:
            readers.append(self._socket)
        timeout = min(1.0, max(0.0, wake_at - time.monotonic())) if wake_at else 1.0
        readable, _, _ = select.select(readers, [self._socket] if pending > 0 else [], [], timeout)
        if self._wakes in readable:
            self._wakes.recv(READ_SIZE)
        if self._socket in readable:
            self._read(capacity)

    def _read(self, capacity: int) -> None:
        try:
            octets = self._socket.recv(min(capacity, READ_SIZE))
        except BlockingIOError:
            return
        except OSError:
            octets = b""
        with self.lock:
            if octets:
                with contextlib.suppress(proton.TransportException):
                    self.transport.push(octets)
            else:
                self.transport.close_tail()
                self.transport.close_head()

    def _dispatch(self) -> None:
        while (event := self._collector.peek()) is not None:
            event.dispatch(self)
            self._collector.pop()

    def on_delivery(self, event: Event) -> None:
        """Take a message, or the outcome of one."""
        delivery = event.delivery
        if event.link.is_receiver:
            end = self._ends[event.link.name]
            assert isinstance(end, Consumer)
            end.on_delivery(delivery)
        elif delivery.updated:
            self._on_outcome(delivery)

    def _on_outcome(self, delivery: Delivery) -> None:
        end = self._ends[delivery.link.name]
        assert isinstance(end, Producer)
        state = STATES.get(delivery.remote_state)
        if state or delivery.settled:
            sent = end.undecided.pop(delivery.tag)
            sent.state = state or "settled"
            if sent.is_complete:
                delivery.settle()

    def on_connection_remote_close(self, event: Event) -> None:
        """Answer a close of the router."""
        event.connection.close()

    def on_link_remote_close(self, event: Event) -> None:
        """Answer a detach of the router."""
        event.link.close()

    def on_transport_error(self, event: Event) -> None:
        """Remember what went wrong with the transport."""
        self.error = event.transport.condition
