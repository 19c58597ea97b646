"""A subscriber with an unsettled map is taken once no more is under way than such a map has room for."""

import pytest

from routerd.topics import (
    AnswerSubscriber,
    ClientName,
    Deliver,
    Detach,
    Grant,
    Outcome,
    TopicSettings,
    publisher_credit,
    publisher_key,
)
from routerd.topics.settings import MAP_MAX
from tests.unit.topics.nodes import OTHER, SETTINGS, SUBSCRIBER, Decided, Delivered, Nodes, Settled

PLAIN = ClientName("plain", "link")


def answered(told):
    return [effect.link for effect in told if isinstance(effect, AnswerSubscriber)]


def refused(told):
    return [(effect.link, effect.condition) for effect in told if isinstance(effect, Detach)]


def used_up(nodes, id="A", link=1, prefix=b"m", most=10_000):
    """Publish as much as a publisher gets credit for, `most` at most; return the tags."""
    tags = []
    while len(tags) < most and (credit := sum(e.credit for e in nodes.take(id) if isinstance(e, Grant))):
        more = [b"%s%d" % (prefix, len(tags) + number) for number in range(credit)]
        nodes.publish(*more, id=id, link=link)
        tags += more
    return tags


def decided(nodes, tags, id="B", link=2, at="A"):
    nodes.decide(*tags, id=id, link=link)
    nodes.settle(*tags, id=at)


def with_much_under_way():
    """Two routers, a plain subscriber that waits, and a publisher that has sent all that it may."""
    nodes = Nodes("AB")
    nodes.subscriber("B", name=PLAIN, credit=10_000, has_map=False)
    nodes.publisher("A")
    nodes.passes(1.0)
    tags = used_up(nodes)
    nodes.take("B")
    return nodes, tags


def test_without_maps_a_publisher_may_have_far_more_under_way_than_a_map_holds():
    _, tags = with_much_under_way()
    assert len(tags) == SETTINGS.unsettled_per_publisher_max > 4 * MAP_MAX


def test_with_a_map_it_may_not():
    nodes = Nodes("AB")
    nodes.subscriber("B", credit=10_000)
    nodes.publisher("A")
    nodes.passes(1.0)
    assert len(used_up(nodes)) < MAP_MAX


def test_a_topic_of_at_least_once_has_no_such_limit():
    settings = TopicSettings(is_exactly_once=False, subscription_timeout_s=60.0, publisher_timeout_s=100.0)
    nodes = Nodes("AB", settings=settings)
    nodes.subscriber("B", credit=10_000)
    assert answered(nodes.take("B")) == [2]
    nodes.publisher("A")
    assert len(used_up(nodes)) == settings.unsettled_per_publisher_max


def test_before_a_router_knows_the_subscriptions_maps_count():
    nodes = Nodes("A", is_first_start=False)
    nodes.publisher("A")
    assert 0 < len(used_up(nodes)) <= MAP_MAX


@pytest.mark.parametrize("at", ["A", "B"])
def test_a_subscriber_with_a_map_waits_until_that_is_settled(at):
    nodes, tags = with_much_under_way()
    nodes.subscriber(at, link=4)
    assert answered(nodes.take(at)) == []
    decided(nodes, tags[:-MAP_MAX])
    assert answered(nodes.take(at)) == []
    decided(nodes, tags[-MAP_MAX:])
    told = nodes.take(at)
    assert answered(told) == [4]
    assert not [effect for effect in told if isinstance(effect, Deliver)]


def test_while_it_waits_publishers_get_no_more_than_a_map_holds():
    nodes, tags = with_much_under_way()
    nodes.subscriber("B", link=4, credit=10_000)
    decided(nodes, tags)
    assert answered(nodes.take("B")) == [4]
    assert len(used_up(nodes, prefix=b"n")) < MAP_MAX


def test_one_that_waits_too_long_is_refused_and_told_why():
    nodes, tags = with_much_under_way()
    nodes.subscriber("B", link=4)
    nodes.passes(3.0)
    told = nodes.take("B")
    assert refused(told) == [(4, "amqp:resource-limit-exceeded")]
    (why,) = [effect.description for effect in told if isinstance(effect, Detach)]
    assert "more is under way than an unsettled map has room for, at A" in why
    assert nodes.topic("B").refused == 1
    # It may come again, and is taken once there is room.
    decided(nodes, tags)
    nodes.subscriber("B", link=5)
    assert answered(nodes.take("B")) == [5]


