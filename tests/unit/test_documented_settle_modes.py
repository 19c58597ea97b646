"""The table in docs/forwarding.md of what those get that ask for rcv-settle-mode second: each row is played."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routerd.wire import ACCEPTED
from tests.routers import Workers, message, message_to, outcome
from tests.unit.core.edge_routers import far_edge, interior_router
from tests.unit.core.joined_routers import Mesh, neighbour, to_router

PAGE = Path(__file__).resolve().parents[2] / "docs/forwarding.md"
HEAD = "| where a producer that asks for `second` sends |"
FIRST, SECOND, SETTLED = 0, 1, 1

Row = tuple[str, str, str]
"""The answer, how outcomes come, and by whom a consumer that settles second is settled."""


class Case:
    """A producer that asks for second, and consumers that may."""

    def __init__(self, routers: Any = None) -> None:
        self.routers = routers or Workers(1)
        self.sender: Any = None
        self.receivers: list[tuple[Any, Any]] = []

    def consume(self, mode: int = SECOND, address: str = "orders", *, at: Any = None, **options: Any) -> None:
        """Have a consumer."""
        client = (at or self.routers).client(options.pop("worker", 0))
        receiver = client.consumer(address, credit=9, rcv_settle_mode=mode, **options)
        self.receivers.append((client, receiver))

    def produce(self, address: str | None = "orders", *, at: Any = None) -> None:
        """Have the producer attach."""
        self.producer = (at or self.routers).client(0)
        self.sender = self.producer.producer(address, rcv_settle_mode=SECOND)

    def row(self, octets: bytes | None = None, *, at_once: bool = False) -> Row:
        """Send a message, have it accepted, and return what came of it."""
        delivery = self.producer.send(self.sender, octets or message())
        arrived = [(receiver, client.latest(receiver)) for client, receiver in self.receivers if _has(client, receiver)]
        for receiver, one in arrived:
            if receiver.snd_settle_mode != SETTLED:
                one.update(ACCEPTED, at_once or receiver.rcv_settle_mode == FIRST)
        self.routers.pump()
        if at_once:
            arrived.clear()
        by_router = {one.remote_settled for receiver, one in arrived if receiver.rcv_settle_mode == SECOND}
        told, is_settled = outcome(delivery)
        assert told == ACCEPTED
        if not is_settled:
            delivery.settle()
            self.routers.pump()
        assert {one.remote_settled for receiver, one in arrived if receiver.rcv_settle_mode == SECOND} <= {True}
        assert self.sender.unsettled_count == 0
        settled_by = "".join("by the router" if one else "by the producer" for one in by_router)
        return _text(self.sender), "settled" if is_settled else "unsettled", settled_by


def _has(client: Any, receiver: Any) -> bool:
    return bool(client.unsettled.get(receiver.name)) or receiver.snd_settle_mode == SETTLED


def _text(link: Any) -> str:
    return "`second`" if link.rcv_settle_mode == SECOND else "`first`"


def to_local(*modes: int, **options: Any) -> Row:
    case = Case()
    for mode in modes:
        case.consume(mode, **options)
    case.produce()
    return case.row()


def to_a_hasty_one() -> Row:
    case = Case()
    case.consume()
    case.produce()
    return case.row(at_once=True)


def to_one_of_several() -> Row:
    """Both take turns: what the one with second gets is looked at."""
    case = Case()
    case.consume(SECOND)
    case.consume(FIRST)
    case.produce()
    rows = {case.row(), case.row()}
    assert {row[:2] for row in rows} == {("`first`", "settled")}
    return max(rows, key=lambda row: row[2])


def to_nobody_yet() -> Row:
    case = Case()
    case.produce()
    case.consume()
    return case.row()


def to_another_worker() -> Row:
    case = Case(Workers(2))
    case.consume(worker=1)
    case.produce()
    return case.row()


def to_another_router() -> Row:
    mesh = Mesh("A", "B")
    mesh.join("A", "B")
    case = Case(mesh["A"])
    case.consume(at=mesh["B"])
    case.produce()
    row = case.row()
    router = interior_router()
    far_edge(router).attach().consumer("orders")
    at_edge = Case(router)
    at_edge.produce()
    assert _text(at_edge.sender) == row[0]
    return row


def to_multicast() -> Row:
    case = Case()
    case.consume(address="multicast/a")
    case.consume(address="multicast/a")
    case.produce("multicast/a")
    answer, settled, settled_by = case.row()
    return answer, f"{settled}, when all have decided", settled_by


def to_each() -> Row:
    case = Case()
    case.consume()
    case.produce(None)
    return case.row(message_to("orders"))


def over_a_trunk() -> Row:
    router = Mesh("R")["R"]
    far = neighbour(router)
    far.attach()
    link = far.session.sender("second")
    terminus = {"source": far.data_out[0].source, "target": far.data_out[0].target}
    link.attach(**terminus, rcv_settle_mode=SECOND)
    router.pump()
    client = router.client()
    receiver = client.consumer("orders", credit=1)
    delivery = far.send(link, to_router("orders", annotations={"ingress": "0/N", "trace": ["0/N"]}))
    client.latest(receiver).accept()
    router.pump()
    assert outcome(delivery) == (ACCEPTED, True)
    return _text(link), "settled", ""


def to_one_who_comes_later() -> Row:
    case = Case()
    case.consume()
    case.produce()
    [(client, receiver)] = case.receivers
    client.detach(receiver)
    case.receivers.clear()
    case.consume(FIRST)
    return case.row()


PLAYED: dict[str, Callable[[], Row]] = {
    "to a consumer of this worker, with `second`": lambda: to_local(SECOND),
    "to a consumer of this worker, with `second`, that settles at once all the same": to_a_hasty_one,
    "to several consumers of this worker, all with `second`": lambda: to_local(SECOND, SECOND),
    "to several consumers of this worker, one with `first`": to_one_of_several,
    "to a consumer of this worker, with `first`": lambda: to_local(FIRST),
    "to a consumer that asked for settled deliveries": lambda: (
        *to_local(SECOND, snd_settle_mode=SETTLED)[:2],
        "",
    ),
    "to nobody yet; a consumer comes later": to_nobody_yet,
    "to a consumer of another worker": to_another_worker,
    "to a consumer at another router, or at an edge router": to_another_router,
    "to a multicast address": to_multicast,
    "to the `to` of each message": to_each,
    "over a link between routers": over_a_trunk,
    "to consumers with `second`, of which none is left, and one with `first` comes": to_one_who_comes_later,
}


def documented() -> dict[str, Row]:
    """Return what the table says."""
    _, _, table = PAGE.read_text().partition(HEAD)
    rows = re.findall(r"^\| ?(.*?) \| ?(.*?) \| ?(.*?) \| ?(.*?) ?\|$", table.partition("\n\n")[0], re.M)
    return {name: (answer, comes, settled_by) for name, answer, comes, settled_by in rows if not name.startswith("-")}


def test_the_table_has_all_that_is_played():
    assert list(documented()) == list(PLAYED)


@pytest.mark.parametrize("name", PLAYED)
def test_what_is_written_is_what_happens(name):
    assert PLAYED[name]() == documented()[name]
