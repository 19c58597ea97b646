"""What clients and routers can make grow has limits, and nobody else is affected."""

import pytest

from routerd.topics import (
    Claim,
    ClientName,
    Decide,
    Detach,
    Grant,
    LinkInUse,
    MalformedTopicMessage,
    NodeConfig,
    Outcome,
    PublisherAttach,
    SubscriberAttach,
    TopicNode,
    TopicSettings,
)
from routerd.topics.settings import MAP_MAX
from tests.unit.topics.nodes import OTHER, PUBLISHER, SETTINGS, SUBSCRIBER, Decided, Nodes, tag_of


def limited(**limits):
    return Nodes(settings=TopicSettings(subscription_timeout_s=60.0, publisher_timeout_s=100.0, **limits))


def granted(told):
    return sum(effect.credit for effect in told if isinstance(effect, Grant))


def refused(told):
    return [(effect.link, effect.condition) for effect in told if isinstance(effect, Detach)]


def test_credit_is_withheld_while_deliveries_are_unsettled():
    nodes = limited(unsettled_per_publisher_max=2)
    nodes.subscriber()
    nodes.publisher()
    assert granted(nodes.take("A")) == 2
    nodes.publish(b"a", b"b")
    assert granted(nodes.take("A")) == 0
    nodes.decide(b"a")
    assert granted(nodes.take("A")) == 0
    nodes.settle(b"a")
    assert granted(nodes.take("A")) == 1


def test_the_publishers_of_a_topic_share_its_limit():
    nodes = limited(unsettled_max=3, unsettled_per_publisher_max=2)
    nodes.subscriber()
    nodes.publisher()
    nodes.publisher(link=3, name=OTHER)
    assert [effect.credit for effect in nodes.take("A") if isinstance(effect, Grant)] == [2, 1]


def test_credit_is_withheld_while_there_are_too_many_octets():
    nodes = limited(unsettled_octets_max=10)
    nodes.subscriber()
    nodes.publisher()
    nodes.publish(b"a")
    nodes.take("A")
    nodes.publisher(link=3, name=OTHER)
    assert granted(nodes.take("A")) == 0
    nodes.decide(b"a")
    nodes.settle(b"a")
    assert granted(nodes.take("A")) > 0


def test_a_publisher_that_sends_without_credit_is_detached():
    nodes = limited(unsettled_per_publisher_max=1)
    nodes.subscriber()
    nodes.publisher()
    nodes.publish(b"a", b"b")
    assert refused(nodes.take("A")) == [(1, "amqp:link:transfer-limit-exceeded")]
    nodes.publisher(link=3, unsettled=[b"a"], attaches=2)
    nodes.decide(b"a")
    assert Decided(3, b"a", Outcome.ACCEPTED, None, False) in nodes.take("A")


def test_a_tag_that_was_settled_just_now_is_refused():
    nodes = Nodes("AB", SETTINGS)
    nodes.publisher()
    nodes.passes(1.0)
    nodes.publish(b"t")
    nodes.part("A", "B")
    nodes.settle(b"t")
    nodes.take("A")
    nodes.publish(b"t")
    assert refused(nodes.take("A")) == [(1, "amqp:not-allowed")]


def test_too_large_a_map_is_refused():
    nodes = limited(unsettled_per_publisher_max=1, records_max=1)
    nodes.publisher(unsettled=[b"a", b"b"])
    nodes.subscriber(unsettled=dict.fromkeys([tag_of(b"a"), tag_of(b"b")], Outcome.ACCEPTED))
    assert refused(nodes.take("A")) == [
        *((1, "amqp:resource-limit-exceeded"), (2, "amqp:resource-limit-exceeded"))
    ]


def test_clients_of_a_topic_and_topics_of_a_node_have_limits():
    nodes = limited(publishers_max=1, subscribers_max=1)
    nodes.publisher()
    nodes.subscriber()
    nodes.publisher(link=3, name=OTHER)
    nodes.subscriber(link=4, name=OTHER)
    assert refused(nodes.take("A")) == [
        *((3, "amqp:resource-limit-exceeded"), (4, "amqp:resource-limit-exceeded"))
    ]
    few = Nodes(topics_max=1)
    few.publisher()
    few.take("A")
    few.nodes["A"].attach_publisher("orders", 9, PublisherAttach(name=PUBLISHER), few.now)
    assert refused(few.nodes["A"].take(few.now)) == [(9, "amqp:resource-limit-exceeded")]


def test_a_timeout_is_at_most_that_of_the_topic():
    nodes = limited()
    nodes.subscriber(timeout_s=1e9)
    assert nodes.topic().directory.subscriptions[SUBSCRIBER].timeout_s == 60.0


def test_names_and_counters_that_are_too_large_are_refused():
    nodes = limited()
    nodes.publisher(name=ClientName("x" * 600, "link"))
    nodes.publisher(link=3, attaches=-1)
    nodes.subscriber(link=4, epoch=Claim(1, 1 << 63, 0, "A"))
    assert refused(nodes.take("A")) == [(link, "amqp:invalid-field") for link in (1, 3, 4)]


