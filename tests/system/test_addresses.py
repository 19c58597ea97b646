"""Messages and calls between clients, whichever actors they are at."""

import re

from tests.system.conftest import Connect
from tests.system.routers import ROUTER_ID
from tests.system.whole_message import whole_message


def test_a_message_reaches_the_consumer_of_its_address(connect: Connect, address: str) -> None:
    consumer = connect().consumer(address)
    connect().consumer(f"{address}.other", outcome=None)
    producer = connect().producer(address)
    bodies = [bytes(number % 251 for number in range(size)) for size in (0, 100, 5000, 100_000)]
    for body in bodies:
        assert producer.send(body).outcome() == "accepted"
    assert consumer.bodies == bodies


def test_every_section_of_a_message_passes_unchanged(connect: Connect, address: str) -> None:
    octets = whole_message(address)
    consumer = connect().consumer(address)
    connect().producer(address).send_encoded(octets)
    assert consumer.take().octets == octets


def test_calls_are_answered_at_opaque_addresses(connect: Connect, address: str) -> None:
    responder = connect()
    requests, replies = responder.consumer(address), responder.producer(None)
    requesters = [connect() for _ in range(4)]
    inboxes = [one.consumer(None) for one in requesters]
    assert len({inbox.address for inbox in inboxes}) == 4
    opaque = rf"amqp:/_topo/0/{re.escape(ROUTER_ID)}/temp\.[\w-]{{15}}"
    assert all(re.fullmatch(opaque, inbox.address) for inbox in inboxes)
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
    inboxes[0].close()
    assert replies.send("late", address=inboxes[0].address).outcome() == "released"


def test_addresses_are_treated_as_the_file_says(connect: Connect) -> None:
    client = connect()
    for address in ("closed.for.all", "pattern/none/of/these"):
        assert client.refused_producer(address) == "amqp:not-found"
        assert client.refused_consumer(address) == "amqp:not-found"
    consumers = [connect().consumer("pattern.x.all") for _ in range(3)]
    assert client.producer("pattern.x.all").send("one").outcome() == "accepted"
    assert [one.bodies for one in consumers] == [["one"]] * 3
