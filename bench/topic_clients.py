"""Clients of topics that keep unsettled maps: the engine over sockets and no more, so that they are not measured."""

import selectors
import socket
import time
from collections.abc import Callable
from typing import Any

from routerd.io.topics.names import ATTACH_COUNT, EPOCH, EXACTLY_ONCE
from routerd.wire import (
    ACCEPTED,
    Attach,
    Connection,
    ConnectionConfig,
    Delivery,
    Handler,
    Link,
    Receiver,
    Source,
    Symbol,
    Target,
    UInt,
    ULong,
)

SECOND = 1
CREDIT = 100
TIMEOUT_S = 60
READ_SIZE = 1 << 18
PATIENCE_S = 30.0


class TooSlow(Exception):
    """What was waited for has not happened."""


class Loop:
    """All connections of the benchmark."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()

    def run_until(self, condition: Callable[[], bool], what: str) -> None:
        """Carry octets until a condition holds; raises TooSlow."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise TooSlow(f"{what}: not within {PATIENCE_S:g} s")
            for key, _ in self.selector.select(0.05):
                key.data.read()

    def run_for(self, seconds: float) -> None:
        """Carry octets for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                key.data.read()


class TopicClient(Handler):
    """A connection with publishers and subscribers."""

    def __init__(self, loop: Loop, place: str, container: str) -> None:
        self.loop = loop
        self.is_lost = False
        self.attached: set[str] = set()
        self.epochs: dict[str, Any] = {}
        self.received: dict[str, int] = {}
        self.received_at: list[float] = []
        self.settled_at: list[float] = []
        """When deliveries of subscribers were settled by the router."""
        self.decided_at: list[float] = []
        """When deliveries of publishers got their outcomes; they are settled then."""
        host, _, port = place.rpartition(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = ConnectionConfig(container_id=container)
        self.connection = Connection(config, self, is_client=True)
        loop.selector.register(self.socket, selectors.EVENT_READ, self)
        self.connection.start(time.monotonic())
        self.connection.open()
        self.session = self.connection.session()
        self.session.begin()
        self.write()

    def publisher(self, name: str, topic: str, count: int = 1) -> Any:
        """Attach a publisher."""
        link = self.session.sender(name)
        link.attach(
            source=Source(durable=2, expiry_policy=Symbol("never")),
            target=Target(address=topic),
            snd_settle_mode=0,
            rcv_settle_mode=SECOND,
            desired_capabilities=(EXACTLY_ONCE,),
            properties={ATTACH_COUNT: ULong(count)},
        )
        return link

    def subscriber(self, name: str, topic: str, count: int = 1, epoch: Any = None) -> None:
        """Attach a subscriber, which may have been attached elsewhere."""
        link = self.session.receiver(name)
        properties = {ATTACH_COUNT: ULong(count)}
        if epoch is not None:
            properties[EPOCH] = epoch
        link.attach(
            source=Source(address=topic, durable=2, expiry_policy=Symbol("link-detach"), timeout=UInt(TIMEOUT_S)),
            target=Target(),
            snd_settle_mode=0,
            rcv_settle_mode=SECOND,
            desired_capabilities=(EXACTLY_ONCE,),
            properties=properties,
        )
        link.grant(CREDIT)

    def write(self) -> None:
        """Write what there is."""
        octets = self.connection.data_to_send(time.monotonic())
        if octets:
            self.socket.sendall(octets)

    def read(self) -> None:
        """Take what has come, and answer it."""
        try:
            octets = self.socket.recv(READ_SIZE)
        except OSError:
            octets = b""
        if not octets:
            self.close()
            return
        self.connection.receive_data(octets, time.monotonic())
        self.write()

    def close(self) -> None:
        """Leave without a word."""
        if not self.is_lost:
            self.is_lost = True
            self.loop.selector.unregister(self.socket)
            self.socket.close()

    # --- what the engine tells

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Note the answer."""
        self.attached.add(link.name)
        if not link.is_sender:
            self.epochs[link.name] = (performative.properties or {}).get(EPOCH)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Accept a message, and leave the settling to the router."""
        if not delivery.is_partial:
            self.received_at.append(time.monotonic())
            self.received[receiver.name] = self.received.get(receiver.name, 0) + 1
            delivery.update(ACCEPTED, False)
            if receiver.credit <= CREDIT // 2:
                receiver.grant(CREDIT // 2)

    def on_disposition(self, delivery: Delivery) -> None:
        """Settle what is accepted as a publisher; note what is settled as a subscriber."""
        if delivery.is_incoming:
            if delivery.remote_settled:
                self.settled_at.append(time.monotonic())
        elif not delivery.settled:
            self.decided_at.append(time.monotonic())
            delivery.settle()
