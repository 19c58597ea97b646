"""An AMQP peer that does what a test tells it to, on proton's engine: not a router, and not one of ours.

It forwards what comes to an address to whoever is attached to that, and answers as its script says. What it saw is
there to be asserted. Everything happens in one thread; a test reaches into it by do() and waits by eventually().
"""

import contextlib
import itertools
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import proton

from tests.waiting import WITHIN_S


@dataclass
class Attached:
    """What a client said of a link when it attached."""

    name: str
    is_sender: bool
    """Whether the client sends."""
    source: str | None
    target: str | None
    is_dynamic: bool
    snd_settle_mode: int
    rcv_settle_mode: int


@dataclass
class Arrived:
    """A message that a client has sent."""

    address: str
    message: proton.Message
    is_settled: bool
    delivery: Any = field(repr=False, default=None)


@dataclass
class Script:
    """How the peer behaves."""

    product: str | None = "a-router"
    credit: int = 100
    """What senders get at once."""
    no_credit_for: set[str] = field(default_factory=set)
    refuse: dict[str, proton.Condition] = field(default_factory=dict)
    """Addresses that may not be attached to."""
    refuse_dynamic: proton.Condition | None = None
    refuse_by_end: bool = False
    """Whether a refusal ends the session instead of detaching."""
    outcome: Callable[[Arrived], Any] = lambda arrived: proton.Delivery.ACCEPTED
    """What to settle with: a state, None to do nothing, or a function that is given the delivery."""
    early_outcome: int | None = None
    """What to settle with when only a part of a message has come."""
    forward: bool = True
    sasl: "Any" = None
    """A function that has a first word with each socket."""
    tls: ssl.SSLContext | None = None
    is_frozen: bool = False
    """Whether nothing is answered any more."""
    idle_timeout_s: float = 0.0
    answers_open: bool = True


