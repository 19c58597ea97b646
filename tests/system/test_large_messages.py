"""Messages larger than a router's memory pass through it piece by piece."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from tests.system.conftest import Connect
from tests.system.proton_links import Producer
from tests.system.routers import RunningRouter

MIB = 1 << 20
MEMORY_MAX = 64 * MIB
CHUNK = bytes(range(256)) * 1024
DATA_SECTION = b"\0Su\xb0"
"""A section of octets, its size in the four octets that follow."""


class Checksum:
    """Takes octets, and remembers how many there were and their checksum."""

    def __init__(self) -> None:
        self.octets = 0
        self.value = 0

    def __call__(self, octets: bytes) -> None:
        self.octets += len(octets)
        self.value = zlib.crc32(octets, self.value)


def large(size: int) -> Iterator[bytes]:
    """Yield the pieces of a message with a body of this size."""
    yield DATA_SECTION + size.to_bytes(4, "big")
    for at in range(0, size, len(CHUNK)):
        yield CHUNK[: size - at]


def checksum_of(size: int) -> Checksum:
    """Return the checksum of such a message."""
    expected = Checksum()
    for chunk in large(size):
        expected(chunk)
    return expected


@contextmanager
def little_memory(router: RunningRouter) -> Iterator[None]:
    """Hold that the router never has much more memory meanwhile than it had before."""
    serving = router.serving()
    before = sum(one.rss_bytes() for one in serving)
    for one in serving:
        one.forget_peak()
    yield
    assert sum(one.peak_rss_bytes() for one in serving) - before < MEMORY_MAX


def in_background(call: Callable[[], object]) -> Thread:
    """Run something in a thread."""
    thread = Thread(target=call, daemon=True)
    thread.start()
    return thread


def check_it_passes(connect: Connect, router: RunningRouter, address: str, size: int) -> None:
    """Send a large message through a router."""
    arrived = Checksum()
    client = connect()
    consumer = client.consumer(address, sink=arrived)
    with little_memory(router):
        sent = connect().producer(address).stream(large(size))
        client.wait_until(lambda: consumer.received, "all of it arrives", within_s=120)
    assert sent.outcome() == "accepted"
    expected = checksum_of(size)
    assert (arrived.octets, arrived.value) == (expected.octets, expected.value)


def test_a_message_larger_than_the_memory_for_it_passes(connect: Connect, router: RunningRouter, address: str) -> None:
    check_it_passes(connect, router, address, 2 * MEMORY_MAX)


@pytest.mark.soak
def test_two_gibibytes_pass(connect: Connect, router: RunningRouter, address: str) -> None:
    check_it_passes(connect, router, address, 2048 * MIB)


def test_many_large_messages_pass_at_once(connect: Connect, router: RunningRouter, address: str) -> None:
    sinks = [Checksum() for _ in range(4)]
    clients = [connect() for _ in sinks]
    consumers = [one.consumer(f"{address}.{at}", sink=sinks[at]) for at, one in enumerate(clients)]
    producers = [connect().producer(f"{address}.{at}") for at in range(len(sinks))]

    def sender(producer: Producer) -> Callable[[], object]:
        return lambda: producer.stream(large(16 * MIB))

    with little_memory(router):
        threads = [in_background(sender(one)) for one in producers]
        for client, consumer in zip(clients, consumers, strict=True):
            client.wait_until(lambda one=consumer: one.received, "it arrives", within_s=60)  # type: ignore[misc]
        for thread in threads:
            thread.join()
    expected = checksum_of(16 * MIB)
    assert [(one.octets, one.value) for one in sinks] == [(expected.octets, expected.value)] * len(sinks)


def test_messages_that_links_of_one_session_send_in_turn_all_arrive(
    connect: Connect, router: RunningRouter, address: str
) -> None:
    size = 12 * MIB
    client, sending = connect(), connect()
    consumer = client.consumer(address, sink=Checksum())
    begun = [sending.producer(address).begin() for _ in range(4)]
    for pieces in zip(*[large(size) for _ in begun], strict=True):
        for one, piece in zip(begun, pieces, strict=True):
            one.write(piece)
    for one in begun:
        one.end()
    client.wait_until(lambda: len(consumer.received) == len(begun), "all of them arrive", within_s=60)
    assert [one.sent.outcome() for one in begun] == ["accepted"] * len(begun)


def test_a_consumer_that_stalls_in_a_large_message_stalls_its_own_link_only(
    connect: Connect, router: RunningRouter, address: str
) -> None:
    size = 96 * MIB
    arrived = Checksum()
    receiving, sending = connect(max_frame_size=16_384), connect()
    stalled = receiving.consumer(f"{address}.stalled", sink=arrived, session=receiving.session(window_bytes=MIB))
    other = receiving.consumer(address, session=receiving.session())
    producer = sending.producer(f"{address}.stalled", session=sending.session())
    beside = sending.producer(address, session=sending.session())
    stalled.stall()
    with little_memory(router):
        begun = producer.begin()
        thread = in_background(lambda: begun.write_all(large(size)))
        for number in range(300):
            assert beside.send(number).outcome() == "accepted"
        sending.wait_until(lambda: producer.link.session.outgoing_bytes > 0, "the message is stuck")
        assert (stalled.received, begun.sent.state) == ([], None)
        assert other.bodies == list(range(300))
        stalled.go_on()
        receiving.wait_until(lambda: stalled.received, "all of it arrives", within_s=60)
        thread.join()
    assert begun.sent.outcome() == "accepted"
    expected = checksum_of(size)
    assert (arrived.octets, arrived.value) == (expected.octets, expected.value)
