"""Large messages pass through several routers piece by piece, beside all others."""

from collections.abc import Callable

import pytest

from tests.system.conftest import next_and_across
from tests.system.mesh import Mesh, Span, wait_for_copies
from tests.system.proton_links import Streamed
from tests.system.test_large_messages import CHUNK, MIB, Checksum, checksum_of, in_background, large

SIZE = 5 * MIB
KINDS = ("closest", "balanced", "multicast")


def is_all(arrived: Checksum, size: int = SIZE) -> bool:
    expected = checksum_of(size)
    return (arrived.octets, arrived.value) == (expected.octets, expected.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("settled", [False, True], ids=["unsettled", "settled"])
def test_a_large_message_passes(span: Span, address: str, kind: str, settled: bool) -> None:
    arrived = Checksum()
    receiving = span.there()
    consumer = receiving.consumer(f"{kind}.{address}", sink=arrived)
    sent = span.here().producer(f"{kind}.{address}").stream(large(SIZE), settled=settled)
    receiving.wait_until(lambda: consumer.received, "all of it arrives")
    assert settled or sent.outcome() == "accepted"
    assert is_all(arrived)


def test_several_large_messages_pass_at_once_and_small_ones_between(span: Span, address: str) -> None:
    sinks = [Checksum() for _ in range(4)]
    clients = [span.there() for _ in sinks]
    consumers = [one.consumer(f"{address}.{at}", sink=sinks[at]) for at, one in enumerate(clients)]
    producers = [span.here().producer(f"{address}.{at}") for at in range(len(sinks))]
    beside = span.there().consumer(address)
    quick = span.here().producer(address)
    begun = [producer.begin() for producer in producers]
    threads = [in_background(writer(one)) for one in begun]
    assert {one.outcome() for one in quick.send_all(list(range(200)))} == {"accepted"}
    for thread in threads:
        thread.join()
    assert [one.sent.outcome() for one in begun] == ["accepted"] * len(sinks)
    assert [len(one.received) for one in consumers] == [1] * len(sinks)
    assert all(map(is_all, sinks))
    assert beside.bodies == list(range(200))


def writer(begun: Streamed, size: int = SIZE) -> Callable[[], object]:
    return lambda: begun.write_all(large(size))


@pytest.mark.parametrize("kind", ["closest", "balanced"])
def test_a_consumer_that_stalls_in_a_large_message_stalls_its_own_link_only(
    span: Span, address: str, kind: str
) -> None:
    # More than all the windows on its way, those of the sockets too.
    size = 64 * MIB
    arrived, other = Checksum(), Checksum()
    receiving, sending = span.there(), span.here()
    stalled = receiving.consumer(f"{kind}.{address}", sink=arrived, session=receiving.session(window_bytes=MIB))
    small = span.there().consumer(address)
    span.there().consumer(f"{address}.large", sink=other)
    producer = sending.producer(f"{kind}.{address}", session=sending.session())
    stalled.stall()
    begun = producer.begin()
    thread = in_background(writer(begun, size))
    beside = span.here().producer(address)
    assert {beside.send(number).outcome() for number in range(50)} == {"accepted"}
    assert span.here().producer(f"{address}.large").stream(large(SIZE)).outcome() == "accepted"
    assert is_all(other)
    sending.wait_until(lambda: producer.link.session.outgoing_bytes > 0, "the message is stuck")
    assert thread.is_alive()
    assert {beside.send(number).outcome() for number in range(50)} == {"accepted"}
    assert (len(small.bodies), stalled.received, begun.sent.state) == (100, [], None)
    stalled.go_on()
    receiving.wait_until(lambda: stalled.received, "all of it arrives")
    thread.join()
    assert begun.sent.outcome() == "accepted"
    assert is_all(arrived, size)


def test_a_message_arrives_as_it_is_sent(span: Span, address: str) -> None:
    arrived = Checksum()
    receiving = span.there()
    consumer = receiving.consumer(address, sink=arrived)
    begun = span.here().producer(address).begin()
    octets = 0
    for chunk in large(4 * len(CHUNK)):
        begun.write(chunk)
        octets += len(chunk)
        # proton keeps back what does not fill a frame, and so may each router.
        receiving.wait_until(lambda: arrived.octets >= octets - 3 * 16_384, "what was sent so far is here")  # noqa: B023
    assert consumer.received == []
    begun.end()
    assert begun.sent.outcome() == "accepted"
    assert arrived.octets == octets


@next_and_across
def test_a_message_that_is_given_up_is_given_up_at_its_consumer(span: Span, address: str) -> None:
    arrived = Checksum()
    receiving = span.there()
    consumer = receiving.consumer(address, sink=arrived)
    producer = span.here().producer(address)
    begun = producer.begin()
    for chunk in large(4 * len(CHUNK)):
        begun.write(chunk)
    receiving.wait_until(lambda: arrived.octets > len(CHUNK), "some of it is here")
    begun.abort()
    receiving.wait_until(lambda: consumer.aborted == 1, "it is given up")
    assert producer.send("next").outcome() == "accepted"
    assert len(consumer.received) == 1


def test_a_large_message_is_copied_to_all_routers(line: Mesh, address: str) -> None:
    address = f"multicast.{address}"
    sinks = [Checksum() for _ in range(6)]
    clients = [line.connect("ABC"[at % 3]) for at in range(6)]
    consumers = [one.consumer(address, sink=sinks[at]) for at, one in enumerate(clients)]
    producer = line.connect("A").producer(address)
    wait_for_copies(consumers, producer)
    for one in sinks:
        one.octets = one.value = 0
    sent = producer.stream(large(SIZE))
    assert sent.outcome() == "accepted"
    assert all(map(is_all, sinks))


def test_the_rest_is_swallowed_when_the_consumer_vanishes(span: Span, address: str) -> None:
    arrived = Checksum()
    vanishing = span.there()
    vanishing.consumer(address, sink=arrived)
    producer = span.here().producer(address)
    begun = producer.begin()
    chunks = large(16 * MIB)
    for _ in range(8):
        begun.write(next(chunks))
    vanishing.wait_until(lambda: arrived.octets > len(CHUNK), "some of it is here")
    vanishing.cut()
    begun.write_all(chunks)
    assert begun.sent.outcome() == "modified"
    # What is sent on the credit of before may still find nobody.
    producer.wait_for_no_credit()
    consumer = span.there().consumer(address)
    assert producer.send("next").outcome() == "accepted"
    assert consumer.bodies == ["next"]
