"""What is wrong ends what the standard says, the peer is told why, and nobody else notices."""

from collections.abc import Callable, Iterator

import pytest

from routerd.wire import Close, Detach, End, Flow, Open, Target, Transfer
from tests.conformance.raw_peer import AMQP_HEADER, body, framed
from tests.system.conftest import Connect, in_process
from tests.system.proton_links import Consumer, Producer
from tests.system.raw_client import RawClient
from tests.system.routers import RunningRouter

Wrong = Callable[[RawClient], None]
FRAME_MAX = 16_384
pytestmark = in_process


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


def oversize(client: RawClient) -> None:
    client.send_octets((FRAME_MAX + 1).to_bytes(4, "big") + bytes([2, 0, 0, 0]))


def cut_performative(client: RawClient) -> None:
    client.send_octets(framed(body(Flow(incoming_window=1, next_outgoing_id=0, outgoing_window=1))[:-3]))


def second_open(client: RawClient) -> None:
    client.send(Open(container_id="again"))


def no_handle(client: RawClient) -> None:
    client.send(Transfer(handle=9, delivery_id=0, delivery_tag=b"0"))


WRONG: dict[str, tuple[Wrong, type[Close] | type[End], str]] = {
    "a frame larger than we take": (oversize, Close, "amqp:connection:framing-error"),
    "a performative that is cut off": (cut_performative, Close, "amqp:decode-error"),
    "a second open": (second_open, Close, "amqp:illegal-state"),
    "a transfer for no link": (no_handle, End, "amqp:session:unattached-handle"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_connection_or_a_session_is_ended_with_the_reason(client: RawClient, bystander: Bystander, name: str) -> None:
    do_wrong, ending, condition = WRONG[name]
    do_wrong(client)
    assert client.wait_for_error(ending) == condition
    if ending is Close:
        client.send(Close())
        assert list(client.rest()) == []
    bystander.check()


def test_what_does_not_speak_amqp_1_0_is_told_so(router: RunningRouter, bystander: Bystander) -> None:
    with RawClient(router.port) as client:
        client.send_octets(b"\0" * 100)
        assert client.read_octets(len(AMQP_HEADER)) in (AMQP_HEADER, b"AMQP\x03\x01\x00\x00")
        assert list(client.rest()) == []
    bystander.check()


def test_more_than_was_granted_costs_the_link_and_what_was_on_credit_arrives(
    connect: Connect, client: RawClient, address: str, bystander: Bystander
) -> None:
    consumer = connect().consumer(address, credit=1000, outcome=None)
    client.attach_producer(address)
    credit = client.wait_for_credit()
    for number in range(credit + 1):
        client.transfer(b"\0Sw\x71" + number.to_bytes(4, "big"))
    detached = client.wait_for(Detach)
    found = detached.handle, detached.closed, detached.error and detached.error.condition
    assert found == (0, True, "amqp:link:transfer-limit-exceeded")
    assert consumer.wait_for(credit) == list(range(credit))
    client.send(Detach(handle=0, closed=True))
    assert client.attach_producer("bad.peers.again", handle=1).target == Target(address="bad.peers.again")
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
