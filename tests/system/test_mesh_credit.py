"""A producer has credit while there is a consumer at any router, and learns what became of what nobody gets."""

from collections.abc import Callable

import pytest

from tests.system.mesh import Mesh, Span, wait_for_copies
from tests.system.proton_links import Consumer, Producer
from tests.system.test_credit import exchange, leave, vanish

KINDS = ("closest", "balanced", "multicast")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", [leave, vanish])
def test_a_producer_has_credit_while_there_is_a_consumer_anywhere(
    line: Mesh, address: str, kind: str, end: Callable[[Consumer], None]
) -> None:
    address = f"{kind}.{address}"
    client = line.connect("A")
    producer = client.producer(address)
    exchange(client, address)
    assert producer.credit == 0
    for name in "CBA":
        consumer = line.connect(name).consumer(address)
        assert producer.send("one").outcome() == "accepted"
        end(consumer)
        producer.wait_for_no_credit()


def test_credit_stays_while_there_is_another_consumer(line: Mesh, address: str) -> None:
    address = f"multicast.{address}"
    client = line.connect("A")
    producer = client.producer(address)
    consumers = [line.connect("C").consumer(address)]
    for name in "BACB":
        consumers.append(line.connect(name).consumer(address))
        wait_for_copies(consumers, producer)
        consumers.pop(0).close()
        exchange(client, address)
        assert producer.credit > 0
        assert producer.send("one").outcome() == "accepted"


def test_credit_comes_back_as_messages_are_settled(span: Span, address: str) -> None:
    client = span.here()
    consumer = span.there().consumer(address, outcome=None, credit=1000)
    producer = client.producer(address)
    producer.wait_for_credit()
    capacity = producer.credit
    sent = producer.send_all(list(range(capacity)))
    received = [consumer.take() for _ in range(capacity)]
    exchange(client, address)
    assert producer.credit == 0
    for one in received:
        one.decide("accepted")
    assert {one.outcome() for one in sent} == {"accepted"}
    producer.wait_for_credit(capacity - capacity // 4)
    assert producer.credit <= capacity


def test_a_consumer_gets_no_more_than_its_credit(span: Span, address: str) -> None:
    consumer = span.there().consumer(address, credit=3, is_renewed=False)
    client = span.here()
    sent = client.producer(address).send_all(list(range(10)))
    assert [one.outcome() for one in sent[:3]] == ["accepted"] * 3
    exchange(client, address)
    exchange(consumer.client, address)
    assert consumer.bodies == [0, 1, 2]
    consumer.grant(7)
    assert consumer.wait_for(10) == list(range(10))
    assert {one.outcome() for one in sent} == {"accepted"}


def test_a_consumer_that_drains_gets_its_credit_back(span: Span, address: str) -> None:
    consumer = span.there().consumer(address, credit=0)
    consumer.drain(5)
    assert consumer.credit == 0
    sent = span.here().producer(address).send_all([1, 2])
    while len(consumer.received) < 2:
        consumer.drain(10)
    assert consumer.bodies == [1, 2]
    assert [one.outcome() for one in sent] == ["accepted"] * 2


@pytest.mark.parametrize("end", [leave, vanish])
def test_what_no_consumer_has_seen_is_released_when_the_last_one_leaves(
    span: Span, address: str, end: Callable[[Consumer], None]
) -> None:
    consumer = span.there().consumer(address, credit=0)
    client = span.here()
    producer = client.producer(address)
    sent = producer.send_all(list(range(20)))
    exchange(client, address)
    assert {one.state for one in sent} == {None}
    end(consumer)
    assert [one.outcome() for one in sent] == ["released"] * 20
    producer.wait_for_no_credit()


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_consumer_may_have_seen_is_modified_when_it_vanishes(span: Span, address: str, kind: str) -> None:
    vanishing = span.there()
    consumer = vanishing.consumer(f"{kind}.{address}", outcome=None, credit=5, is_renewed=False)
    sent = span.here().producer(f"{kind}.{address}").send_all(list(range(5)))
    assert consumer.wait_for(5) == list(range(5))
    vanishing.cut()
    assert [one.outcome() for one in sent] == ["modified"] * 5
    assert [(one.is_failed, one.is_undeliverable) for one in sent] == [(True, False)] * 5


def test_what_waits_for_a_consumer_that_vanishes_goes_to_another_one_or_comes_back(span: Span, address: str) -> None:
    vanishing, staying = span.there(), span.there()
    first = vanishing.consumer(address, outcome=None, credit=5, is_renewed=False)
    producer = span.here().producer(address)
    sent = producer.send_all(list(range(8)))
    assert first.wait_for(5) == list(range(5))
    second = staying.consumer(address, credit=0)
    vanishing.cut()
    assert [one.outcome() for one in sent[:5]] == ["modified"] * 5
    second.grant(10)
    assert [one.outcome() for one in sent[5:]] == ["accepted"] * 3
    assert second.bodies == [5, 6, 7]


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_gets_is_released(line: Mesh, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    consumer = line.connect("C").consumer(address)
    addressed, anonymous = line.connect("A").producer(address), line.connect("A").producer(None)
    assert anonymous.send("lost", address=f"{address}.nobody").outcome() == "released"
    addressed.wait_for_credit()
    assert anonymous.send("one", address=address).outcome() == "accepted"
    consumer.close()
    assert anonymous.send("two", address=address).outcome() == "released"
    addressed.wait_for_no_credit()


def test_a_producer_is_told_what_is_too_large_for_the_consumer(span: Span, address: str) -> None:
    consumer = span.there().consumer(address, max_message_size=1000)
    producer = span.here().producer(address)
    large, small = producer.send(b"x" * 2000), producer.send(b"x" * 100)
    assert [large.outcome(), large.condition] == ["rejected", "amqp:link:message-size-exceeded"]
    assert small.outcome() == "accepted"
    assert consumer.bodies == [b"x" * 100]


def test_a_producer_that_vanishes_leaves_nothing_behind(span: Span, address: str) -> None:
    consumer = span.there().consumer(address, outcome=None)
    vanishing = span.here()
    vanishing.producer(address).send_all(list(range(5)))
    received = [consumer.take() for _ in range(5)]
    vanishing.cut()
    for one in received:
        one.decide("accepted")

    def unsettled() -> list[int]:
        return [
            row["identity"]
            for name in (span.near, span.far)
            for row in span.mesh.query(name, "router.link")
            if row["unsettledCount"] and row["linkType"] != "endpoint"
        ]

    producer: Producer = span.here().producer(address)
    sent = producer.send("next")
    consumer.take().decide("accepted")
    assert sent.outcome() == "accepted"
    assert unsettled() == []
