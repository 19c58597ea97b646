"""The table in docs/forwarding.md of what ends the wait for a settlement: each row is played."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routerd.wire import ACCEPTED
from tests.routers import Workers, message, outcome
from tests.unit.core.joined_routers import Mesh

PAGE = Path(__file__).resolve().parents[2] / "docs/forwarding.md"
HEAD = "| what happens | the consumer's delivery | the producer's delivery |"


class Story:
    """A delivery whose outcome its consumer has given without settling."""

    def __init__(self, place: str, modes: tuple[int, int]) -> None:
        if place == "two routers":
            mesh: Any = Mesh("A", "B")
            mesh.join("A", "B")
            self.pump: Callable[[], None] = mesh.pump
            self.producer, self.consumer = mesh["A"].client(), mesh["B"].client()
        else:
            workers = Workers(2 if place == "two workers" else 1)
            self.pump = workers.pump
            self.producer, self.consumer = workers.client(0), workers.client(workers.last)
        receiver = self.consumer.consumer("orders", credit=5, rcv_settle_mode=modes[0])
        self.sent = self.producer.send(self.producer.producer("orders", rcv_settle_mode=modes[1]), message())
        self.arrived = self.consumer.latest(receiver)
        self.arrived.update(ACCEPTED, False)
        self.pump()
        assert (outcome(self.sent), self.arrived.remote_settled) == ((ACCEPTED, False), False)

    def the_producer_settles(self) -> None:
        self.sent.settle()

    def the_consumer_settles(self) -> None:
        self.arrived.settle()

    def the_producer_is_lost(self) -> None:
        self.producer.vanish()

    def the_consumer_is_lost(self) -> None:
        self.consumer.vanish()


PLAYED = {
    "the producer settles, with a state or without": Story.the_producer_settles,
    "the consumer settles": Story.the_consumer_settles,
    "the producer's link, connection or worker is lost, or the connection to its router": Story.the_producer_is_lost,
    "the consumer's link, connection or worker is lost, or the connection to its router": Story.the_consumer_is_lost,
}


def documented() -> dict[str, tuple[bool, bool]]:
    """Which of consumer and producer are told a settlement, for each row of the table."""
    lines = PAGE.read_text().partition(HEAD)[2].splitlines()[2:]
    rows = [line.strip("|").split("|") for line in lines[: lines.index("")]]
    return {row[0].strip(): ("settled" in row[1], "settled" in row[2]) for row in rows}


def test_the_table_has_all_that_is_played() -> None:
    assert list(documented()) == list(PLAYED)


@pytest.mark.parametrize("name", list(PLAYED))
@pytest.mark.parametrize("place", ["one worker", "two workers", "two routers"])
@pytest.mark.parametrize("modes", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_what_is_written_is_what_happens(name: str, place: str, modes: tuple[int, int]) -> None:
    story = Story(place, modes)
    PLAYED[name](story)
    story.pump()
    consumer, producer = documented()[name]
    if consumer:
        assert story.arrived.remote_settled
    if producer:
        assert outcome(story.sent) == (ACCEPTED, True)
    assert consumer is not producer