class Client:
    """One connection from a client."""

    def __init__(self, sock: socket.socket, peer: "Peer") -> None:
        self.sock = sock
        self.peer = peer
        self.connection = proton.Connection()
        self.transport = proton.Transport(proton.Transport.SERVER)
        self.collector = proton.Collector()
        self.connection.container = "peer"
        if peer.script.product is not None:
            self.connection.properties = {proton.symbol("product"): peer.script.product}
        self.connection.collect(self.collector)
        if peer.script.idle_timeout_s:
            self.transport.idle_timeout = peer.script.idle_timeout_s
        self.transport.bind(self.connection)
        self.is_over = False

    def read(self) -> None:
        try:
            data = self.sock.recv(1 << 16)
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            data = b""
        if not data:
            self.is_over = True
            return
        self.peer.heard += len(data)
        if self.peer.script.is_frozen:
            return
        with contextlib.suppress(proton.ProtonException):
            while data and (room := self.transport.capacity()) > 0:
                self.transport.push(data[:room])
                data = data[room:]
                self.act()
        self.act()

    def act(self) -> None:
        while (event := self.collector.peek()) is not None:
            handler = getattr(self, f"_{event.type.name.removeprefix('PN_').lower()}", None)
            if handler is not None:
                handler(event)
            self.collector.pop()

    def write(self) -> None:
        if self.peer.script.is_frozen:
            return
        with contextlib.suppress(OSError):
            while (pending := self.transport.pending()) > 0:
                data = bytes(self.transport.peek(pending))
                self.sock.setblocking(True)
                self.sock.sendall(data)
                self.peer.told += len(data)
                self.sock.setblocking(False)
                self.transport.pop(len(data))
        with contextlib.suppress(proton.ProtonException):
            if self.transport.pending() < 0:
                self.is_over = True

    def _connection_remote_open(self, event: Any) -> None:
        self.peer.opens.append(
            {
                "container": event.connection.remote_container,
                "hostname": event.connection.remote_hostname,
                "properties": dict(event.connection.remote_properties or {}),
                "idle_timeout_s": self.transport.remote_idle_timeout,
                "max_frame_size": self.transport.remote_max_frame_size,
            }
        )
        if self.peer.script.answers_open:
            event.connection.open()

    def _connection_remote_close(self, event: Any) -> None:
        self.peer.closes += 1
        event.connection.close()

    def _session_remote_open(self, event: Any) -> None:
        event.session.open()

    def _session_remote_close(self, event: Any) -> None:
        event.session.close()

    def _link_remote_open(self, event: Any) -> None:
        link, peer = event.link, self.peer
        address = link.remote_target.address if link.is_receiver else link.remote_source.address
        is_dynamic = link.is_sender and link.remote_source.dynamic
        peer.attached.append(
            Attached(
                *(link.name, link.is_receiver, link.remote_source.address, link.remote_target.address, is_dynamic),
                *(link.remote_snd_settle_mode, link.remote_rcv_settle_mode),
            )
        )
        fault = peer.script.refuse_dynamic if is_dynamic else peer.script.refuse.get(address)
        if fault is not None:
            self._refuse(link, fault)
            return
        if is_dynamic:
            address = f"amqp:/reply/{next(peer.numbers)}"
        link.source.address = address if is_dynamic else link.remote_source.address
        link.target.address = link.remote_target.address
        link.snd_settle_mode = link.remote_snd_settle_mode
        link.rcv_settle_mode = link.remote_rcv_settle_mode
        link.open()
        if link.is_receiver:
            peer.senders.append((address, link, self))
            if address not in peer.script.no_credit_for:
                link.flow(peer.script.credit)
        else:
            peer.consumers.append((address, link, self))
            peer.credit[address] = link.credit

    def _refuse(self, link: Any, fault: proton.Condition) -> None:
        if self.peer.script.refuse_by_end:
            link.session.condition = fault
            link.session.close()
        else:
            link.source.type = link.target.type = proton.Terminus.UNSPECIFIED
            link.open()
            link.condition = fault
            link.close()

    def _link_flow(self, event: Any) -> None:
        for address, link, _ in self.peer.consumers:
            # Proton tells of a flow when it has sent something, too.
            if link == event.link and self.peer.credit[address] != link.credit:
                self.peer.credit[address] = link.credit
                self.peer.flows.append((address, link.credit))

    def _link_remote_close(self, event: Any) -> None:
        event.link.close()
        self.peer.detaches.append(event.link.name)
        self.peer.senders = [one for one in self.peer.senders if one[1] != event.link]
        self.peer.consumers = [one for one in self.peer.consumers if one[1] != event.link]

    def _delivery(self, event: Any) -> None:
        delivery, link = event.delivery, event.link
        if link.is_sender:
            if delivery.updated or delivery.settled:
                self.peer.outcomes.append((delivery.tag, delivery.remote_state, delivery.remote))
                if delivery.settled:
                    delivery.settle()
            return
        if delivery.aborted:
            self.peer.aborts += 1
            delivery.settle()
            return
        if delivery.partial and (outcome := self.peer.script.early_outcome) is not None:
            delivery.update(outcome)
            delivery.settle()
        if not delivery.readable or delivery.partial:
            return
        message = proton.Message()
        message.decode(link.recv(delivery.pending))
        link.advance()
        arrived = Arrived(link.target.address, message, delivery.settled, delivery)
        self.peer.arrived.append(arrived)
        if link.credit == 0 and arrived.address not in self.peer.script.no_credit_for:
            link.flow(self.peer.script.credit)
        outcome = self.peer.script.outcome(arrived)
        if arrived.is_settled:
            delivery.settle()
        elif callable(outcome):
            outcome(delivery)
            delivery.settle()
        elif outcome is not None:
            delivery.update(outcome)
            delivery.settle()
        if self.peer.script.forward and outcome in (proton.Delivery.ACCEPTED, None):
            self.peer.forward(arrived)


