"""Sockets that are accepted: those that stay, those that are closed at once, and those that wait to be told."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop

from routerd.core import Gate, Observer, PolicySettings, Verdict
from routerd.io.connections.entrance import Entrance
from tests.waiting import eventually_beside

BUFFER = 4


class Connection(asyncio.BufferedProtocol):
    """Keeps what it is sent."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._buffer = bytearray(BUFFER)
        self.octets = b""
        self.is_over = False

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._buffer)

    def buffer_updated(self, nbytes: int) -> None:
        self.octets += self._buffer[:nbytes]

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        self._gate.socket_closed()


class House:
    """A listener with an entrance."""

    def __init__(self, max_connections: int, *, is_alone: bool) -> None:
        self.gate = Gate(
            PolicySettings(max_connections=max_connections), (), Observer(), lambda *_: None, is_alone=is_alone
        )
        self.inside: list[Connection] = []
        self.asked = 0
        self.protocols: list[Any] = []
        self._entrance = Entrance(self.gate, self._ask)

    def _ask(self) -> None:
        self.asked += 1

    def _make(self) -> Any:
        self.inside.append(Connection(self.gate))
        return self.inside[-1]

    def _protocol(self) -> asyncio.BaseProtocol:
        self.protocols.append(self._entrance.protocol(self._make))
        found: asyncio.BaseProtocol = self.protocols[-1]
        return found

    async def __aenter__(self) -> "House":
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(self._protocol, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()

    def decide(self, *allowed: int) -> None:
        """Have the waiting sockets told that there may be so many."""
        for allowance in allowed:
            self.gate.account.renew()
            self.gate.account.report()
            self.gate.account.answered(Verdict(allowance=allowance))


def run(test: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(test(), 20))


def test_a_socket_beyond_the_limit_is_closed_without_an_octet() -> None:
    async def test() -> None:
        async with House(1, is_alone=True) as house:
            _, first = await asyncio.open_connection("127.0.0.1", house.port)
            await eventually_beside(lambda: house.inside, "the first is let in")
            reader, second = await asyncio.open_connection("127.0.0.1", house.port)
            assert await reader.read() == b""
            second.close()
            first.close()
            await eventually_beside(lambda: house.gate.account.sockets == 0, "both are gone")
            assert (len(house.inside), house.gate.counters.connections_denied) == (1, 1)

    run(test)


@pytest.mark.parametrize("early", [b"", b"AMQP", b"more than fits the buffer"])
def test_a_socket_that_waits_loses_nothing_of_what_it_sends(early: bytes) -> None:
    async def test() -> None:
        async with House(1, is_alone=False) as house:
            _, writer = await asyncio.open_connection("127.0.0.1", house.port)
            writer.write(early)
            await eventually_beside(lambda: house.asked, "it is asked for")
            assert house.inside == []
            house.decide(1)
            [inside] = house.inside
            writer.write(b" and later")
            await eventually_beside(lambda: inside.octets == early + b" and later", "all octets are there")
            writer.close()
            await eventually_beside(lambda: inside.is_over, "it has ended")
            assert house.gate.account.sockets == 0

    run(test)


def test_a_socket_that_waits_may_be_refused_or_leave() -> None:
    async def test() -> None:
        async with House(1, is_alone=False) as house:
            reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
            await eventually_beside(lambda: house.asked == 1, "it is asked for")
            _, gone = await asyncio.open_connection("127.0.0.1", house.port)
            await eventually_beside(lambda: house.asked == 2, "it is asked again")
            gone.close()
            await eventually_beside(lambda: house.protocols[1].is_over, "it is closed")
            house.decide(0)
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
            assert (house.inside, house.gate.account.sockets) == ([], 0)

    run(test)


def test_a_socket_that_has_left_takes_no_place() -> None:
    async def test() -> None:
        async with House(1, is_alone=False) as house:
            _, gone = await asyncio.open_connection("127.0.0.1", house.port)
            await eventually_beside(lambda: house.asked, "it is asked for")
            gone.close()
            await eventually_beside(lambda: house.protocols[0].is_over, "it has left")
            house.decide(1)
            assert (house.inside, house.gate.account.sockets) == ([], 0)

    run(test)
