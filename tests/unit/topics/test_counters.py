"""What management is told: true numbers of topics, publishers and subscriptions."""

from routerd.topics import Detach, PublisherCounters, SubscriptionCounters, TopicCounters
from tests.unit.topics.nodes import OTHER, PUBLISHER, SUBSCRIBER, TOPIC, Nodes


def busy():
    """Return a router where one of two subscribers has not decided."""
    nodes = Nodes()
    nodes.subscriber()
    nodes.subscriber(link=3, name=OTHER)
    nodes.publisher()
    nodes.publish(b"a", b"b")
    nodes.decide(b"a", b"b")
    nodes.decide(b"a", link=3)
    nodes.passes(2.0)
    return nodes


def test_counters_of_a_topic():
    nodes = busy()
    assert nodes.nodes["A"].topic_counters(nodes.now) == [
        TopicCounters(
            topic=TOPIC,
            subscriptions=2,
            subscribers_here=2,
            publishers_here=1,
            unsettled=2,
            unsettled_octets=20,
            records=2,
            oldest_s=2.0,
            accepted=1,
            rejected=0,
            unknown=0,
            expired=0,
            refused=0,
        )
    ]


def test_counters_of_a_publisher_say_whom_it_waits_for():
    nodes = busy()
    assert nodes.nodes["A"].publisher_counters(nodes.now) == [
        PublisherCounters(
            topic=TOPIC,
            name=PUBLISHER,
            is_attached=True,
            unsettled=2,
            settling=0,
            oldest_s=2.0,
            waits_for=(OTHER,),
            credit=254,
            accepted=1,
            rejected=0,
            unknown=0,
        )
    ]


def test_counters_of_subscriptions_show_who_holds_others_up():
    nodes = busy()
    nodes.detach("A", 3)
    nodes.passes(5.0)
    common = {"topic": TOPIC, "router": "A", "is_durable": True, "timeout_s": 60.0, "placeholders": 0}
    assert nodes.nodes["A"].subscription_counters(nodes.now) == [
        SubscriptionCounters(name=SUBSCRIBER, is_attached=True, away_s=0.0, undecided=0, delivered=2, **common),
        SubscriptionCounters(name=OTHER, is_attached=False, away_s=4.5, undecided=1, delivered=0, **common),
    ]


def test_a_host_that_is_waited_for_is_named_by_its_subscribers():
    nodes = Nodes("AB")
    nodes.subscriber("B")
    nodes.publisher()
    nodes.passes(1.0)
    nodes.publish(b"a")
    (counters,) = nodes.nodes["A"].publisher_counters(nodes.now)
    assert counters.waits_for == (SUBSCRIBER,)


def test_an_operator_ends_a_subscription_and_its_subscriber_is_told():
    nodes = busy()
    nodes.take("A")
    assert nodes.nodes["A"].end_subscription(TOPIC, OTHER, nodes.now)
    assert not nodes.nodes["A"].end_subscription(TOPIC, OTHER, nodes.now)
    nodes.run()
    detached, decided = nodes.take("A")
    reason = "the subscription has ended: an operator has ended it"
    assert (detached, decided.tag) == (Detach(3, "amqp:resource-deleted", reason), b"b")


def test_deliveries_that_a_publisher_gives_up_are_counted_as_unknown():
    nodes = busy()
    nodes.detach("A", 1, is_closed=True)
    (counters,) = nodes.nodes["A"].topic_counters(nodes.now)
    assert (counters.unknown, counters.unsettled) == (1, 0)