class Peer:
    """Listens at a port from start() to stop(); lists of what it saw grow only."""

    def __init__(self, script: Script | None = None, port: int = 0) -> None:
        self.script = script or Script()
        self.opens: list[dict[str, Any]] = []
        self.attached: list[Attached] = []
        self.arrived: list[Arrived] = []
        self.outcomes: list[tuple[Any, int, Any]] = []
        self.flows: list[tuple[str, int]] = []
        self.detaches: list[str] = []
        self.credit: dict[str, int] = {}
        self.closes = 0
        self.aborts = 0
        self.connects = 0
        self.heard = self.told = 0
        self.senders: list[tuple[str, Any, Client]] = []
        self.consumers: list[tuple[str, Any, Client]] = []
        self.numbers = itertools.count(1)
        self.clients: list[Client] = []
        self._work: list[Callable[[], None]] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self._awake, self._waker = socket.socketpair()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run)

    def start(self) -> "Peer":
        self._thread.start()
        return self

    def stop(self) -> None:
        self._is_stopping = True
        with contextlib.suppress(OSError):
            self._waker.send(b"x")
        self._thread.join(WITHIN_S)

    @property
    def url(self) -> str:
        return f"amqp://127.0.0.1:{self.port}"

    def do(self, work: Callable[[], None]) -> None:
        """Do something in the peer's thread; returns when it is done."""
        is_done = threading.Event()

        def doing() -> None:
            work()
            is_done.set()

        self._work.append(doing)
        self._waker.send(b"x")
        assert is_done.wait(WITHIN_S)

    def forward(self, arrived: Arrived) -> None:
        """Send a message to those attached to its address: to all of a multicast address, else to the first."""
        found = [one for one in self.consumers if one[0] == arrived.address and one[1].credit > 0]
        for _, link, _ in found if "multicast" in arrived.address else found[:1]:
            self.put(link, arrived.message.encode(), arrived.is_settled)

    def put(self, link: Any, data: bytes, is_settled: bool) -> None:
        delivery = link.delivery(str(next(self.numbers)))
        link.stream(data)
        link.advance()
        self.credit[link.source.address] -= 1
        if is_settled:
            delivery.settle()

    def deliver(self, address: str, message: proton.Message | bytes, is_settled: bool = False) -> None:
        """Send a message of our own to a consumer."""
        data = message if isinstance(message, bytes) else message.encode()
        self.do(lambda: self.put(self.consumer(address), data, is_settled))

    def consumer(self, address: str) -> Any:
        return next(link for at, link, _ in self.consumers if at == address)

    def sender(self, address: str) -> Any:
        return next(link for at, link, _ in self.senders if at == address)

    def grant(self, address: str, credit: int) -> None:
        """Give a sender credit."""
        self.do(lambda: self.sender(address).flow(credit))

    def detach(self, link: Any, name: str = "amqp:internal-error", words: str = "as told") -> None:
        """Detach a link."""

        def detaching() -> None:
            link.condition = proton.Condition(name, words)
            link.close()
            self.senders = [one for one in self.senders if one[1] != link]
            self.consumers = [one for one in self.consumers if one[1] != link]

        self.do(detaching)

    def drop(self) -> None:
        """Break all connections."""
        self.do(self._drop)

    def _drop(self) -> None:
        for client in self.clients:
            client.is_over = True

    def close(self, name: str = "amqp:connection:forced", words: str = "as told") -> None:
        """Close all connections in order."""

        def closing() -> None:
            for client in self.clients:
                client.connection.condition = proton.Condition(name, words)
                client.connection.close()

        self.do(closing)

    def sent_to(self, address: str) -> list[Arrived]:
        return [one for one in self.arrived if one.address == address]

    def _run(self) -> None:
        while not self._is_stopping:
            socks = [self._listener, self._awake, *(client.sock for client in self.clients)]
            readable, _, _ = select.select(socks, [], [], 0.05 if self.script.idle_timeout_s else 0.5)
            if self._awake in readable:
                self._awake.recv(4096)
            if self._listener in readable:
                self._accept()
            for client in self.clients:
                if client.sock in readable:
                    client.read()
                    while isinstance(client.sock, ssl.SSLSocket) and client.sock.pending():
                        client.read()
            while self._work:
                self._work.pop(0)()
            self._finish_turn()
        for client in self.clients:
            client.sock.close()
        for sock in (self._listener, self._awake, self._waker):
            sock.close()

    def _finish_turn(self) -> None:
        for client in self.clients:
            client.act()
            if not self.script.is_frozen:
                client.transport.tick(time.monotonic())
            client.write()
        for client in [one for one in self.clients if one.is_over]:
            self.clients.remove(client)
            client.sock.close()
            self.senders = [one for one in self.senders if one[2] is not client]
            self.consumers = [one for one in self.consumers if one[2] is not client]

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        self.connects += 1
        try:
            if self.script.tls is not None:
                sock = self.script.tls.wrap_socket(sock, server_side=True)
            if self.script.sasl is not None and not self.script.sasl(sock):
                sock.close()
                return
        except OSError:
            sock.close()
            return
        sock.setblocking(False)
        client = Client(sock, self)
        self.clients.append(client)


@contextlib.contextmanager
def running(script: Script | None = None, port: int = 0) -> Iterator[Peer]:
    peer = Peer(script, port).start()
    try:
        yield peer
    finally:
        peer.stop()
