"""What a transport writes arrives as it was, though its memory serves again for what comes next."""

import asyncio
import contextlib
import random
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop

from routerd.core import Router, RouterSettings
from routerd.io.scheduling.busy_poll import BusyPoll
from routerd.io.sockets.transport import Transport
from routerd.io.sockets.worker_turn import ANSWERS_MAX, Turn
from routerd.wire import Connection, ConnectionConfig

SMALL_BUFFER = 1 << 12


class Source(Connection):
    """A connection that has to send what is put to it."""

    def __init__(self, router: Router) -> None:
        super().__init__(ConnectionConfig(container_id="R"), router, is_client=False)
        self.taken_back: list[bool] = []

    def written(self, octets: bytearray) -> bool:
        self.taken_back.append(super().written(octets))
        return self.taken_back[-1]


class Line:
    """A transport, and the other end of its socket."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        near, self.far = socket.socketpair()
        near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
        near.setblocking(False)
        router = Router(RouterSettings(id="R"), lambda: "token")
        self.source = Source(router)
        self.unopened: list[Transport] = []
        worker: Any = SimpleNamespace(
            connected=lambda transport: None,
            disconnected=lambda transport: None,
            set_blocked=lambda *arguments: None,
            close_unless_open=self.unopened.append,
        )
        worker.turn = Turn(worker, router, loop.call_soon, BusyPoll(loop.call_soon, 0.0))
        self.transport = Transport(worker, router.connections.new_peer(), self.source)
        loop.run_until_complete(loop.create_connection(lambda: self.transport, sock=near))
        self.expected = bytearray()
        self.arrived = bytearray()

    def write(self, octets: bytes) -> None:
        self.source.output.put_raw(octets)
        self.expected += octets
        self.transport.flush(0.0)

    def read(self, size: int) -> None:
        """Read what there is."""
        with contextlib.suppress(BlockingIOError):
            self.arrived += self.far.recv(size, socket.MSG_DONTWAIT)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = uvloop.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def lines(loop: asyncio.AbstractEventLoop) -> Iterator[list[Line]]:
    lines = [Line(loop), Line(loop)]
    yield lines
    for line in lines:
        line.transport.abort()
        line.far.close()
    turn(loop)


def turn(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_until_complete(asyncio.sleep(0))


@pytest.mark.parametrize("seed", range(8))
def test_octets_that_wait_are_not_written_over_by_those_that_come_later(
    loop: asyncio.AbstractEventLoop, lines: list[Line], seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        line = chance.choice(lines)
        if chance.random() < 0.5:
            line.write(chance.randbytes(1) * chance.choice([10, 3000, 5000, 20_000]))
        else:
            # All of it, or a part, so that the socket has room again before the loop has had a turn.
            line.read(chance.choice([1000, 1 << 20]))
        if chance.random() < 0.3:
            turn(loop)
    for line in lines:
        while len(line.arrived) < len(line.expected):
            turn(loop)
            line.read(1 << 20)
        assert line.arrived == line.expected


def test_memory_comes_back_but_for_what_had_to_wait_first(loop: asyncio.AbstractEventLoop, lines: list[Line]) -> None:
    line = lines[0]
    line.write(b"at once")
    line.write(bytes(1_000_000))
    # A copy of these waits, in no more memory than it takes.
    line.write(b"late")
    line.write(b"later")
    assert line.source.taken_back == [True, False, True, True]
    while len(line.arrived) < len(line.expected):
        turn(loop)
        line.read(1 << 20)
    line.write(b"at once")
    assert line.source.taken_back[4:] == [True]


@pytest.mark.parametrize("how", ["late", "opened", "lost"])
def test_a_peer_is_waited_for_until_it_has_opened_or_is_gone(
    loop: asyncio.AbstractEventLoop, lines: list[Line], how: str
) -> None:
    waited, late = lines
    for line in lines:
        loop.call_soon(line.transport.expect_open, 0.01)
    if how == "opened":
        loop.call_soon(waited.transport.settled)
    elif how == "lost":
        loop.call_soon(waited.transport.abort)
    while not late.unopened:
        turn(loop)
    assert late.unopened == [late.transport]
    assert waited.unopened == ([waited.transport] if how == "late" else [])


class Answering(Source):
    """A connection that counts what comes, and answers a part of it."""

    def __init__(self, router: Router) -> None:
        super().__init__(router)
        self.taken = 0

    def receive_some(self, data: Any, now: float, start: int, end: int, enough: int) -> int:
        stop = min(end, start + enough)
        self.taken += stop - start
        self.output.put_raw(bytes((stop - start) // ANSWERED))
        self.wake()
        return stop


ANSWERED = 8
MUCH = 3 * ANSWERS_MAX


def test_two_that_have_much_to_tell_each_other_do_not_wait_for_each_other(loop: asyncio.AbstractEventLoop) -> None:
    sides: list[Answering] = []

    def set_blocked(transport: Transport, is_blocked: bool) -> None:
        transport.peer.is_blocked = is_blocked
        if not is_blocked:
            transport.flush(0.0)

    for end in socket.socketpair():
        end.setblocking(False)
        router = Router(RouterSettings(id="R"), lambda: "token")
        side = Answering(router)
        worker: Any = SimpleNamespace(
            connected=lambda transport: None,
            disconnected=lambda transport: None,
            set_blocked=set_blocked,
            conclude=lambda now: None,
            look_at=lambda *arguments: None,
        )
        worker.turn = Turn(worker, router, loop.call_soon, BusyPoll(loop.call_soon, 0.0))
        transport = Transport(worker, router.connections.new_peer(), side)
        loop.run_until_complete(loop.create_connection(lambda made=transport: made, sock=end))
        side.output.put_raw(bytes(MUCH))
        side.context.shell.flush(0.0)
        sides.append(side)
    while min(side.taken for side in sides) < MUCH + MUCH // ANSWERED:
        turn(loop)
    for side in sides:
        side.context.shell.abort()
    turn(loop)
