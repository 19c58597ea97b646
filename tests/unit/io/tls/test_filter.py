"""What TLS costs counts against the share that a connection has of a turn."""

import asyncio
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from routerd.io.sockets.worker_turn import LEAST_READ, READ_SIZE, SHARE_S
from routerd.io.tls.filter import TlsFilter
from tests.fuzz.play import whole
from tests.fuzz.targets.tls import REQUIRES, Entrance, loop
from tests.interop.certificates import absence

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@pytest.fixture
def entrance() -> Iterator[Entrance]:
    asyncio._set_running_loop(loop)
    yield Entrance(REQUIRES, READ_SIZE)
    asyncio._set_running_loop(None)


def sent(session: Any, octets: bytes) -> bytes:
    pieces: list[bytes] = []
    session.send(octets, pieces.append)
    return b"".join(pieces)


def test_records_that_cost_much_are_read_a_few_at_a_time_and_in_turns(
    entrance: Entrance, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = entrance.shake_hands()
    transport: Any = entrance.transport
    receive = entrance.filter.receive

    def take_long(octets: memoryview) -> None:
        done_at = monotonic() + SHARE_S
        receive(octets)
        while monotonic() <= done_at:
            pass

    monkeypatch.setattr(TlsFilter, "receive", lambda self, octets: take_long(octets))
    octets = sent(client, b"x")
    transport.get_buffer(-1)[: len(octets)] = octets
    transport.buffer_updated(len(octets))
    assert (transport.is_paused, len(transport.get_buffer(-1))) == (True, LEAST_READ)
    while entrance.place.turns:
        entrance.place.turns.popleft()()
    assert (transport.is_paused, bytes(entrance.place.delivered)) == (False, b"x")


def test_all_arrives_however_much_is_read_at_a_time(entrance: Entrance) -> None:
    client = entrance.shake_hands()
    message = b"x" * (8 * READ_SIZE)
    octets = sent(client, message)
    sizes = []
    while octets:
        size = len(entrance.transport.get_buffer(-1))
        entrance.take(octets[:size], whole)
        octets = octets[size:]
        sizes.append(size)
    assert bytes(entrance.place.delivered) == message
    assert min(sizes) >= LEAST_READ
    assert max(sizes) <= READ_SIZE
