"""What a producer at one router sends reaches the consumers at another, and what these decide comes back."""

from collections import Counter
from itertools import combinations_with_replacement
from typing import Any

import pytest

from routerd.wire import Accepted, Disposition, Error, Modified, Rejected, Released, Symbol, Transfer
from tests.system.mesh import Mesh, Span, wait_for_copies
from tests.system.raw_client import RawClient

KINDS = ("closest", "balanced", "multicast")
RANKS = ("released", "modified", "accepted", "rejected")
"""Of several outcomes of a multicast message, the last one here prevails."""
BODY = b"\0Sw\xa1\x03one"
STATES = (
    Accepted(),
    Released(),
    Rejected(error=Error(condition="test:refused", description="a reason", info={Symbol("key"): "value"})),
    Modified(delivery_failed=True, undeliverable_here=True, message_annotations={Symbol("x-opt-why"): 7}),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_settled", [False, True], ids=["unsettled", "settled"])
def test_messages_arrive_in_their_order_and_settled_or_not_as_they_were_sent(
    span: Span, address: str, kind: str, is_settled: bool
) -> None:
    address = f"{kind}.{address}"
    consumer = span.there().consumer(address, credit=1000)
    sent = span.here().producer(address).send_all(list(range(500)), settled=is_settled)
    assert consumer.wait_for(500) == list(range(500))
    assert {one.is_settled for one in consumer.received} == {is_settled}
    if not is_settled:
        assert {one.outcome() for one in sent} == {"accepted"}


@pytest.mark.parametrize("kind", KINDS)
def test_many_producers_and_consumers_lose_and_double_nothing(span: Span, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    consumers = [connect().consumer(address) for connect in (span.here, span.there) * 2]
    producers = [connect().producer(address) for connect in (span.here, span.there) * 2]
    wait_for_copies(consumers if kind == "multicast" else [], *producers)
    sent = [producer.send([number, turn]) for turn in range(50) for number, producer in enumerate(producers)]
    assert {one.outcome() for one in sent} == {"accepted"}
    copies = len(consumers) if kind == "multicast" else 1
    received = Counter(tuple(body) for consumer in consumers for body in consumer.bodies if body != "probe")
    assert received == {(number, turn): copies for turn in range(50) for number in range(4)}


@pytest.mark.parametrize("state", STATES, ids=lambda state: type(state).__name__)
@pytest.mark.parametrize("kind", ["balanced", "closest"])
def test_an_outcome_comes_back_with_all_that_belongs_to_it(span: Span, address: str, kind: str, state: Any) -> None:
    address = f"{kind}.{address}"
    mesh = span.mesh
    with RawClient(mesh.port(span.far)) as consumer, RawClient(mesh.port(span.near)) as producer:
        for client in (consumer, producer):
            client.open()
        consumer.attach_consumer(address, credit=10)
        producer.attach_producer(address)
        producer.wait_for_credit()
        number = producer.transfer(BODY)
        arrived = consumer.wait_for(Transfer)
        consumer.send(Disposition(role=True, first=arrived.delivery_id, settled=True, state=state))
        assert producer.outcomes(1) == {number: state}


@pytest.mark.parametrize("outcomes", [*combinations_with_replacement(RANKS, 2)], ids="+".join)
def test_the_outcomes_of_copies_at_several_routers_become_one(
    line: Mesh, address: str, outcomes: tuple[str, ...]
) -> None:
    address = f"multicast.{address}"
    consumers = [line.connect(name).consumer(address, outcome=None) for name in ("B", "C")]
    producer = line.connect("A").producer(address)
    wait_for_copies(consumers, producer, by_hand=True)
    sent = producer.send("one")
    for consumer, outcome in zip(consumers, outcomes, strict=True):
        consumer.take().decide(outcome)
    assert sent.outcome() == max(outcomes, key=RANKS.index)


def test_a_copied_message_waits_for_the_consumer_that_decides_last(line: Mesh, address: str) -> None:
    address = f"multicast.{address}"
    quick, slow = (line.connect(name).consumer(address, outcome=None) for name in ("A", "C"))
    producer = line.connect("A").producer(address)
    wait_for_copies([quick, slow], producer, by_hand=True)
    sent = producer.send("one")
    received = slow.take()
    quick.take().decide("accepted")
    assert producer.send("two", settled=True).state is None
    assert slow.take().body == "two"
    assert sent.state is None
    received.decide("released")
    assert sent.outcome() == "accepted"


@pytest.mark.parametrize("kind", KINDS)
def test_a_consumer_that_wants_settled_messages_gets_them_settled(span: Span, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    consumer = span.there().consumer(address, settle_mode=1)
    sent = span.here().producer(address).send("one")
    assert consumer.take().is_settled
    assert sent.outcome() == "accepted"
