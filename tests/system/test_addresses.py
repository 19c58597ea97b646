"""Where a message goes, by the address of its link or its own."""

import re

import pytest
from proton import Message

from tests.system.conftest import Connect
from tests.system.routers import ROUTER_ID


@pytest.mark.parametrize("size", [0, 100, 5000, 100_000])
def test_a_message_reaches_the_consumer_of_its_address(connect: Connect, address: str, size: int) -> None:
    consumer = connect().consumer(address)
    connect().consumer(f"{address}.other", outcome=None)
    body = bytes(number % 251 for number in range(size))
    sent = connect().producer(address).send(body)
    assert consumer.take().body == body
    assert sent.outcome() == "accepted"


def test_every_section_of_a_message_passes_unchanged(connect: Connect, address: str) -> None:
    message = Message(
        body={"map": [1, 2.5, None, b"octets"]},
        id="an id",
        user_id=b"a user",
        address=address,
        subject="a subject",
        reply_to="a reply",
        correlation_id=7,
        content_type="a/type",
        content_encoding="none",
        expiry_time=4.0,
        creation_time=2.0,
        group_id="a group",
        group_sequence=3,
        reply_to_group_id="another",
        durable=True,
        priority=7,
        ttl=60.0,
        first_acquirer=True,
        delivery_count=2,
        properties={"application": "property", "number": 5},
        annotations={"x-opt-ours": "kept"},
        instructions={"x-opt-delivery": "kept, too"},
    )
    consumer = connect().consumer(address)
    connect().producer(address).send_encoded(message.encode())
    assert consumer.take().octets == message.encode()


@pytest.mark.parametrize("prefix", ["amqp:/", "amqp://some.host/", "/"])
def test_an_address_may_be_written_with_scheme_and_host(connect: Connect, address: str, prefix: str) -> None:
    consumer = connect().consumer(address)
    assert connect().producer(prefix + address).send("one").outcome() == "accepted"
    assert connect().producer(None).send("two", address=prefix + address).outcome() == "accepted"
    assert consumer.wait_for(2) == ["one", "two"]


def test_an_anonymous_producer_reaches_every_address(connect: Connect, address: str) -> None:
    consumers = [connect().consumer(f"{address}.{number}") for number in range(4)]
    producer = connect().producer(None)
    sent = [producer.send(number, address=f"{address}.{number % 4}") for number in range(40)]
    assert [one.outcome() for one in sent] == ["accepted"] * 40
    assert [consumer.wait_for(10) for consumer in consumers] == [list(range(first, 40, 4)) for first in range(4)]


def test_what_an_anonymous_producer_sends_to_nobody_is_released_at_once(connect: Connect, address: str) -> None:
    producer = connect().producer(None)
    assert producer.send("one", address=address).outcome() == "released"
    consumer = connect().consumer(address)
    assert producer.send("two", address=address).outcome() == "accepted"
    consumer.close()
    assert producer.send("three", address=address).outcome() == "released"


def test_an_anonymous_producer_is_told_that_an_address_is_unavailable_or_missing(connect: Connect) -> None:
    producer = connect().producer(None)
    unavailable, missing = producer.send("one", address="closed.for.all"), producer.send("two")
    assert [unavailable.outcome(), unavailable.condition] == ["rejected", "amqp:not-found"]
    assert [missing.outcome(), missing.condition] == ["rejected", "amqp:precondition-failed"]


@pytest.mark.parametrize("address", ["closed", "closed.for.all", "pattern/none/of/these"])
def test_nobody_attaches_to_an_address_that_is_unavailable(connect: Connect, address: str) -> None:
    client = connect()
    assert client.refused_producer(address) == "amqp:not-found"
    assert client.refused_consumer(address) == "amqp:not-found"
    assert client.is_open


