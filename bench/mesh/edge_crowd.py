"""Many edge routers in one process, without the routers: connections to an interior router, with the links of each.

A connection has the links that edge routers attach first: the way up, the way down, address tracking and a heartbeat.
It also has the links of its clients. One consumer has an address that no other edge has. A consumer and a producer have
an address that all edges share.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import cast

from bench.load_runs import LoadFailed
from routerd.wire import (
    AmqpValue,
    Attach,
    Connection,
    ConnectionConfig,
    Delivery,
    Handler,
    Link,
    Message,
    Properties,
    Receiver,
    Sender,
    Source,
    Symbol,
    Target,
)

DOWNLINK = Symbol("qd.router-edge-downlink")
TRACKING = "_$qd.edge_addr_tracking"
HEARTBEAT = "_$qd.edge_heartbeat"
COMMON = "common"
LINKS = 7
CREDIT = 250
BEAT_S = 2.0
AT_ONCE = 50
"""Connections that open at the same time."""
WITHIN_S = 120.0
POLL_S = 0.002


class Edge(asyncio.Protocol, Handler):
    """The connection of one edge router."""

    def __init__(self, number: int) -> None:
        self.id = f"edge.{number}"
        self.attached = 0
        self.received = 0
        self.beats = 0
        self.is_open = False
        self.connection = Connection(ConnectionConfig(container_id=self.id), self, is_client=True)
        self.heartbeat: Sender | None = None

    @property
    def is_up(self) -> bool:
        """Whether all links are answered."""
        return self.attached == LINKS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say everything at once."""
        self.transport = cast(asyncio.Transport, transport)
        self.is_open = True
        self.connection.start(time.monotonic())
        self.connection.open()
        session = self.connection.session()
        session.begin()
        session.sender("up").attach(source=Source(), target=Target())
        down = Source(address=self.id, capabilities=(DOWNLINK,))
        session.receiver("down").attach(source=down, target=Target(capabilities=(DOWNLINK,)))
        session.receiver("tracking").attach(source=Source(address=TRACKING), target=Target())
        self.heartbeat = session.sender("heartbeat")
        self.heartbeat.attach(source=Source(), target=Target(address=HEARTBEAT))
        session.receiver("consumer").attach(source=Source(address=address_of(self.id)), target=Target())
        session.receiver("common").attach(source=Source(address=COMMON), target=Target())
        session.sender("to all").attach(source=Source(), target=Target(address=COMMON))
        self.flush()

    def data_received(self, data: bytes) -> None:
        """Take octets."""
        self.connection.receive_data(data, time.monotonic())
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the socket is closed."""
        self.is_open = False

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Count an answer."""
        self.attached += 1
        if isinstance(link, Receiver):
            link.grant(CREDIT)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Count a message."""
        if not delivery.is_partial and receiver.name == "consumer":
            self.received += 1
            delivery.accept()

    def beat(self) -> None:
        """Say that it is there."""
        link = self.heartbeat
        if self.is_open and link is not None and link.is_attached and link.credit > 0:
            link.send(Message(body=AmqpValue(self.beats)).encode(), None, True)
            self.beats += 1
            self.flush()

    def flush(self) -> None:
        """Write what there is to send."""
        octets = self.connection.data_to_send(time.monotonic())
        if octets and not self.transport.is_closing():
            self.transport.write(bytes(octets))


class Producer(asyncio.Protocol, Handler):
    """A client that sends one message to each of many addresses."""

    def __init__(self, addresses: list[str]) -> None:
        self.unsent = addresses[::-1]
        self.outcomes: dict[str, int] = {}
        self.connection = Connection(ConnectionConfig(container_id="producer"), self, is_client=True)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Attach a link without address."""
        self.transport = cast(asyncio.Transport, transport)
        self.connection.start(time.monotonic())
        self.connection.open()
        session = self.connection.session()
        session.begin()
        session.sender("all").attach(source=Source(), target=Target())
        self.flush()

    def data_received(self, data: bytes) -> None:
        """Take octets."""
        self.connection.receive_data(data, time.monotonic())
        self.flush()

    def on_link_flow(self, link: Link) -> None:
        """Send as far as there is credit."""
        while isinstance(link, Sender) and link.credit > 0 and self.unsent:
            to = self.unsent.pop()
            link.send(Message(properties=Properties(to=to), body=AmqpValue(to)).encode())

    def on_disposition(self, delivery: Delivery) -> None:
        """Count an outcome."""
        outcome = type(delivery.remote_state).__name__
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        if not delivery.settled:
            delivery.settle()

    def flush(self) -> None:
        """Write what there is to send."""
        octets = self.connection.data_to_send(time.monotonic())
        if octets and not self.transport.is_closing():
            self.transport.write(bytes(octets))


class EdgeCrowd:
    """Edge routers at one interior router; `rest` has to run while they are there."""

    def __init__(self, place: str) -> None:
        self._host, _, port = place.rpartition(":")
        self._port = int(port)
        self.edges: list[Edge] = []

    async def join(self, count: int) -> float:
        """Connect `count` more; return how many seconds it took until all of their links were answered."""
        begun = time.monotonic()
        first = len(self.edges)
        beating = asyncio.create_task(self.beat())
        for number in range(first, first + count):
            await until(lambda: sum(not edge.is_up for edge in self.edges[-AT_ONCE:]) < AT_ONCE, "answers to edges")
            edge = Edge(number)
            self.edges.append(edge)
            await asyncio.get_running_loop().create_connection(partial(_self, edge), self._host, self._port)
        await until(lambda: all(edge.is_up for edge in self.edges), "answers to all edges")
        beating.cancel()
        return time.monotonic() - begun

    async def beat(self) -> None:
        """Send heartbeats."""
        while True:
            for edge in list(self.edges):
                edge.beat()
            await asyncio.sleep(BEAT_S)

    async def rest(self, seconds: float) -> None:
        """Do nothing but beat."""
        beating = asyncio.create_task(self.beat())
        await asyncio.sleep(seconds)
        beating.cancel()

    async def reach(self, place: str) -> float:
        """Send a message to each address; return how many seconds it took until all were accepted."""
        host, _, port = place.rpartition(":")
        producer = Producer([address_of(edge.id) for edge in self.edges])
        begun = time.monotonic()
        beating = asyncio.create_task(self.beat())
        await asyncio.get_running_loop().create_connection(lambda: producer, host, int(port))
        await until(lambda: sum(producer.outcomes.values()) == len(self.edges), "outcomes of all messages")
        took_s = time.monotonic() - begun
        beating.cancel()
        producer.transport.close()
        if producer.outcomes != {"Accepted": len(self.edges)} or any(edge.received != 1 for edge in self.edges):
            raise LoadFailed(f"not each edge got its message: {producer.outcomes}")
        return took_s

    async def leave(self) -> None:
        """Close all sockets, without a word."""
        for edge in self.edges:
            edge.transport.abort()
        await until(lambda: not any(edge.is_open for edge in self.edges), "closed sockets")


def _self(edge: Edge) -> Edge:
    return edge


def address_of(edge: str) -> str:
    """Return the address that an edge router has a consumer for."""
    return f"orders/{edge}"


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until something is so."""
    give_up_at = time.monotonic() + WITHIN_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise LoadFailed(f"no {what} within {WITHIN_S:g} s")
        await asyncio.sleep(POLL_S)
