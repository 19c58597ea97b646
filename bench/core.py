"""The forwarding core alone: a router between clients in one process, only the router's share of the time counted."""

import statistics
import time
from typing import Any

from bench.report import Row
from routerd.core import AddressSettings, Distribution, Router, RouterSettings
from routerd.wire import Connection, ConnectionConfig, Handler, Source, Target

CREDIT = 1000
BODY = b"\x00\x53\x75\xa0\x64" + b"x" * 100
REPETITIONS = 5
MESSAGES = 50_000
COPIES = 10
SETTINGS = RouterSettings(
    id="bench", addresses=(AddressSettings(pattern="copies/#", distribution=Distribution.MULTICAST),)
)


class Client(Handler):
    """Accepts what it gets, and keeps its credit up."""

    def __init__(self) -> None:
        self.received = 0

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        self.received += 1
        if not delivery.remote_settled:
            delivery.accept()
        if receiver.credit <= CREDIT // 2:
            receiver.grant(CREDIT // 2)


class Pair:
    """A client's connection and the router's end of it; octets are carried by hand, and the router's time is kept."""

    spent_s = 0.0

    def __init__(self, router: Router) -> None:
        peer = router.new_peer()
        self.client = Connection(ConnectionConfig(container_id="client"), Client(), is_client=True)
        self.server = Connection(ConnectionConfig(container_id="bench"), router, is_client=False)
        self.server.context, peer.connection = peer, self.server
        self.server.start(0.0)
        self.client.start(0.0)
        self.client.open()
        self.carry()
        self.session = self.client.session()
        self.session.begin()
        self.carry()

    def carry(self) -> bool:
        """Carry what there is, once in each direction; whether there was anything."""
        upward = self.client.data_to_send(0.0)
        start = time.perf_counter()
        if upward:
            self.server.receive_data(upward, 0.0)
        downward = self.server.data_to_send(0.0)
        Pair.spent_s += time.perf_counter() - start
        if downward:
            self.client.receive_data(downward, 0.0)
        return bool(upward or downward)


def settle_down(pairs: list[Pair]) -> None:
    """Carry until there is nothing to carry."""
    while sum(pair.carry() for pair in pairs):
        pass


def forwarding(address: str, consumers: int, settled: bool) -> float:
    """Return the router's seconds a delivery out."""
    router = Router(SETTINGS, lambda: "")
    pairs = [Pair(router) for _ in range(consumers + 1)]
    for pair in pairs[1:]:
        receiver = pair.session.receiver("r")
        receiver.attach(source=Source(address=address), target=Target())
        receiver.grant(CREDIT)
    settle_down(pairs)
    sender = pairs[0].session.sender("s")
    sender.attach(source=Source(), target=Target(address=address))
    settle_down(pairs)
    spent = []
    for _ in range(REPETITIONS):
        Pair.spent_s = 0.0
        sent = 0
        while sent < MESSAGES // consumers:
            while sender.credit > 0:
                sender.send(BODY, None, settled)
                sent += 1
            settle_down(pairs)
        spent.append(Pair.spent_s / (sent * consumers))
    return statistics.median(spent)


def attaching(links: int = 1000) -> float:
    """Return the router's seconds a receiver attached and detached."""
    router = Router(SETTINGS, lambda: "")
    pair = Pair(router)
    spent = []
    for _ in range(REPETITIONS):
        Pair.spent_s = 0.0
        attached = [pair.session.receiver(f"r{number}") for number in range(links)]
        for number, receiver in enumerate(attached):
            receiver.attach(source=Source(address=f"q.{number}"), target=Target())
        settle_down([pair])
        for receiver in attached:
            receiver.detach()
        settle_down([pair])
        spent.append(Pair.spent_s / links)
    return statistics.median(spent)


def run() -> list[Row]:
    """Run every case."""
    return [
        Row("router's time a message, unsettled", 1e9 * forwarding("q", 1, False), "ns"),
        Row("router's time a message, pre-settled", 1e9 * forwarding("q", 1, True), "ns"),
        Row(f"router's time a copy, multicast to {COPIES}", 1e9 * forwarding("copies/q", COPIES, False), "ns"),
        Row("router's time a link attached and detached", 1e6 * attaching(), "us"),
    ]
