"""The engine alone: two endpoints in one process, their output handed to each other, on one core."""

import gc
import statistics
import time
import tracemalloc
from typing import Any

from bench.frame_loop import relay
from bench.report import Row
from bench.uncompiled import run_uncompiled
from routerd.wire import Connection, ConnectionConfig, Handler, LinkState, Receiver, SessionState, Source, Target

CREDIT = 1000
_HALF_OF_THE_CREDIT = CREDIT // 2
SOURCE = Source(address="bench")
TARGET = Target(address="bench")
BODY = b"\x00\x53\x75\xa0\x64" + b"x" * 100
_SESSION_IS_OFFERED = SessionState.BEGIN_RCVD
_LINK_IS_OFFERED = LinkState.ATTACH_RCVD


class Peer(Handler):
    """Answers whatever is asked, accepts each delivery, settles what was accepted."""

    def on_opened(self, connection: Connection, performative: Any) -> None:
        if not connection.is_client:
            connection.open()

    def on_session_begun(self, session: Any, performative: Any) -> None:
        if session.state is _SESSION_IS_OFFERED:
            session.begin()

    def on_link_attached(self, link: Any, performative: Any) -> None:
        if link.state is _LINK_IS_OFFERED:
            link.attach(source=performative.source, target=performative.target)

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        delivery.accept()
        if receiver.credit <= _HALF_OF_THE_CREDIT:
            receiver.grant(_HALF_OF_THE_CREDIT)

    def on_disposition(self, delivery: Any) -> None:
        delivery.settle()


class Joined:
    """A client and a server connection whose octets are carried by hand."""

    def __init__(self) -> None:
        self.at_client, self.at_server = Peer(), Peer()
        self.client = Connection(ConnectionConfig(container_id="client"), self.at_client, is_client=True)
        self.server = Connection(ConnectionConfig(container_id="server"), self.at_server, is_client=False)
        self.server.start(0.0)
        self.client.start(0.0)
        self.client.open()
        self.carry()
        self.session = self.client.session()
        self.session.begin()
        self.carry()

    def carry(self) -> None:
        """Carry octets until there are none."""
        while True:
            upward = self.client.data_to_send(0.0)
            if upward:
                self.server.receive_data(upward, 0.0)
            downward = self.server.data_to_send(0.0)
            if downward:
                self.client.receive_data(downward, 0.0)
            elif not upward:
                return

    def attach(self, name: str) -> Any:
        """Attach a sender to an address, and return it once it is answered."""
        link = self.session.sender(name)
        link.attach(source=SOURCE, target=TARGET)
        self.carry()
        return link

    def grant(self, name: str, credit: int) -> None:
        """Grant credit to a sender."""
        receiver = self.server.links.find(name, False)
        assert isinstance(receiver, Receiver), "it was attached"
        receiver.grant(credit)
        self.carry()


def messages_per_second(count: int) -> float:
    """Send messages of 100 octets; each is accepted by the receiver and settled by the sender."""
    joined = Joined()
    link = joined.attach("sender")
    joined.grant("sender", CREDIT)
    started = time.perf_counter()
    sent = 0
    while sent < count or link.unsettled_count:
        burst = min(link.credit, count - sent)
        for _ in range(burst):
            link.send(BODY)
        sent += burst
        joined.carry()
    return count / (time.perf_counter() - started)


def relay_ns(count: int) -> float:
    """Time the parsing, rewriting and copying of one transfer frame."""
    joined = Joined()
    link = joined.attach("sender")
    joined.grant("sender", CREDIT)
    link.send(BODY, tag=b"12345678")
    frame = bytes(joined.client.data_to_send(0.0))
    data = frame * 100
    started = time.perf_counter()
    for _ in range(count // 100):
        relay(data, len(frame), 100)
    return (time.perf_counter() - started) / (count // 100 * 100) * 1e9


def attach_detach_us(count: int) -> float:
    """Time the attach and detach of a link, both ends together."""
    joined = Joined()
    names = [f"link-{number}" for number in range(count)]
    started = time.perf_counter()
    for name in names:
        joined.attach(name).detach()
        joined.carry()
    return (time.perf_counter() - started) / count * 1e6


def link_pair_bytes(count: int) -> float:
    """Weigh an idle link, both its ends together."""
    joined = Joined()
    joined.attach("first")
    names = [f"link-{number}" for number in range(count)]
    before = _weigh()
    for name in names:
        joined.attach(name)
    return (_weigh() - before) / count


def connection_bytes(count: int) -> float:
    """Weigh one end of an idle connection that has a session."""
    Joined()
    before = _weigh()
    kept = [Joined() for _ in range(count)]
    return (_weigh() - before) / len(kept) / 2


def run() -> list[Row]:
    """Measure everything; rates are the median of five runs."""
    rate = statistics.median(messages_per_second(200_000) for _ in range(5))
    slow = statistics.median(run_uncompiled("wire.messages_per_second(20_000)") for _ in range(3))
    return [
        Row("messages", rate, "messages/s", 400_000),
        Row("messages uncompiled", slow, "messages/s"),
        Row("compiled / uncompiled", rate / slow, "times", 15),
        Row("relay of a transfer", statistics.median(relay_ns(200_000) for _ in range(5)), "ns", 300, at_most=True),
        Row(
            "attach and detach", statistics.median(attach_detach_us(5_000) for _ in range(5)), "us", 15, at_most=True
        ),
        Row("idle link pair", link_pair_bytes(1_000), "bytes", 2_048, at_most=True),
        Row("idle connection", connection_bytes(200), "bytes", 8_192, at_most=True),
    ]


def _weigh() -> int:
    gc.collect()
    if not tracemalloc.is_tracing():
        tracemalloc.start()
    return tracemalloc.get_traced_memory()[0]
