import gc
import weakref
from typing import Any

import pytest

from routerd.io.sockets.deadlines import BLANKS_MIN, NEVER, Deadlines


class Watched:
    """What `Deadlines` needs of a connection: its deadline, and a place to note the one that is entered."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.deadline = NEVER
        self.connection = self

    def next_deadline(self) -> float:
        return self.at


@pytest.fixture
def deadlines() -> Any:
    return Deadlines()


def test_nothing_is_due_where_nothing_is_watched(deadlines: Any) -> None:
    assert deadlines.next() == NEVER
    assert list(deadlines.due(100.0)) == []


def test_connections_are_due_in_the_order_of_their_deadlines_and_once(deadlines: Any) -> None:
    late, early, never = Watched(3.0), Watched(1.0), Watched(NEVER)
    for one in (late, early, never):
        deadlines.watch(one)
    assert deadlines.next() == 1.0
    assert list(deadlines.due(2.0)) == [early]
    assert list(deadlines.due(3.0)) == [late]
    assert list(deadlines.due(9.0)) == []


def test_an_earlier_deadline_counts_and_a_later_one_waits_for_the_first(deadlines: Any) -> None:
    one = Watched(5.0)
    deadlines.watch(one)
    one.at = 2.0
    deadlines.watch(one)
    one.at = 7.0
    deadlines.watch(one)
    assert list(deadlines.due(2.0)) == [one]
    assert one.deadline == NEVER
    deadlines.watch(one)
    assert list(deadlines.due(6.0)) == []
    assert list(deadlines.due(7.0)) == [one]


def test_nothing_is_kept_of_a_connection_that_is_forgotten(deadlines: Any) -> None:
    gone, staying = Watched(5.0), Watched(6.0)
    for one in (gone, staying):
        deadlines.watch(one)
    deadlines.forget(gone)
    kept = weakref.ref(gone)
    del gone, one
    gc.collect()
    assert kept() is None
    assert list(deadlines.due(9.0)) == [staying]


def test_connections_that_come_and_go_do_not_pile_up(deadlines: Any) -> None:
    staying = Watched(1e6)
    deadlines.watch(staying)
    for number in range(10 * BLANKS_MIN):
        passing = Watched(1.0 + number)
        deadlines.watch(passing)
        deadlines.forget(passing)
    assert len(deadlines._heap) <= BLANKS_MIN + 3
    assert list(deadlines.due(1e6)) == [staying]
