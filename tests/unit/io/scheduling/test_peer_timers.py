"""After a standstill of the loop, what peers have sent meanwhile counts before they are judged."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvloop

from routerd.io.scheduling.peer_timers import LATE_S, PeerTimer, Standstill, after_reading, all_is_read

STANDSTILL_S = 0.05


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = uvloop.new_event_loop()
    yield loop
    loop.close()


class Reading(asyncio.Protocol):
    """Notes what is read, and that something came of it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, happened: list[str]) -> None:
        self._loop = loop
        self._happened = happened

    def data_received(self, data: bytes) -> None:
        self._happened.append("read")
        self._loop.call_soon(self._happened.append, "taken")


class StandingStill(asyncio.Protocol):
    """Holds up its loop when it reads something."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile

    def data_received(self, data: bytes) -> None:
        self._meanwhile()
        time.sleep(STANDSTILL_S)


def test_what_came_while_the_loop_stood_still_is_taken_before_a_timer_judges(loop: asyncio.AbstractEventLoop) -> None:
    happened: list[str] = []
    (near, far), (holding, holder) = socket.socketpair(), socket.socketpair()
    near.setblocking(False)
    holding.setblocking(False)

    async def stand_still() -> None:
        transport, _ = await loop.create_connection(lambda: Reading(loop, happened), sock=near)
        held, _ = await loop.create_connection(lambda: StandingStill(lambda: far.send(b"a heartbeat")), sock=holding)
        judged = loop.create_future()

        def judge() -> None:
            happened.append("judged")
            judged.set_result(None)

        # When the loop goes on these are due, and what has come has not been read.
        loop.call_later(STANDSTILL_S / 2, happened.append, "due")
        loop.call_later(STANDSTILL_S / 2, after_reading, loop, judge)
        holder.send(b"stand still")
        await judged
        transport.close()
        held.close()

    loop.run_until_complete(stand_still())
    far.close()
    holder.close()
    assert happened == ["due", "read", "taken", "judged"]


def test_a_task_can_wait_for_the_same(loop: asyncio.AbstractEventLoop) -> None:
    happened: list[str] = []
    near, far = socket.socketpair()
    near.setblocking(False)

    async def wait() -> None:
        transport, _ = await loop.create_connection(lambda: Reading(loop, happened), sock=near)
        far.send(b"an answer")
        await all_is_read()
        assert happened == ["read", "taken"]
        transport.close()

    loop.run_until_complete(wait())
    far.close()


class Clock:
    """A loop whose time is told to it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.ready: list[Callable[[], None]] = []

    def call_later(self, delay: float, call: Callable[[], None]) -> "Clock":
        self.timers.append((self.now + delay, call))
        return self

    def call_soon(self, call: Callable[..., None], *arguments: object) -> None:
        self.ready.append(lambda: call(*arguments))

    def cancel(self) -> None:
        """The timers of these tests ring all the same."""

    def go_on(self, now: float) -> None:
        """Make it so late, and do what is due."""
        self.now = now
        due = [call for at, call in self.timers if at <= now]
        self.timers = [timer for timer in self.timers if timer[0] > now]
        for call in due:
            call()
        while self.ready:
            self.ready.pop(0)()


@pytest.fixture
def clock() -> Any:
    return Clock()


def test_a_standstill_is_noticed_once_by_a_timer_that_is_late() -> None:
    standstill = Standstill()
    assert standstill.seconds(100.0) == 0.0
    standstill.expect(100.0)
    assert standstill.seconds(100.0 + LATE_S) == 0.0
    assert [standstill.seconds(120.0), standstill.seconds(120.5)] == [20.0, 0.0]


def test_a_timer_rings_when_its_time_is_over(clock: Any) -> None:
    rung: list[str] = []
    PeerTimer(clock, 5.0, rung.append, "over", now=lambda: clock.now)
    clock.go_on(4.9)
    assert rung == []
    clock.go_on(5.0 + LATE_S)
    assert rung == ["over"]


@pytest.mark.parametrize(("held_up_s", "more_s"), [(3.0, 3.0), (60.0, 5.0)], ids=["shortly", "for long"])
def test_a_peer_gets_the_time_back_in_which_the_loop_stood_still(clock: Any, held_up_s: float, more_s: float) -> None:
    rung: list[str] = []
    PeerTimer(clock, 5.0, rung.append, "over", now=lambda: clock.now)
    clock.go_on(5.0 + held_up_s)
    clock.go_on(5.0 + held_up_s + more_s - 0.1)
    assert rung == []
    clock.go_on(5.0 + held_up_s + more_s)
    assert rung == ["over"]


@pytest.mark.parametrize("has_rung", [False, True], ids=["before", "while sockets are read"])
def test_a_timer_that_was_cancelled_does_nothing(clock: Any, has_rung: bool) -> None:
    rung: list[str] = []
    timer = PeerTimer(clock, 5.0, rung.append, "over", now=lambda: clock.now)
    if has_rung:
        clock.call_soon(timer.cancel)
    else:
        timer.cancel()
    clock.go_on(5.0)
    assert rung == []
