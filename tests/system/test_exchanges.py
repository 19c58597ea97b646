"""Exchanges by proton: messages go where their subjects say, and outcomes come back, whichever actors they pass."""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

import pytest

from tests.system.conftest import Connect, Manage, Start
from tests.system.management_client import PREFIX, ManagementClient
from tests.system.mesh import Mesh
from tests.system.proton_links import Consumer, Producer
from tests.system.routers import configuration, section
from tests.waiting import eventually

EXCHANGE, BINDING = "router.config.exchange", "router.config.binding"
RANKS = ("released", "modified", "accepted", "rejected")
"""Of several outcomes, the last one here prevails."""
LARGE = 3 << 20


class Topic:
    """An exchange of its own for a test, made over management."""

    def __init__(self, manage: ManagementClient, address: str) -> None:
        self.manage = manage
        self.address = address
        self._hops = 0
        self._create(EXCHANGE, address, address=address, alternateAddress=f"{address}.rest")

    def bind(self, key: str, hop: str) -> str:
        """Add a binding; return its name."""
        self._hops += 1
        name = f"{self.address}/{self._hops}"
        self._create(BINDING, name, exchangeName=self.address, bindingKey=key, nextHopAddress=f"{self.address}.{hop}")
        return name

    def counts(self) -> dict[str, Any]:
        """What it has counted."""
        told = self.manage.ask({"operation": "READ", "type": PREFIX + EXCHANGE, "name": self.address})
        assert told.status == 200, told
        names = ("bindingCount", "receivedCount", "forwardedCount", "divertedCount", "droppedCount")
        return {name: told.body[name] for name in names}

    def _create(self, kind: str, name: str, **attributes: Any) -> None:
        told = self.manage.create(kind, name, **attributes)
        assert told.status == 201, told


@pytest.fixture
def topic(manage: ManagementClient, address: str) -> Iterator[Topic]:
    """An exchange, which is deleted after the test with its bindings."""
    found = Topic(manage, address)
    yield found
    assert manage.delete(EXCHANGE, address).status == 204
    assert [one for one in manage.query(BINDING) if one["exchangeName"] == address] == []


def test_subjects_say_where_messages_go(connect: Connect, topic: Topic) -> None:
    for key, hop in (("a.*", "one"), ("#.b", "two"), ("a.#", "one")):
        topic.bind(key, hop)
    consumers = {hop: connect().consumer(f"{topic.address}.{hop}") for hop in ("one", "two", "rest")}
    producers = [connect().producer(topic.address) for _ in range(3)]
    for producer in producers:
        for subject in ("a.x", "a.b", "c.b", "c", None):
            assert producer.send(subject or "none", subject=subject).outcome() == "accepted"
    bodies = {hop: sorted(consumer.bodies) for hop, consumer in consumers.items()}
    assert bodies == {
        "one": sorted(["a.x", "a.b"] * 3),
        "two": sorted(["a.b", "c.b"] * 3),
        "rest": sorted(["c", "none"] * 3),
    }
    assert topic.counts() == {
        **{"bindingCount": 3, "receivedCount": 15, "forwardedCount": 15, "divertedCount": 6, "droppedCount": 0}
    }


@pytest.mark.parametrize("outcomes", [*combinations_with_replacement(RANKS, 2)], ids="+".join)
def test_the_outcomes_of_next_hops_become_one(connect: Connect, topic: Topic, outcomes: tuple[str, ...]) -> None:
    for number, outcome in enumerate(outcomes):
        topic.bind("a", f"hop{number}")
        connect().consumer(f"{topic.address}.hop{number}", outcome=outcome)
    sent = connect().producer(topic.address).send("one", subject="a")
    assert sent.outcome() == max(outcomes, key=RANKS.index)


def test_settled_messages_all_arrive_in_order(connect: Connect, topic: Topic) -> None:
    topic.bind("a.#", "one")
    consumer = connect().consumer(f"{topic.address}.one", credit=2000)
    producer = connect().producer(topic.address)
    for number in range(200):
        producer.send(number, subject=f"a.{number}", settled=True)
    assert consumer.wait_for(200) == list(range(200))


