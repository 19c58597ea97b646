"""What is wrong ends what the standard says, the peer is told why, and nobody else notices."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from routerd.wire import Attach, Close, Coordinator, Detach, End, Flow, Open, Rejected, Source, Target, Transfer
from tests.conformance.raw_peer import AMQP_HEADER, body, framed
from tests.system.conftest import Connect, in_process
from tests.system.proton_links import Consumer, Producer
from tests.system.raw_client import RawClient
from tests.system.routers import RunningRouter

Wrong = Callable[[RawClient], None]
BODY = b"\0Sw\xa1\x03one"
FRAME_MAX = 16_384
SESSION_FRAMES = 512


class Bystander:
    """A producer and a consumer who go on, whatever others do."""

    def __init__(self, connect: Connect, address: str) -> None:
        self._consumer: Consumer = connect().consumer(f"{address}.bystander")
        self._producer: Producer = connect().producer(f"{address}.bystander")
        self.check()

    def check(self) -> None:
        """Send a message and get it."""
        count = len(self._consumer.received)
        assert self._producer.send(count).outcome() == "accepted"
        assert self._consumer.bodies == list(range(count + 1))


@pytest.fixture
def bystander(connect: Connect, address: str) -> Bystander:
    """Somebody who must not notice."""
    return Bystander(connect, address)


@pytest.fixture
def client(router: RunningRouter) -> Iterator[RawClient]:
    """A client with a connection and a session."""
    with RawClient(router.port) as client:
        client.open()
        yield client


def octets(text: str) -> Wrong:
    """Write octets."""
    return lambda client: client.send_octets(bytes.fromhex(text))


def frames(*performatives: object) -> Wrong:
    """Write frames."""
    return lambda client: client.send(*performatives)


def oversize(client: RawClient) -> None:
    client.send_octets((FRAME_MAX + 1).to_bytes(4, "big") + bytes([2, 0, 0, 0]))


def cut_performative(client: RawClient) -> None:
    client.send_octets(framed(body(Flow(incoming_window=1, next_outgoing_id=0, outgoing_window=1))[:-3]))


def unknown_channel(client: RawClient) -> None:
    client.send_octets(framed(Flow(incoming_window=1, next_outgoing_id=0, outgoing_window=1), channel=77))


def handle_in_use(client: RawClient) -> None:
    client.attach_producer("anything")
    client.send(Attach(name="other", handle=0, role=False, source=Source(), target=Target(), initial_delivery_count=0))


WRONG_CONNECTIONS: dict[str, tuple[Wrong, str]] = {
    "a frame shorter than its header": (octets("00000007 02 00 0000"), "amqp:connection:framing-error"),
    "data offset into the header": (octets("00000008 01 00 0000"), "amqp:connection:framing-error"),
    "data offset behind the end": (octets("00000008 03 00 0000"), "amqp:connection:framing-error"),
    "a frame larger than we take": (oversize, "amqp:connection:framing-error"),
    "a body that is no performative": (octets("0000000a 02 00 0000 ffff"), "amqp:decode-error"),
    "a performative that is cut off": (cut_performative, "amqp:decode-error"),
    "a second open": (frames(Open(container_id="again")), "amqp:illegal-state"),
    "a channel without a session": (unknown_channel, "amqp:illegal-state"),
    "a handle that is in use": (handle_in_use, "amqp:session:handle-in-use"),
}


@in_process
@pytest.mark.parametrize("name", WRONG_CONNECTIONS)
def test_the_connection_is_closed_with_the_reason(client: RawClient, bystander: Bystander, name: str) -> None:
    do_wrong, condition = WRONG_CONNECTIONS[name]
    do_wrong(client)
    assert client.wait_for_error(Close) == condition
    client.send(Close())
    assert list(client.rest()) == []
    bystander.check()


@in_process
@pytest.mark.parametrize("text", ["GET / HTTP/1.1\r\n\r\n", "\0" * 100, "AMQP\0\0\x09\x01", "AMQP\x02\x01\0\0"])
def test_what_does_not_speak_amqp_1_0_is_told_so(router: RunningRouter, bystander: Bystander, text: str) -> None:
    with RawClient(router.port) as client:
        client.send_octets(text.encode())
        assert client.read_octets(len(AMQP_HEADER)) in (AMQP_HEADER, b"AMQP\x03\x01\x00\x00")
        assert list(client.rest()) == []
    bystander.check()


@in_process
def test_a_producer_that_sends_without_credit_loses_its_link_only(client: RawClient, bystander: Bystander) -> None:
    client.attach_producer("bad.peers.nobody")
    for _ in range(10):
        client.transfer(BODY)
    detached = client.wait_for(Detach)
    assert (detached.handle, detached.closed, detached.error.condition) == (
        0,
        True,
        "amqp:link:transfer-limit-exceeded",
    )
    client.send(Detach(handle=0, closed=True))
    assert client.attach_producer("bad.peers.again", handle=1).target == Target(address="bad.peers.again")
    bystander.check()


@in_process
def test_more_than_was_granted_costs_the_link_and_what_was_on_credit_arrives(
    connect: Connect, client: RawClient, address: str, bystander: Bystander
) -> None:
    consumer = connect().consumer(address, credit=1000, outcome=None)
    client.attach_producer(address)
    credit = client.wait_for_credit()
    for number in range(credit + 1):
        client.transfer(b"\0Sw\x71" + number.to_bytes(4, "big"))
    assert client.wait_for_error(Detach) == "amqp:link:transfer-limit-exceeded"
    assert consumer.wait_for(credit) == list(range(credit))
    bystander.check()


WRONG_SESSIONS: dict[str, tuple[Wrong, str]] = {
    "a flow for no link": (
        frames(Flow(incoming_window=1, next_outgoing_id=0, outgoing_window=1, handle=9, link_credit=1)),
        "amqp:session:unattached-handle",
    ),
    "a transfer for no link": (
        frames(Transfer(handle=9, delivery_id=0, delivery_tag=b"0")),
        "amqp:session:unattached-handle",
    ),
    "a detach of no link": (frames(Detach(handle=9)), "amqp:session:unattached-handle"),
}


@in_process
@pytest.mark.parametrize("name", WRONG_SESSIONS)
def test_the_session_is_ended_with_the_reason(client: RawClient, bystander: Bystander, name: str) -> None:
    do_wrong, condition = WRONG_SESSIONS[name]
    do_wrong(client)
    assert client.wait_for_error(End) == condition
    bystander.check()


@in_process
def test_more_frames_than_the_window_has_room_for_end_the_session(
    connect: Connect, client: RawClient, address: str, bystander: Bystander
) -> None:
    connect().consumer(address, credit=0)
    client.attach_producer(address)
    client.wait_for_credit()
    client.transfer(BODY, more=True)
    for _ in range(4 * SESSION_FRAMES):
        client.send(Transfer(handle=0, more=True), payload=b"x" * 100)
    assert client.wait_for_error(End) == "amqp:session:window-violation"
    bystander.check()


WRONG_LINKS: dict[str, tuple[dict[str, Any], str]] = {
    "a transaction coordinator": ({"target": Coordinator()}, "amqp:precondition-failed"),
    "no target": ({"target": None}, "amqp:invalid-field"),
    "an address that is not text": ({"target": Target(address=7)}, "amqp:invalid-field"),
}


@in_process
@pytest.mark.parametrize("name", WRONG_LINKS)
def test_a_link_that_cannot_be_is_refused_with_the_reason(client: RawClient, bystander: Bystander, name: str) -> None:
    fields, condition = WRONG_LINKS[name]
    assert client.attach_producer("anything", **fields).target is None
    assert client.wait_for_error(Detach) == condition
    assert client.attach_producer("anything", handle=1).target == Target(address="anything")
    bystander.check()


def test_a_consumer_that_may_be_sent_nothing_new_is_refused_and_no_message_goes_there(
    client: RawClient, bystander: Bystander, address: str
) -> None:
    incomplete = {"unsettled": {b"a": None}, "incomplete_unsettled": True}
    assert client.attach_consumer(f"{address}.bystander", credit=10, **incomplete).source is None
    assert client.wait_for_error(Detach) == "amqp:precondition-failed"
    bystander.check()


@in_process
def test_a_message_that_says_nowhere_readable_where_it_goes_is_rejected(
    client: RawClient, bystander: Bystander
) -> None:
    client.attach_producer(None)
    client.wait_for_credit()
    number = client.transfer(b"\0Ss\xc0\x05\x03garbage")
    state = client.outcomes(1)[number]
    assert isinstance(state, Rejected)
    assert state.error is not None
    assert state.error.condition == "amqp:decode-error"
    bystander.check()


@pytest.mark.parametrize("end", [RawClient.close, RawClient.reset])
def test_a_message_whose_producer_vanishes_is_aborted(
    connect: Connect, client: RawClient, address: str, end: Callable[[RawClient], None]
) -> None:
    consumer_client = connect()
    consumer = consumer_client.consumer(address)
    client.attach_producer(address)
    client.wait_for_credit()
    client.transfer(b"\0Su\xb0\0\0\x20\0" + b"x" * 1000, more=True)
    consumer_client.wait_until(lambda: consumer.partial_octets >= 1000, "the beginning is here")
    end(client)
    consumer_client.wait_until(lambda: consumer.aborted == 1, "the rest is given up")
    assert connect().producer(address).send("next").outcome() == "accepted"
    assert consumer.bodies == ["next"]


def test_two_connections_may_have_one_container_id(connect: Connect, address: str) -> None:
    first, second = (connect(container_id="twin") for _ in range(2))
    consumers = [one.consumer(f"{address}.{number}", name="same") for number, one in enumerate((first, second))]
    producers = [one.producer(f"{address}.{number}", name="alike") for number, one in enumerate((first, second))]
    assert [one.send(number).outcome() for number, one in enumerate(producers)] == ["accepted"] * 2
    assert [one.bodies for one in consumers] == [[0], [1]]
