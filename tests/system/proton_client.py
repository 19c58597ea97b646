"""A client of python-qpid-proton in a thread of its own; whoever uses it waits with deadlines.

proton's objects are no matter for two threads at a time, not even their reference counts: they are used with the
client's lock, and kept until the connection is over.
"""

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import proton
from proton import Collector, Connection, Endpoint, Event, Handler, Link, Session, Transport

from tests.system.proton_links import Consumer, Producer, Sink
from tests.waiting import WITHIN_S

CLOSE_S = 5.0
READ_SIZE = 1 << 16

T = TypeVar("T")


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
        tls: proton.SSLDomain | None = None,
        mechanism: str = "ANONYMOUS",
    ) -> None:
        super().__init__()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S)
        self._socket.setblocking(False)
        self._waker, self._wakes = socket.socketpair()
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)
        self._names = 0
        self._ends: dict[str, Producer | Consumer] = {}
        self._kept: list[object] = []
        self.is_over = False
        """Whether the connection has ended, in whatever way."""
        self.closed_with: str | None = None
        """The condition that the router closed the connection with."""
        self.connection = Connection()
        self.connection.container = container_id
        self.connection.hostname = hostname
        if properties:
            self.connection.properties = {proton.symbol(key): value for key, value in properties.items()}
        self._collector = Collector()
        self.connection.collect(self._collector)
        self._transport = Transport(Transport.CLIENT)
        if max_frame_size:
            self._transport.max_frame_size = max_frame_size
        if idle_timeout_s:
            self._transport.idle_timeout = idle_timeout_s
        self._transport.sasl().allowed_mechs(mechanism)
        self.ssl: proton.SSL | None = None
        if tls is not None:
            self.ssl = self.keep(proton.SSL(self._transport, tls))
            self.ssl.peer_hostname = hostname
        self._transport.bind(self.connection)
        self.connection.open()
        self._session = self.session()
        self._thread = threading.Thread(target=self._run, name=container_id, daemon=True)
        self._thread.start()
        try:
            self.wait_until(
                lambda: self.connection.state & Endpoint.REMOTE_ACTIVE or self.is_over, "the open is answered"
            )
        except AssertionError:
            self.cut()
            raise

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
            link = self.keep((session or self._session).sender(name or self.next_name()))
            link.target.address = address
            producer = Producer(self, link)
            self._open(link, producer)
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
        capability: str | None = None,
    ) -> Consumer:
        """Attach a receiving link to an address, or with none to a dynamic one; return it once it is answered."""
        with self.lock:
            link = self.keep((session or self._session).receiver(name or self.next_name()))
            if address is None:
                link.source.dynamic = True
            else:
                link.source.address = address
            if capability is not None:
                link.source.capabilities.put_symbol(capability)
            if settle_mode is not None:
                link.snd_settle_mode = settle_mode
            if max_message_size:
                link.max_message_size = max_message_size
            consumer = Consumer(self, link, credit if is_renewed else 0, outcome, sink)
            self._open(link, consumer)
            if credit:
                link.flow(credit)
        self._wait_attached(link)
        return consumer

    def session(self, window_bytes: int = 0) -> Session:
        """Begin another session, in which no more than so much may wait to be taken."""
        with self.lock:
            session = self.keep(self.connection.session())
            session.incoming_capacity = window_bytes
            session.open()
            self.wake()
            return session

    def refused_producer(self, address: str) -> str:
        """Return the condition that a sending link is refused with."""
        with self.lock:
            link = self.keep(self._session.sender(self.next_name()))
            link.target.address = address
            return self._refusal(link)

    def refused_consumer(self, address: str) -> str:
        """Return the condition that a receiving link is refused with."""
        with self.lock:
            link = self.keep(self._session.receiver(self.next_name()))
            link.source.address = address
            return self._refusal(link)

    def close_link(self, link: Link) -> None:
        """Detach a link, and wait for the answer."""
        with self.lock:
            link.close()
            self.wake()
        self.wait_until(lambda: link.state & Endpoint.REMOTE_CLOSED or self.is_over, "the detach is answered")

    def _open(self, link: Link, end: Producer | Consumer) -> None:
        self._ends[link.name] = end
        link.open()
        self.wake()

    def _refusal(self, link: Link) -> str:
        link.open()
        self.wake()
        self.wait_until(lambda: link.state & Endpoint.REMOTE_CLOSED, "the link is refused")
        return str(link.remote_condition.name)

    def _wait_attached(self, link: Link) -> None:
        answered = Endpoint.REMOTE_ACTIVE | Endpoint.REMOTE_CLOSED
        self.wait_until(lambda: link.state & answered or self.is_over, "the attach is answered")
        with self.lock:
            assert not self.is_over, f"the connection is over: {self.closed_with}"
            assert not link.state & Endpoint.REMOTE_CLOSED, f"the link is refused: {link.remote_condition}"

    # --- the connection

    @property
    def is_open(self) -> bool:
        """Whether the connection is open at both ends."""
        with self.lock:
            return not self.is_over and bool(self.connection.state & Endpoint.REMOTE_ACTIVE)

    def next_name(self) -> str:
        """Return a text that was not used on this connection before."""
        with self.lock:
            self._names += 1
            return str(self._names)

    def keep(self, one: T) -> T:
        """Keep an object of proton's until the connection is over."""
        self._kept.append(one)
        return one

    def wait_until(self, claim: Callable[[], Any], what: str, within_s: float | None = None) -> None:
        """Wait until a claim about this connection holds."""
        within_s = WITHIN_S if within_s is None else within_s
        with self._changed:
            assert self._changed.wait_for(claim, within_s), f"not within {within_s:g} s: {what}"

    def wake(self) -> None:
        """Have the pump look at the connection."""
        with contextlib.suppress(OSError):
            self._waker.send(b"!")

    def cut(self) -> None:
        """End the connection without a word."""
        with self.lock:
            self.is_over = True
            self.wake()
        self._join()

    def close(self) -> None:
        """Close in order, or cut if that does not work out."""
        with self.lock:
            if not self.is_over:
                self.connection.close()
                self.wake()
        self._thread.join(CLOSE_S)
        self.cut()

    def _join(self) -> None:
        self._thread.join(WITHIN_S)
        assert not self._thread.is_alive()
        for one in (self._socket, self._waker, self._wakes):
            one.close()

    # --- the pump, in its thread

    def _run(self) -> None:
        try:
            while not self.is_over:
                with self._changed:
                    wake_at = self._step()
                    self._changed.notify_all()
                    capacity, pending = self._transport.capacity(), self._transport.pending()
                if not self.is_over:
                    self._wait(capacity, pending, wake_at)
        finally:
            with self._changed:
                self.is_over = True
                self._socket.close()
                self._changed.notify_all()

    def _step(self) -> float:
        self._dispatch()
        wake_at = float(self._transport.tick(time.monotonic()))
        self._write()
        self._dispatch()
        self.is_over = self.is_over or bool(self._transport.closed)
        return wake_at

    def _write(self) -> None:
        pending = self._transport.pending()
        try:
            if pending > 0:
                self._transport.pop(self._socket.send(self._transport.peek(pending)))
            elif pending < 0:
                self._socket.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return
        except OSError:
            self._transport.close_head()

    def _wait(self, capacity: int, pending: int, wake_at: float) -> None:
        readers = [self._wakes, self._socket] if capacity > 0 else [self._wakes]
        timeout = min(1.0, max(0.0, wake_at - time.monotonic())) if wake_at else 1.0
        readable, _, _ = select.select(readers, [self._socket] if pending > 0 else [], [], timeout)
        if self._wakes in readable:
            self._wakes.recv(READ_SIZE)
        if self._socket in readable:
            self._read(capacity)

    def _read(self, capacity: int) -> None:
        try:
            octets = self._socket.recv(min(capacity, READ_SIZE))
        except OSError:
            octets = b""
        with self.lock:
            if octets:
                with contextlib.suppress(proton.TransportException):
                    self._transport.push(octets)
            else:
                self._transport.close_tail()
                self._transport.close_head()

    def _dispatch(self) -> None:
        while (event := self._collector.peek()) is not None:
            event.dispatch(self)
            self._collector.pop()

    def on_delivery(self, event: Event) -> None:
        """Take a message, or the outcome of one."""
        self._ends[event.link.name].on_delivery(event.delivery)

    def on_connection_remote_close(self, event: Event) -> None:
        """Answer a close of the router."""
        found = event.connection.remote_condition
        self.closed_with = None if found is None else str(found.name)
        event.connection.close()

    def on_link_remote_close(self, event: Event) -> None:
        """Answer a detach of the router."""
        event.link.close()