def test_a_large_message_goes_to_all_next_hops(connect: Connect, topic: Topic) -> None:
    topic.bind("a", "one")
    topic.bind("*", "two")
    consumers = [connect().consumer(f"{topic.address}.{hop}") for hop in ("one", "two")]
    body = bytes(range(256)) * (LARGE >> 8)
    sent = connect().producer(topic.address).send(body, subject="a")
    assert [consumer.wait_for(1) for consumer in consumers] == [[body], [body]]
    assert sent.outcome() == "accepted"


def test_bindings_come_and_go_while_messages_do(connect: Connect, topic: Topic, manage: ManagementClient) -> None:
    producer = connect().producer(topic.address)
    one, two = (connect().consumer(f"{topic.address}.{hop}") for hop in ("one", "two"))
    assert producer.send("first", subject="a").outcome() == "released"
    name = topic.bind("a", "one")
    assert producer.send("second", subject="a").outcome() == "accepted"
    topic.bind("a", "two")
    assert producer.send("third", subject="a").outcome() == "accepted"
    assert manage.delete(BINDING, name).status == 204
    assert producer.send("fourth", subject="a").outcome() == "accepted"
    assert (one.bodies, two.bodies) == (["second", "third"], ["third", "fourth"])


def test_a_consumer_of_the_exchange_itself_gets_everything(connect: Connect, topic: Topic) -> None:
    topic.bind("a", "one")
    direct, one = connect().consumer(topic.address), connect().consumer(f"{topic.address}.one")
    producer = connect().producer(topic.address)
    assert [producer.send(subject, subject=subject).outcome() for subject in ("a", "b")] == ["accepted"] * 2
    assert (direct.bodies, one.bodies) == (["a", "b"], ["a"])


def test_what_is_wrong_with_an_exchange_is_said(topic: Topic, manage: ManagementClient) -> None:
    address = topic.address
    refusals = [
        manage.create(EXCHANGE, address, address="x"),
        manage.create(EXCHANGE, f"{address}.2", address=address),
        manage.create(BINDING, "x", exchangeName="nothing", nextHopAddress="x"),
        manage.create(BINDING, "x", exchangeName=address),
        manage.create(BINDING, "x", exchangeName=address, nextHopAddress=address),
    ]
    assert [(one.status, one.description) for one in refusals] == [
        (400, "duplicate exchange name"),
        (400, "duplicate exchange address"),
        (400, "Named exchange does not exist"),
        (400, "No next hop specified"),
        (400, "nextHopAddress: leads back to the exchange"),
    ]


def test_an_exchange_is_at_one_router_of_a_network(line: Mesh, manage_at: Manage, address: str) -> None:
    topic = Topic(manage_at(line.routers["B"].port_of("clients")), address)
    topic.bind("a.#", "one")
    consumer: Consumer = line.connect("C").consumer(f"{address}.one")
    producer: Producer = line.connect("A").producer(address)
    eventually(lambda: producer.send("one", subject="a").outcome() == "accepted", "it is known everywhere")
    assert producer.send("two", subject="a.b").outcome() == "accepted"
    assert consumer.bodies[-2:] == ["one", "two"]
    assert producer.send("three", subject="b").outcome() == "released"
    assert topic.manage.delete(EXCHANGE, address).status == 204


def test_a_file_has_exchanges(start: Start, connect_to: Connect) -> None:
    text = configuration(
        section("binding", exchangeName="e", bindingKey="a/+", nextHopAddress="one"),
        section("exchange", name="e", address="topic", matchMethod="mqtt"),
    )
    port = start(text).port
    consumer = connect_to(port).consumer("one")
    producer = connect_to(port).producer("topic")
    assert [producer.send(one, subject=one).outcome() for one in ("a/b", "a")] == ["accepted", "released"]
    assert consumer.bodies == ["a/b"]
