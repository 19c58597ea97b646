"""How long a router takes to get to know all addresses of a new neighbour."""

import socket
import statistics
import time
from collections.abc import Callable, Sequence

from bench.load_runs import Held, LoadFailed
from bench.management import node_at
from bench.mesh.line import interior_router
from bench.report import Row
from bench.router import allow_many_files
from bench.router_process import RouterProcess
from routerd.cli.manage.node import PREFIX
from routerd.wire import Connection, ConnectionConfig, Handler, Sender, Target

ADDRESSES = 100_000
LINKS = 1_000
"""Of each connection of consumers."""
REPETITIONS = 3
WITHIN_S = 30.0
_CHUNK = 1 << 16


class Producers(Handler):
    """Senders that wait for credit, which each gets when its router knows of a consumer of its address."""

    def __init__(self, place: str, addresses: Sequence[str]) -> None:
        host, _, port = place.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), WITHIN_S)
        self._connection = Connection(ConnectionConfig(container_id="producers"), self, is_client=True)
        self._connection.start(time.monotonic())
        self._connection.open()
        session = self._connection.session()
        session.begin()
        self._senders: list[Sender] = []
        for address in addresses:
            sender = session.sender(address)
            sender.attach(target=Target(address=address))
            self._senders.append(sender)
        self._await(lambda: all(sender.is_attached for sender in self._senders))
        if any(sender.credit for sender in self._senders):
            raise LoadFailed("there are consumers before the routers are joined")

    def await_credit(self) -> None:
        """Return when all have credit."""
        self._await(lambda: all(sender.credit for sender in self._senders))

    def close(self) -> None:
        """Leave."""
        self._socket.close()

    def _await(self, is_done: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + WITHIN_S
        while True:
            self._socket.sendall(self._connection.data_to_send(time.monotonic()))
            if is_done():
                return
            data = self._next(give_up_at)
            if not data:
                without = sum(not sender.credit for sender in self._senders)
                raise LoadFailed(f"{without} of {len(self._senders)} producers still have no credit")
            self._connection.receive_data(data, time.monotonic())

    def _next(self, give_up_at: float) -> bytes:
        """Return what has come; nothing when it is too late."""
        self._socket.settimeout(max(give_up_at - time.monotonic(), 0.001))
        try:
            return self._socket.recv(_CHUNK)
        except TimeoutError:
            return b""


def rows(count: int = ADDRESSES) -> list[Row]:
    """Measure with `count` addresses. Each of them has one consumer at the neighbour."""
    with allow_many_files(), interior_router("Known") as known:
        held = Held(known.place, count // LINKS, LINKS)
        try:
            times = [newcomer_s(known, f"Newcomer{number}", count) for number in range(REPETITIONS)]
        finally:
            held.release()
    return [Row(f"{count} addresses of a new neighbour", statistics.median(times), "s", 5, at_most=True)]


def newcomer_s(known: RouterProcess, id: str, count: int) -> float:
    """Return how long it takes from the order to connect until producers at the newcomer may send.

    They are for the first address, the last one and some between; all that there are come with one message.
    """
    host, _, port = known.places["trunks"].rpartition(":")
    attributes = {"role": "inter-router", "host": host, "port": port, "linkCapacity": 1000}
    with interior_router(id) as newcomer:
        numbers = [*range(0, count, count // 10), count - 1]
        producers = Producers(newcomer.place, [f"held.{number}" for number in numbers])
        try:
            with node_at(newcomer.place) as node:
                begun = time.monotonic()
                node.call("CREATE", {"type": f"{PREFIX}connector", "name": "trunk"}, attributes)
                producers.await_credit()
                return time.monotonic() - begun
        finally:
            producers.close()
