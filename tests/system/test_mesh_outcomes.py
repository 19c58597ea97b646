"""What producers send at one router reaches the consumers at another, and what these decide comes back."""

from collections import Counter

import pytest

from tests.system.mesh import Span, wait_for_copies


@pytest.mark.parametrize("kind", ["closest", "balanced", "multicast"])
def test_many_producers_and_consumers_lose_double_and_reorder_nothing(span: Span, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    consumers = [connect().consumer(address) for connect in (span.here, span.there) * 2]
    producers = [connect().producer(address) for connect in (span.here, span.there) * 2]
    wait_for_copies(consumers if kind == "multicast" else [], *producers)
    sent = [producer.send([number, turn]) for turn in range(50) for number, producer in enumerate(producers)]
    assert {one.outcome() for one in sent} == {"accepted"}
    copies = len(consumers) if kind == "multicast" else 1
    bodies = [[tuple(body) for body in consumer.bodies if body != "probe"] for consumer in consumers]
    received = Counter(body for some in bodies for body in some)
    assert received == {(number, turn): copies for turn in range(50) for number in range(4)}
    by_producer = [[turn for number, turn in some if number == one] for some in bodies for one in range(4)]
    assert by_producer == [sorted(turns) for turns in by_producer]


@pytest.mark.parametrize("kind", ["closest", "balanced", "multicast"])
def test_settled_messages_arrive_settled_and_in_their_order(span: Span, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    consumer = span.there().consumer(address, credit=1000)
    span.here().producer(address).send_all(list(range(500)), settled=True)
    assert consumer.wait_for(500) == list(range(500))
    assert {one.is_settled for one in consumer.received} == {True}
