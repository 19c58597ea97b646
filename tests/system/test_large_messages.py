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


def check_it_passes(connect: Connect, router: RunningRouter, address: str, size: int, *, settled: bool) -> None:
    """Send a large message through a router."""
    arrived = Checksum()
    client = connect()
    consumer = client.consumer(address, sink=arrived)
    with little_memory(router):
        sent = connect().producer(address).stream(large(size), settled=settled)
        client.wait_until(lambda: consumer.received, "all of it arrives", within_s=120)
    if not settled:
        assert sent.outcome() == "accepted"
    expected = checksum_of(size)
    assert (arrived.octets, arrived.value) == (expected.octets, expected.value)


@pytest.mark.parametrize("settled", [False, True], ids=["unsettled", "settled"])
def test_a_message_larger_than_the_memory_for_it_passes(
    connect: Connect, router: RunningRouter, address: str, settled: bool
) -> None:
    check_it_passes(connect, router, address, 256 * MIB, settled=settled)


@pytest.mark.soak
def test_two_gibibytes_pass(connect: Connect, router: RunningRouter, address: str) -> None:
    check_it_passes(connect, router, address, 2048 * MIB, settled=False)


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


@pytest.mark.parametrize("kind", ["balanced", "multicast"])
def test_a_consumer_that_stalls_in_a_large_message_stalls_its_own_link_only(
    connect: Connect, router: RunningRouter, address: str, kind: str
) -> None:
    size = 96 * MIB
    arrived = Checksum()
    receiving, sending = connect(max_frame_size=16_384), connect()
    stalled = receiving.consumer(f"{kind}.{address}", sink=arrived, session=receiving.session(window_bytes=MIB))
    other = receiving.consumer(address, session=receiving.session())
    producer = sending.producer(f"{kind}.{address}", session=sending.session())
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


def test_a_message_arrives_as_it_is_sent(connect: Connect, address: str) -> None:
    arrived = Checksum()
    receiving = connect()
    consumer = receiving.consumer(address, sink=arrived)
    begun = connect().producer(address).begin()
    octets = 0
    for chunk in large(4 * len(CHUNK)):
        begun.write(chunk)
        octets += len(chunk)
        # proton keeps back what does not fill a frame.
        receiving.wait_until(lambda: arrived.octets >= octets - 16_384, "what was sent so far is here")  # noqa: B023
    assert consumer.received == []
    begun.end()
    assert begun.sent.outcome() == "accepted"
    assert arrived.octets == octets


def test_a_message_that_is_given_up_is_given_up_at_its_consumer(connect: Connect, address: str) -> None:
    arrived = Checksum()
    receiving = connect()
    consumer = receiving.consumer(address, sink=arrived)
    producer = connect().producer(address)
    begun = producer.begin()
    for chunk in large(4 * len(CHUNK)):
        begun.write(chunk)
    receiving.wait_until(lambda: arrived.octets > len(CHUNK), "some of it is here")
    begun.abort()
    receiving.wait_until(lambda: consumer.aborted == 1, "it is given up")
    assert producer.send("next").outcome() == "accepted"
    assert len(consumer.received) == 1


def test_the_rest_is_swallowed_when_the_consumer_vanishes(
    connect: Connect, router: RunningRouter, address: str
) -> None:
    arrived = Checksum()
    vanishing = connect()
    vanishing.consumer(address, sink=arrived)
    producer = connect().producer(address)
    begun = producer.begin()
    size = 96 * MIB
    with little_memory(router):
        chunks = large(size)
        for _ in range(20):
            begun.write(next(chunks))
        vanishing.wait_until(lambda: arrived.octets > len(CHUNK), "some of it is here")
        vanishing.cut()
        begun.write_all(chunks)
        assert begun.sent.outcome() == "modified"
    consumer = connect().consumer(address)
    assert producer.send("next").outcome() == "accepted"
    assert consumer.bodies == ["next"]
