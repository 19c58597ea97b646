"""Exchanges by proton: messages go where their subjects say, whichever actors they pass."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.system.conftest import Connect
from tests.system.management_client import PREFIX, ManagementClient

EXCHANGE, BINDING = "router.config.exchange", "router.config.binding"


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


def test_a_file_has_exchanges(connect: Connect) -> None:
    consumer, producer = connect().consumer("exchanged.one", credit=1000), connect().producer("exchanged")
    assert [producer.send(one, subject=one).outcome() for one in ("a/b", "a")] == ["accepted", "released"]
    for number in range(200):
        producer.send(number, subject=f"a/{number}", settled=True)
    assert consumer.wait_for(201) == ["a/b", *range(200)]
