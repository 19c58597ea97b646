"""When a loop stays awake."""

from collections import deque
from collections.abc import Callable

import pytest

from routerd.io.scheduling.busy_poll import CONTENDED_S, PATIENCE, RECENT_S, REST_S, BusyPoll

SPAN_S = 2**-12
"""Times add up exactly."""
PATIENCE_S = PATIENCE * SPAN_S


class Turns:
    """An event loop that is turned by hand, and the clock that it goes by."""

    def __init__(self) -> None:
        self.now = 100.0
        self.others_take_s = 0.0
        """How long others run when they are let."""
        self.ready: deque[Callable[[], None]] = deque()

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.ready.append(callback)

    def let_others_run(self) -> None:
        self.now += self.others_take_s

    def turn(self, after_s: float) -> bool:
        """Have some time pass; whether the loop was awake."""
        self.now += after_s
        is_awake = bool(self.ready)
        for callback in list(self.ready):
            self.ready.popleft()
            callback()
        return is_awake


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    turns = Turns()
    monkeypatch.setattr("routerd.io.scheduling.busy_poll.monotonic", lambda: turns.now)
    monkeypatch.setattr("routerd.io.scheduling.busy_poll.sched_yield", turns.let_others_run)
    return turns


def poll(turns: Turns, span_s: float = SPAN_S) -> BusyPoll:
    return BusyPoll(turns.call_soon, span_s)


def test_work_now_and_then_keeps_nobody_awake(turns: Turns) -> None:
    busy = poll(turns)
    for _ in range(10):
        busy.worked(turns.now)
        assert not turns.turn(SPAN_S)


def test_work_in_quick_succession_keeps_the_loop_awake_until_there_is_none(turns: Turns) -> None:
    busy = poll(turns)
    busy.worked(turns.now)
    turns.now += SPAN_S / 2
    busy.worked(turns.now)
    busy.worked(turns.now)
    assert len(turns.ready) == 1
    assert [turns.turn(PATIENCE_S / 2) for _ in range(3)] == [True, True, False]
    busy.worked(turns.now)
    turns.now += SPAN_S / 2
    busy.worked(turns.now)
    assert turns.turn(PATIENCE_S / 2)
    busy.worked(turns.now)
    assert [turns.turn(PATIENCE_S / 2) for _ in range(3)] == [True, True, False]


def test_a_loop_that_is_awake_stays_so_for_work_that_comes_later_than_what_woke_it(turns: Turns) -> None:
    busy = poll(turns)
    for after_s in (0.0, SPAN_S / 2, 2 * SPAN_S, 2 * SPAN_S):
        turns.turn(after_s)
        busy.worked(turns.now)
    assert turns.turn(2 * SPAN_S)
    assert [turns.turn(SPAN_S) for _ in range(2)] == [True, False]


def test_a_loop_whose_core_others_want_sleeps(turns: Turns) -> None:
    busy = poll(turns)
    turns.others_take_s = CONTENDED_S / 2
    for _ in range(2):
        busy.worked(turns.now)
    assert [turns.turn(0.0) for _ in range(3)] == [True, True, True]
    turns.others_take_s = 2 * CONTENDED_S
    assert [turns.turn(0.0) for _ in range(2)] == [True, False]
    # The next work that comes as soon has it try again, but not at once.
    turns.others_take_s = 0.0
    slept_at = turns.now
    for _ in range(3):
        busy.worked(turns.now)
        assert not turns.turn(SPAN_S / 2)
    assert turns.now < slept_at + REST_S < slept_at + 3 * SPAN_S
    turns.now = slept_at + REST_S
    for _ in range(2):
        busy.worked(turns.now)
    assert [turns.turn(0.0) for _ in range(2)] == [True, True]


def test_it_can_be_turned_off(turns: Turns) -> None:
    busy = poll(turns, 0.0)
    for _ in range(3):
        busy.worked(turns.now)
    assert not turns.ready


def test_a_loop_is_busy_for_a_moment_after_work(turns: Turns) -> None:
    busy = poll(turns, 0.0)
    assert not busy.is_busy(turns.now)
    busy.worked(turns.now)
    assert busy.is_busy(turns.now + RECENT_S / 2)
    assert not busy.is_busy(turns.now + 2 * RECENT_S)