def test_when_nobody_has_come_publishers_may_have_more_again():
    nodes, tags = with_much_under_way()
    nodes.subscriber("B", link=4)
    nodes.detach("B", 4)
    decided(nodes, tags)
    assert len(used_up(nodes, prefix=b"n")) < MAP_MAX
    nodes.passes(12.0)
    decided(nodes, [b"n0"])
    nodes.passes(1.0)
    assert len(used_up(nodes, prefix=b"o")) > MAP_MAX


def test_when_the_last_one_with_a_map_has_left_publishers_may_have_more():
    nodes = Nodes("AB")
    nodes.subscriber("B", credit=10_000)
    nodes.subscriber("B", link=3, name=PLAIN, credit=10_000, has_map=False)
    nodes.publisher("A")
    nodes.passes(12.0)
    assert len(used_up(nodes)) < MAP_MAX
    nodes.detach("B", 2, is_closed=True)
    assert len(used_up(nodes, prefix=b"n")) > MAP_MAX


def test_a_router_out_of_reach_is_not_waited_for():
    nodes, _ = with_much_under_way()
    nodes.start("C")
    nodes.passes(1.0)
    nodes.part("A", "C")
    nodes.subscriber("C", link=4)
    assert answered(nodes.take("C")) == []
    nodes.nodes["C"].lose("A", nodes.now)
    nodes.run()
    assert answered(nodes.take("C")) == [4]


def test_a_router_that_comes_into_reach_is_waited_for():
    nodes, tags = with_much_under_way()
    nodes.part("A", "C")
    nodes.part("B", "C")
    nodes.start("C", is_first_start=True)
    # It waits for itself, whose publisher has used all; then A comes.
    nodes.subscriber("C", link=3, name=PLAIN, credit=10_000, has_map=False)
    nodes.publisher("C", link=5, name=OTHER)
    own = used_up(nodes, "C", 5)
    nodes.subscriber("C", link=4)
    nodes.join("A", "C")
    nodes.join("B", "C")
    nodes.passes(1.0)
    key = publisher_key(OTHER)
    for tag in own:
        nodes.nodes["C"].decide(3, b"%s%c%s" % (key, len(tag), tag), Outcome.ACCEPTED, nodes.now)
    nodes.run()
    nodes.settle(*own, id="C", link=5)
    assert answered(nodes.take("C")) == []
    assert len(tags) > MAP_MAX


def test_the_later_of_two_links_of_one_name_waits():
    nodes, tags = with_much_under_way()
    nodes.subscriber("B", link=4)
    nodes.subscriber("B", link=5)
    assert refused(nodes.take("B")) == [(4, "amqp:link:stolen")]
    decided(nodes, tags)
    assert answered(nodes.take("B")) == [5]


def test_one_that_leaves_while_it_waits_is_no_subscription():
    nodes, tags = with_much_under_way()
    nodes.subscriber("B", link=4)
    nodes.detach("B", 4)
    decided(nodes, tags)
    assert answered(nodes.take("B")) == []
    assert [each.name for each in nodes.topic("B").directory.subscriptions] == [PLAIN]


def test_those_that_wait_count_as_subscriptions():
    limits = {"subscription_timeout_s": 60.0, "publisher_timeout_s": 100.0, "subscribers_max": 2}
    nodes = Nodes("A", settings=TopicSettings(**limits))
    nodes.subscriber(name=PLAIN, credit=0, has_map=False)
    nodes.publisher()
    used_up(nodes)
    nodes.subscriber(link=4)
    nodes.subscriber(link=5, name=OTHER)
    assert refused(nodes.take("A")) == [(5, "amqp:resource-limit-exceeded")]


def test_one_that_comes_back_does_not_wait():
    nodes = Nodes("AB")
    nodes.subscriber("B", credit=10_000)
    nodes.publisher("A")
    nodes.passes(1.0)
    (epoch,) = [effect.epoch for effect in nodes.take("B") if isinstance(effect, AnswerSubscriber)]
    used_up(nodes)
    nodes.detach("B", 2)
    nodes.subscriber("B", link=4, epoch=epoch, attaches=2)
    assert answered(nodes.take("B")) == [4]


