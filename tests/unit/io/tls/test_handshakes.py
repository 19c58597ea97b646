"""Handshakes under way: one step in a turn of the loop, and a bound number of them."""

from collections import deque
from collections.abc import Callable

from routerd.io.tls.handshakes import Handshakes


class Connection:
    """One that notes what is done with it."""

    def __init__(self, story: list[tuple[str, str]], name: str) -> None:
        self._story = story
        self._name = name

    def step(self) -> None:
        self._story.append((self._name, "step"))

    def give_up(self, reason: str) -> None:
        self._story.append((self._name, reason))


class Turns:
    """A loop whose turns are taken by hand."""

    def __init__(self) -> None:
        self._soon: deque[Callable[[], None]] = deque()

    def call_soon(self, step: Callable[[], None]) -> None:
        self._soon.append(step)

    def turn(self) -> None:
        """Do what was asked for before this turn."""
        for _ in range(len(self._soon)):
            self._soon.popleft()()


def test_one_goes_on_in_each_turn() -> None:
    turns, story = Turns(), []
    handshakes = Handshakes(turns.call_soon)
    connections = [Connection(story, name) for name in "abc"]
    for one in connections:
        handshakes.begin(one)
        handshakes.step_soon(one)
    seen = []
    for _ in range(4):
        turns.turn()
        seen.append(len(story))
    assert (seen, story) == ([1, 2, 3, 3], [("a", "step"), ("b", "step"), ("c", "step")])
    handshakes.step_soon(connections[0])
    turns.turn()
    assert story[3:] == [("a", "step")]


def test_one_that_is_over_has_no_turn() -> None:
    turns, story = Turns(), []
    handshakes = Handshakes(turns.call_soon)
    one, other = Connection(story, "one"), Connection(story, "other")
    for connection in (one, other):
        handshakes.begin(connection)
        handshakes.step_soon(connection)
    handshakes.end(one)
    handshakes.end(one)
    turns.turn()
    turns.turn()
    assert story == [("other", "step")]


def test_the_oldest_is_ended_when_there_are_too_many() -> None:
    story: list[tuple[str, str]] = []
    handshakes = Handshakes(Turns().call_soon, most=2)
    connections = [Connection(story, name) for name in "abcd"]
    handshakes.begin(connections[0])
    handshakes.begin(connections[1])
    handshakes.end(connections[0])
    handshakes.begin(connections[2])
    assert story == []
    handshakes.begin(connections[3])
    assert story == [("b", "more than 2 handshakes of TLS are under way")]