def test_a_dynamic_address_is_opaque_and_leads_to_its_consumer_only(connect: Connect) -> None:
    consumers = [connect().consumer(None) for _ in range(4)]
    addresses = [consumer.address for consumer in consumers]
    assert len(set(addresses)) == 4
    assert all(re.fullmatch(rf"amqp:/_topo/0/{re.escape(ROUTER_ID)}/temp\.[\w-]{{15}}", one) for one in addresses)
    anonymous = connect().producer(None)
    for to in addresses:
        assert connect().producer(to).send(to).outcome() == "accepted"
        assert anonymous.send(to, address=to).outcome() == "accepted"
    assert [consumer.wait_for(2) for consumer in consumers] == [[one, one] for one in addresses]


def test_a_dynamic_address_ends_with_its_consumer(connect: Connect) -> None:
    consumer = connect().consumer(None)
    producer = connect().producer(None)
    assert producer.send("one", address=consumer.address).outcome() == "accepted"
    consumer.close()
    assert producer.send("two", address=consumer.address).outcome() == "released"


def test_requests_get_their_replies(connect: Connect, address: str) -> None:
    responder = connect()
    requests, replies = responder.consumer(address), responder.producer(None)
    requesters = [connect() for _ in range(4)]
    inboxes = [one.consumer(None) for one in requesters]
    outboxes = [one.producer(address) for one in requesters]
    for turn in range(5):
        for number, (inbox, outbox) in enumerate(zip(inboxes, outboxes, strict=True)):
            outbox.send([turn, number], reply_to=inbox.address, correlation_id=turn)
        for _ in inboxes:
            request = requests.take().message
            replies.send(request.body, address=request.reply_to, correlation_id=request.correlation_id, settled=True)
        answers = [inbox.take().message for inbox in inboxes]
        assert [one.body for one in answers] == [[turn, number] for number in range(4)]
        assert [one.correlation_id for one in answers] == [turn] * 4


@pytest.mark.parametrize("producing", ["_local/{}", f"_topo/0/{ROUTER_ID}/{{}}", f"amqp:/_topo/0/{ROUTER_ID}/{{}}"])
@pytest.mark.parametrize("consuming", ["_local/{}", f"_topo/0/{ROUTER_ID}/{{}}"])
def test_an_address_of_this_router_has_two_names(
    connect: Connect, address: str, producing: str, consuming: str
) -> None:
    address = re.sub("[^a-z]", ".", address)
    consumer = connect().consumer(consuming.format(address))
    assert connect().producer(producing.format(address)).send("one").outcome() == "accepted"
    assert connect().producer(None).send("two", address=producing.format(address)).outcome() == "accepted"
    assert consumer.wait_for(2) == ["one", "two"]
    assert connect().producer(None).send("three", address=address).outcome() == "released"


def test_an_address_of_another_router_is_attached_and_gets_no_credit(connect: Connect, address: str) -> None:
    client = connect()
    producer = client.producer("_topo/0/Elsewhere/x")
    consumer = connect().consumer(address)
    assert client.producer(address).send("one").outcome() == "accepted"
    assert consumer.bodies == ["one"]
    assert producer.credit == 0
    assert client.producer(None).send("two", address="_topo/0/Elsewhere/x").outcome() == "released"


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        ("multicast", 3),
        ("multicast.news", 3),
        ("multicast/a/b", 3),
        ("multicastnot", 1),
        ("pattern.x.all", 3),
        ("pattern.x.y.all", 1),
        ("pattern.x", 1),
        ("pattern.x.all.more", 1),
    ],
)
def test_the_pattern_that_matches_best_says_what_becomes_of_a_message(connect: Connect, text: str, copies: int) -> None:
    consumers = [connect().consumer(text) for _ in range(3)]
    sent = connect().producer(text).send_all(["one", "two"])
    assert [one.outcome() for one in sent] == ["accepted", "accepted"]
    assert sorted(body for consumer in consumers for body in consumer.bodies) == ["one"] * copies + ["two"] * copies
    for consumer in consumers:
        consumer.close()
