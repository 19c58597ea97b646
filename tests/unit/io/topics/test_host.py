"""Links of clients to topics, through a router to the container that has them."""

from typing import Any

import pytest

from routerd.core import NetworkNews, RouterMode
from routerd.io.topics.names import EXACTLY_ONCE
from routerd.wire import ACCEPTED, RELEASED, Data, Delivery, Error, Message, Modified, Properties, Rejected, UInt
from tests.unit.io.topics.hosted import Hosted, message

GOT = "subscriber"


@pytest.fixture
def hosted() -> Hosted:
    return Hosted()


class Topic:
    """A publisher and two subscribers that keep unsettled maps."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.clients = [hosted.workers.client(container_id=f"subscriber-{number}") for number in range(2)]
        self.subscribers = [hosted.subscriber(client) for client in self.clients]
        self.publishing = hosted.workers.client(container_id="publisher")
        self.publisher = hosted.publisher(self.publishing)

    def publish(self, text: str) -> Any:
        delivery = self.publisher.send(message(text), tag=text.encode())
        self.hosted.pump()
        return delivery

    def got(self, client: int) -> list[Delivery]:
        found: list[Delivery] = self.clients[client].unsettled.get(GOT, [])
        return found

    def decide(self, client: int, outcome: Any = ACCEPTED) -> None:
        """A subscriber decides on what it got last, and leaves the settling to the topic."""
        self.got(client)[-1].update(outcome, False)
        self.hosted.pump()


@pytest.fixture
def topic(hosted: Hosted) -> Topic:
    return Topic(hosted)


def test_each_subscriber_gets_a_message_and_its_publisher_hears_when_all_have_decided(topic: Topic) -> None:
    sent = topic.publish("one")
    assert [client.messages[GOT] for client in topic.clients] == [[message("one")]] * 2
    topic.decide(0)
    assert (sent.remote_state, sent.remote_settled) == (None, False)
    topic.decide(1)
    assert (sent.remote_state, sent.remote_settled) == (ACCEPTED, False)
    assert [topic.got(client)[0].remote_settled for client in (0, 1)] == [False, False]
    sent.settle()
    topic.hosted.pump()
    assert [topic.got(client)[0].remote_settled for client in (0, 1)] == [True, True]


def test_the_router_offers_what_a_client_with_a_map_asks_for(topic: Topic) -> None:
    for client in (*topic.clients, topic.publishing):
        (attach,) = client.attaches
        assert EXACTLY_ONCE in attach.offered_capabilities


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Rejected(error=Error(condition="x:bad", description="no")), "x:bad"),
        (Modified(undeliverable_here=True), None),
    ],
)
def test_what_one_subscriber_rejects_is_rejected(topic: Topic, outcome: Any, told: str | None) -> None:
    sent = topic.publish("one")
    topic.decide(0, outcome)
    topic.decide(1)
    assert isinstance(sent.remote_state, Rejected)
    error = sent.remote_state.error
    assert told is None or (error is not None and str(error.condition) == told)


def test_what_is_released_comes_again(topic: Topic) -> None:
    sent = topic.publish("one")
    topic.decide(1)
    topic.got(0)[-1].update(RELEASED, True)
    topic.hosted.pump(1.0)
    assert topic.clients[0].messages[GOT] == [message("one")] * 2
    topic.decide(0)
    assert sent.remote_state == ACCEPTED


def test_a_subscriber_that_has_decided_resumes_with_its_map(topic: Topic) -> None:
    sent = topic.publish("one")
    topic.decide(0)
    tag = topic.got(0)[0].tag
    topic.clients[0].vanish()
    topic.decide(1)
    assert sent.remote_state == ACCEPTED
    again = topic.hosted.workers.client(container_id="subscriber-0")
    topic.hosted.subscriber(again, count=2, unsettled={tag: ACCEPTED})
    assert again.messages.get(GOT, []) == []
    sent.settle()
    topic.hosted.pump()
    assert topic.publisher.unsettled_count == 0
    assert topic.hosted.counters().unsettled == 0


def test_a_subscriber_that_has_lost_a_message_on_its_way_gets_it_again(topic: Topic) -> None:
    sent = topic.publish("one")
    topic.clients[0].vanish()
    topic.decide(1)
    assert sent.remote_state is None
    topic.clients[0] = topic.hosted.workers.client(container_id="subscriber-0")
    topic.hosted.subscriber(topic.clients[0], count=2)
    assert topic.clients[0].messages[GOT] == [message("one")]
    topic.decide(0)
    assert sent.remote_state == ACCEPTED


def test_a_publisher_resumes_with_its_map(topic: Topic) -> None:
    topic.publish("one")
    topic.publishing.vanish()
    topic.hosted.pump()
    again = topic.hosted.workers.client(container_id="publisher")
    link = topic.hosted.publisher(again, count=2, unsettled={b"one": None, b"two": None})
    assert set(again.attaches[-1].unsettled) == {b"one"}
    resumed = Delivery()
    resumed.link = link
    resumed.given_tag = b"one"
    link.suspended = {b"one": resumed}
    link.resume(resumed)
    new = link.send(message("two"), tag=b"two")
    topic.hosted.pump()
    assert [client.messages[GOT] for client in topic.clients] == [[message("one"), message("two")]] * 2
    for client in (0, 1):
        for delivery in topic.got(client):
            delivery.update(ACCEPTED, False)
    topic.hosted.pump()
    assert (resumed.remote_state, new.remote_state) == (ACCEPTED, ACCEPTED)


def test_plain_clients_publish_and_subscribe(hosted: Hosted) -> None:
    client = hosted.workers.client()
    receiver = client.consumer("orders/a", credit=5)
    sender = hosted.workers.client().producer("orders/a")
    hosted.pump()
    sent, settled = sender.send(message("one")), sender.send(message("two"), settled=True)
    hosted.pump()
    assert client.received(receiver) == [message("one"), message("two")]
    assert sent.remote_state is None
    for delivery in client.unsettled[receiver.name]:
        delivery.accept()
    hosted.pump()
    assert (sent.remote_state, sent.remote_settled) == (ACCEPTED, True)
    assert settled.settled
    assert hosted.counters().unsettled == 0


def test_a_subscription_of_a_plain_client_ends_with_its_link(hosted: Hosted) -> None:
    client = hosted.workers.client()
    client.consumer("orders/a", credit=5)
    hosted.pump()
    assert hosted.counters().subscriptions == 1
    client.vanish()
    hosted.pump()
    assert hosted.counters().subscriptions == 0


def test_credit_that_is_taken_back_keeps_messages_for_the_next(hosted: Hosted) -> None:
    client = hosted.workers.client()
    receiver = client.consumer("orders/a", credit=2)
    sender = hosted.workers.client().producer("orders/a")
    hosted.pump()
    receiver.set_credit(2, drain=True)
    hosted.pump()
    assert receiver.credit == 0
    sender.send(message("one"))
    hosted.pump()
    assert client.received(receiver) == []
    receiver.set_credit(1)
    hosted.pump()
    assert client.received(receiver) == [message("one")]


def test_an_address_beside_the_pattern_is_no_topic(hosted: Hosted) -> None:
    client = hosted.workers.client()
    client.consumer("other", credit=1)
    hosted.pump()
    assert hosted.host.node.topics == {}


@pytest.mark.parametrize(
    "address", ["_local/mobula.topics", "_topo/0/R/mobula.topics", "amqp:/_topo/0/B/mobula.topics"]
)
def test_no_client_takes_part_in_what_routers_say_of_topics(hosted: Hosted, address: str) -> None:
    client = hosted.workers.client()
    assert not client.consumer(address).is_attached
    assert not client.producer(address).is_attached
    anonymous = client.producer(None)
    hosted.pump()
    refused = client.send(anonymous, bytes(Message(properties=Properties(to=address), body=Data([b"x"])).encode()))
    assert isinstance(refused.remote_state, Rejected)
    assert str(refused.remote_state.error.condition) == "amqp:not-allowed"


def test_a_pattern_can_be_removed_while_clients_are_attached(topic: Topic) -> None:
    topic.hosted.host.remove("orders/#")
    sent = topic.publish("one")
    topic.decide(0)
    topic.decide(1)
    assert sent.remote_state == ACCEPTED
    late = topic.hosted.workers.client()
    late.consumer("orders/a", credit=1)
    topic.hosted.pump()
    assert topic.hosted.counters().subscriptions == 2


def test_a_second_link_of_a_client_takes_the_place_of_the_first(topic: Topic) -> None:
    again = topic.hosted.workers.client(container_id="subscriber-0")
    topic.hosted.subscriber(again, count=2)
    assert topic.clients[0].errors[GOT].condition == "amqp:link:stolen"
    topic.publish("one")
    assert again.messages[GOT] == [message("one")]
    assert topic.hosted.counters().subscriptions == 2


def test_a_client_is_told_how_long_it_may_be_away() -> None:
    hosted = Hosted(subscription_timeout_s=40.0, publisher_timeout_s=120.0)
    subscribing, publishing = hosted.workers.client(), hosted.workers.client()
    hosted.subscriber(subscribing)
    hosted.publisher(publishing)
    assert subscribing.attaches[0].source.timeout == 40
    assert publishing.attaches[0].target.timeout == 120


def test_what_a_map_says_was_sent_before_records_were_dropped_has_no_known_outcome() -> None:
    """The publisher stayed away, and what it had was dropped. What it sent later is not concerned."""
    hosted = Hosted(subscription_timeout_s=40.0, publisher_timeout_s=60.0)
    hosted.subscriber(hosted.workers.client())
    first = hosted.workers.client(container_id="publisher")
    hosted.publisher(first).send(message("one"), tag=b"one")
    hosted.pump()
    first.vanish()
    hosted.pump()
    for _ in range(3):
        hosted.pump(30.0)
    old, new = (hosted.workers.client(container_id="publisher") for _ in range(2))
    hosted.publisher(old, count=2, unsettled={b"one": None}, ages=[UInt(90_100)])
    assert old.errors["publisher"].condition == "amqp:resource-deleted"
    hosted.publisher(new, count=3, unsettled={b"two": None}, ages=[UInt(10)])
    assert "publisher" not in new.errors


@pytest.mark.parametrize("ages", [[], [UInt(1), UInt(2)], ["old"], [True], UInt(1)])
def test_ages_that_do_not_fit_the_map_are_refused(hosted: Hosted, ages: Any) -> None:
    client = hosted.workers.client()
    hosted.publisher(client, unsettled={b"one": None}, ages=ages)
    assert client.errors["publisher"].condition == "amqp:invalid-field"
    assert "list of 1 ages" in client.errors["publisher"].description


def test_the_grace_begins_when_the_routing_engine_has_told_of_the_network() -> None:
    """Before that, nobody could say which subscriptions there are."""
    hosted = Hosted(mode=RouterMode.INTERIOR, grace_s=10.0)
    client = hosted.workers.client(container_id="publisher")
    sent = hosted.publisher(client).send(message("one"), tag=b"one")
    hosted.pump(11.0)
    assert sent.remote_state is None
    hosted.router.routes.apply_network(NetworkNews((1, 1), is_full=True, routes={}))
    hosted.pump()
    hosted.pump(9.0)
    assert sent.remote_state is None
    hosted.pump(2.0)
    assert sent.remote_state == ACCEPTED
