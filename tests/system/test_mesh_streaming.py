"""Large messages pass through several routers piece by piece, beside all others."""

from collections.abc import Callable

from tests.system.mesh import Mesh, Span, wait_for_copies
from tests.system.proton_links import Streamed
from tests.system.test_large_messages import MIB, Checksum, checksum_of, in_background, large

SIZE = 5 * MIB


def is_all(arrived: Checksum, size: int = SIZE) -> bool:
    expected = checksum_of(size)
    return (arrived.octets, arrived.value) == (expected.octets, expected.value)


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


def test_a_consumer_that_stalls_in_a_large_message_stalls_its_own_link_only(span: Span, address: str) -> None:
    # More than all the windows on its way, those of the sockets too.
    size = 64 * MIB
    arrived, other = Checksum(), Checksum()
    receiving, sending = span.there(), span.here()
    stalled = receiving.consumer(f"{address}.stalled", sink=arrived, session=receiving.session(window_bytes=MIB))
    small = span.there().consumer(address)
    span.there().consumer(f"{address}.large", sink=other)
    producer = sending.producer(f"{address}.stalled", session=sending.session())
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