class Clients:
    """Subscribers that decide at once what they are given and keep it in maps with little room, and publishers."""

    def __init__(self, nodes, room):
        self.nodes = nodes
        self.room = room
        self.maps = {}
        self.credit = {}
        self.given = {}
        self.unsent = {}

    def subscriber(self, id, link, name, **more):
        """Attach a subscriber without credit."""
        self.maps[id, link], self.given[id, link] = set(), 0
        self.nodes.subscriber(id, link=link, name=name, credit=0, **more)

    def grant(self, id, link):
        """Give credit for what the map has room for."""
        room = self.room - len(self.maps[id, link]) - self.credit.get((id, link), 0)
        self.credit[id, link] = self.credit.get((id, link), 0) + room
        self.nodes.nodes[id].grant(link, room, self.nodes.now)

    def go_on(self):
        """Answer all that the routers have said."""
        for id, node in self.nodes.nodes.items():
            for effect in self.nodes.take(id):
                self._hear(id, node, effect)
        self.nodes.run()

    def _hear(self, id, node, effect):
        match effect:
            case AnswerSubscriber():
                self.grant(id, effect.link)
            case Delivered():
                self.credit[id, effect.link] -= 1
                self.given[id, effect.link] += 1
                self.maps[id, effect.link].add(effect.tag)
                node.decide(effect.link, effect.tag, Outcome.ACCEPTED, self.nodes.now)
            case Settled():
                self.maps[id, effect.link].remove(effect.tag)
                self.grant(id, effect.link)
            case Decided():
                node.settle_by_publisher(effect.link, effect.tag, self.nodes.now)
            case Grant():
                self._publish(id, node, effect)

    def _publish(self, id, node, effect):
        for _ in range(effect.credit):
            if left := self.unsent.get((id, effect.link)):
                node.publish(effect.link, left.pop(), b"message", 7, self.nodes.now)


def test_small_maps_do_not_wait_for_each_other_without_end(monkeypatch):
    """One fills up at each of two routers, where copies of the other router's messages are late."""
    monkeypatch.setattr(publisher_credit, "MAP_MAX", 8)
    limits = {"subscription_timeout_s": 60.0, "publisher_timeout_s": 100.0, "unsettled_per_publisher_max": 200}
    nodes = Nodes("AB", settings=TopicSettings(**limits))
    clients = Clients(nodes, 8)
    nodes.subscriber("A", link=9, name=PLAIN, credit=0, has_map=False)
    nodes.publisher("A", link=1)
    nodes.publisher("B", link=2, name=OTHER)
    nodes.passes(1.0)
    nodes.lost_copies = 1000
    sent = [used_up(nodes, id, link, b"a") for id, link in (("A", 1), ("B", 2))]
    assert [len(tags) for tags in sent] == [200, 200]
    nodes.lost_copies = 0
    clients.maps["A", 9], clients.given["A", 9], clients.credit["A", 9] = set(), 0, 1000
    clients.subscriber("A", 4, SUBSCRIBER)
    clients.subscriber("B", 5, ClientName("U", "link"))
    nodes.nodes["A"].grant(9, 1000, nodes.now)
    nodes.run()
    clients.unsent = {("A", 1): [b"b%d" % n for n in range(50)], ("B", 2): [b"b%d" % n for n in range(50)]}
    for _ in range(400):
        clients.go_on()
        nodes.passes(0.25, 0.25)
    held = [each.held for id in "AB" for each in nodes.topic(id).ingress.publishers.values()]
    assert held == [0, 0]
    assert clients.given["A", 4] == clients.given["B", 5] == 100
    assert clients.given["A", 9] == 500


def test_the_credit_of_idle_publishers_holds_up_no_subscriber():
    """Each of two routers took itself for the only one with publishers."""
    nodes = Nodes("AB")
    nodes.part("A", "B")
    nodes.publisher("A")
    nodes.publisher("B", name=OTHER)
    credit = [sum(effect.credit for effect in nodes.take(id) if isinstance(effect, Grant)) for id in "AB"]
    assert sum(credit) > MAP_MAX
    nodes.join("A", "B")
    nodes.passes(1.0)
    nodes.subscriber("A", link=4)
    assert answered(nodes.take("A")) == [4]
