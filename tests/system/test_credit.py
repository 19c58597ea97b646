"""Credit is there while a consumer is, and what it was used for in vain comes back."""


import pytest

from routerd.wire import Released
from tests.system.conftest import Connect
from tests.system.proton_client import ProtonClient
from tests.system.proton_links import Consumer
from tests.system.raw_client import RawClient
from tests.system.routers import RunningRouter


def exchange(client: ProtonClient, address: str) -> None:
    """Have a message go through the router, so that what the router had to say before is here."""
    consumer = client.consumer(f"{address}.exchange")
    assert client.producer(f"{address}.exchange").send("there").outcome() == "accepted"
    consumer.close()


def test_a_producer_has_credit_while_there_is_a_consumer(connect: Connect, address: str) -> None:
    client = connect()
    producer = client.producer(address)
    exchange(client, address)
    assert producer.credit == 0
    for _ in range(3):
        first, second = connect().consumer(address), connect().consumer(address)
        producer.wait_for_credit()
        first.close()
        exchange(client, address)
        assert producer.credit > 0
        assert producer.send("one").outcome() == "accepted"
        second.close()
        producer.wait_for_no_credit()


def test_credit_comes_back_as_messages_are_settled(connect: Connect, address: str) -> None:
    client = connect()
    consumer = connect().consumer(address, outcome=None, credit=1000)
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
    # What is less than a quarter comes with the next step.
    producer.wait_for_credit(capacity - capacity // 4)
    assert producer.credit <= capacity


def leave(consumer: Consumer) -> None:
    consumer.close()


def vanish(consumer: Consumer) -> None:
    consumer.client.cut()


@pytest.mark.parametrize("end", [leave, vanish])
def test_what_waits_when_the_last_consumer_leaves_is_released_at_once(connect: Connect, address: str, end) -> None:  # type: ignore[no-untyped-def]
    first, last = connect().consumer(address, credit=0), connect().consumer(address, credit=0)
    client = connect()
    producer = client.producer(address)
    sent = producer.send_all(list(range(20)))
    end(first)
    exchange(client, address)
    assert {one.state for one in sent} == {None}
    end(last)
    assert [one.outcome() for one in sent] == ["released"] * 20
    producer.wait_for_no_credit()


def test_what_a_consumer_may_have_seen_is_modified_when_it_vanishes(connect: Connect, address: str) -> None:
    vanishing = connect()
    consumer = vanishing.consumer(address, outcome=None, credit=5, is_renewed=False)
    sent = connect().producer(address).send_all(list(range(8)))
    assert consumer.wait_for(5) == list(range(5))
    vanishing.cut()
    assert [one.outcome() for one in sent] == ["modified"] * 5 + ["released"] * 3
    assert [(one.is_failed, one.is_undeliverable) for one in sent[:5]] == [(True, False)] * 5


def test_what_a_consumer_left_undecided_goes_to_nobody_else(connect: Connect, address: str) -> None:
    leaving = connect().consumer(address, outcome=None)
    sent = connect().producer(address).send("one")
    assert leaving.take().body == "one"
    staying = connect().consumer(address)
    leaving.close()
    assert sent.outcome() == "modified"
    assert staying.bodies == []


def test_a_consumer_gets_no_more_than_its_credit(connect: Connect, address: str) -> None:
    client = connect()
    consumer = client.consumer(address, credit=3, is_renewed=False)
    producer = connect().producer(address)
    sent = producer.send_all(list(range(10)))
    assert [one.outcome() for one in sent[:3]] == ["accepted"] * 3
    exchange(client, address)
    assert consumer.bodies == [0, 1, 2]
    consumer.grant(5)
    assert consumer.wait_for(8) == list(range(8))
    exchange(client, address)
    assert consumer.bodies == list(range(8))


def test_a_consumer_that_drains_gets_what_waits_and_the_rest_of_its_credit_back(connect: Connect, address: str) -> None:
    consumer = connect().consumer(address, credit=0)
    consumer.drain(5)
    assert consumer.credit == 0
    producer = connect().producer(address)
    sent = producer.send_all([1, 2])
    while len(consumer.received) < 2:
        consumer.drain(10)
    assert consumer.bodies == [1, 2]
    assert [one.outcome() for one in sent] == ["accepted"] * 2
    assert consumer.credit == 0


def test_a_consumer_that_takes_settled_messages_only_gets_them_settled(connect: Connect, address: str) -> None:
    consumer = connect().consumer(address, settle_mode=1)
    sent = connect().producer(address).send("one")
    assert consumer.take().is_settled
    assert sent.outcome() == "accepted"


def test_a_message_that_is_too_large_for_its_consumer_is_rejected(connect: Connect, address: str) -> None:
    consumer = connect().consumer(address, max_message_size=1000)
    producer = connect().producer(address)
    large, small = producer.send(b"x" * 2000), producer.send(b"x" * 100)
    assert [large.outcome(), large.condition] == ["rejected", "amqp:link:message-size-exceeded"]
    assert small.outcome() == "accepted"
    assert consumer.bodies == [b"x" * 100]


def test_what_is_sent_on_credit_that_was_taken_back_is_released_at_once(
    connect: Connect, router: RunningRouter, address: str
) -> None:
    consumer = connect().consumer(address)
    with RawClient(router.port) as client:
        client.open()
        client.attach_producer(address)
        client.wait_for_credit()
        consumer.close()
        numbers = [client.transfer(b"\0Sw\xa1\x03one") for _ in range(5)]
        assert client.outcomes(5) == dict.fromkeys(numbers, Released())