def test_an_address_that_is_no_topic_is_refused():
    config = NodeConfig(router_id="A", incarnation=1)
    node = TopicNode(config, lambda topic: None, 0.0)
    node.attach_subscriber("queue", 1, SubscriberAttach(name=SUBSCRIBER), 0.0)
    assert refused(node.take(0.0)) == [(1, "amqp:not-found")]


def test_a_link_number_is_used_once():
    nodes = limited()
    nodes.publisher()
    with pytest.raises(LinkInUse):
        nodes.subscriber(link=1)


def test_octets_of_a_router_that_are_no_message_are_refused_without_harm():
    nodes = Nodes("AB")
    for take in (nodes.nodes["A"].receive, lambda _, data, now: nodes.nodes["A"].receive_copies(data, [], [], now)):
        with pytest.raises(MalformedTopicMessage):
            take("B", b"\x80", nodes.now)
    nodes.subscriber("B")
    nodes.passes(1.0)
    assert SUBSCRIBER in nodes.topic("A").directory.subscriptions


def test_routers_that_the_network_does_not_know_are_not_heard():
    nodes = Nodes("AB")
    stranger = Nodes("C")
    stranger.nodes["C"].reach("A", stranger.now)
    (hello,) = [effect for effect in stranger.nodes["C"].take(stranger.now) if hasattr(effect, "data")]
    nodes.nodes["A"].receive("C", hello.data, nodes.now)
    assert nodes.nodes["A"].routers.up() == ["B"]


def test_a_topic_that_nobody_misses_is_forgotten():
    nodes = Nodes("A", longest_timeout_s=10.0)
    nodes.subscriber(timeout_s=0.0)
    nodes.detach("A", 2)
    nodes.passes(50.0)
    assert nodes.nodes["A"].topics == {}


def test_a_topic_that_accepted_something_is_remembered_as_long_as_its_horizon_matters():
    nodes = Nodes("A", longest_timeout_s=10.0)
    nodes.passes(30.0)
    nodes.publisher()
    nodes.publish(b"t")
    nodes.settle(b"t")
    nodes.detach("A", 1, is_closed=True)
    nodes.passes(19.0)
    assert "news" in nodes.nodes["A"].topics
    nodes.passes(25.0)
    assert nodes.nodes["A"].topics == {}


def test_what_is_known_of_a_router_that_is_gone_for_good_is_forgotten():
    nodes = Nodes("AB", longest_timeout_s=10.0)
    nodes.subscriber("B", timeout_s=1.0)
    nodes.publisher("A")
    nodes.passes(1.0)
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    assert [place.router for place in nodes.topic("A").directory.subscriptions.versions()] == ["B"]
    nodes.crash("B")
    nodes.nodes["A"].lose("B", nodes.now)
    nodes.passes(25.0)
    assert [place.router for place in nodes.topic("A").directory.subscriptions.versions()] == []
    assert nodes.topic("A").ingress.progress.acknowledged == {}


def used_up(nodes, id, link, prefix):
    """Publish as much as a publisher gets credit for, and return how much that was."""
    count = 0
    while credit := granted(nodes.take(id)):
        nodes.publish(*(b"%s%d" % (prefix, count + number) for number in range(credit)), id=id, link=link)
        count += credit
    return count


def test_routers_share_what_a_map_has_room_for_and_one_that_is_alone_gets_nearly_all():
    nodes = Nodes("AB")
    nodes.subscriber("B", credit=1000)
    nodes.publisher("A")
    nodes.passes(1.0)
    least, equal = MAP_MAX // 8, MAP_MAX // 2
    assert used_up(nodes, "A", 1, b"a") == MAP_MAX - least
    nodes.publisher("B", link=3, name=OTHER)
    nodes.passes(1.0)
    assert used_up(nodes, "B", 3, b"b") == least
    tags = [b"a%d" % number for number in range(MAP_MAX - least)]
    nodes.decide(*tags, id="B")
    nodes.settle(*tags)
    nodes.passes(2.0)
    assert (used_up(nodes, "A", 1, b"c"), used_up(nodes, "B", 3, b"d")) == (equal, equal - least)


def test_a_slow_subscriber_holds_up_its_own_topic_only():
    nodes = limited(unsettled_per_publisher_max=1)
    nodes.subscriber(credit=0)
    nodes.publisher()
    nodes.publish(b"a")
    nodes.take("A")
    node = nodes.nodes["A"]
    node.attach_publisher("orders", 9, PublisherAttach(name=OTHER), nodes.now)
    node.take(nodes.now)
    node.publish(9, b"t", b"message", 10, nodes.now)
    assert Decide(9, [b"t"], Outcome.ACCEPTED, None, False) in node.take(nodes.now)
