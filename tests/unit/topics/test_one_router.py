"""Publishers and subscribers of one router."""

import pytest

from routerd.topics import (
    AnswerPublisher,
    AnswerSubscriber,
    AskEcho,
    Claim,
    ClientName,
    Detach,
    Grant,
    Outcome,
    Rejection,
    TopicSettings,
)
from tests.unit.topics.nodes import OTHER, PUBLISHER, SETTINGS, SUBSCRIBER, Decided, Delivered, Nodes, Settled, tag_of

ACCEPTED = Decided(1, b"t", Outcome.ACCEPTED, None, False)
DELIVERED = Delivered(2, tag_of(b"t"), PUBLISHER, b"message t")
SETTLED = Settled(2, tag_of(b"t"))


def joined(**settings):
    """Return a router with a publisher and a subscriber, who were told of their attaches."""
    nodes = Nodes(settings=TopicSettings(**{"subscription_timeout_s": 60.0, "publisher_timeout_s": 100.0, **settings}))
    nodes.subscriber()
    nodes.publisher()
    nodes.take("A")
    return nodes


def test_attaches_are_answered():
    nodes = Nodes()
    nodes.subscriber(attaches=4)
    nodes.publisher()
    answer, known, grant = nodes.take("A")
    assert isinstance(answer, AnswerSubscriber)
    assert (answer.link, answer.epoch, answer.is_resumed) == (2, Claim(4, 100_000, 0, "A"), False)
    assert (known, grant) == (AnswerPublisher(1, (), known.stamp), Grant(1, 256))


def test_a_delivery_has_its_two_rounds():
    nodes = joined()
    nodes.publish(b"t")
    assert nodes.take("A") == [DELIVERED]
    nodes.decide(b"t")
    assert nodes.take("A") == [ACCEPTED]
    assert nodes.records() == [tag_of(b"t")]
    nodes.settle(b"t")
    assert (nodes.take("A"), nodes.records()) == ([SETTLED], [])


def test_without_subscriptions_a_delivery_is_accepted_at_once():
    nodes = Nodes()
    nodes.publisher()
    nodes.take("A")
    nodes.publish(b"t")
    assert nodes.take("A") == [ACCEPTED]


def test_all_subscribers_are_waited_for():
    nodes = joined()
    nodes.subscriber(link=3, name=OTHER)
    nodes.take("A")
    nodes.publish(b"t")
    assert [effect.link for effect in nodes.take("A")] == [2, 3]
    nodes.decide(b"t")
    assert nodes.take("A") == []
    nodes.decide(b"t", link=3)
    assert nodes.take("A") == [ACCEPTED]


def test_one_rejection_makes_the_outcome_after_all_have_decided():
    nodes = joined()
    nodes.subscriber(link=3, name=OTHER)
    nodes.publish(b"t")
    nodes.take("A")
    why = Rejection("amqp:precondition-failed", "no")
    nodes.decide(b"t", outcome=Outcome.REJECTED, rejection=why)
    assert nodes.take("A") == []
    nodes.decide(b"t", link=3, outcome=Outcome.UNDELIVERABLE)
    assert nodes.take("A") == [Decided(1, b"t", Outcome.REJECTED, why, False)]


def test_a_released_delivery_comes_again_and_counts_as_rejected_in_the_end():
    nodes = joined()
    nodes.publish(b"t")
    nodes.take("A")
    for _ in range(2):
        nodes.decide(b"t", outcome=Outcome.RELEASED)
        assert nodes.take("A") == [SETTLED, DELIVERED]
    nodes.decide(b"t", outcome=Outcome.RELEASED)
    settled, decided = nodes.take("A")
    assert (settled, decided.outcome, decided.rejection.description) == (SETTLED, Outcome.REJECTED, "released 3 times")


def test_credit_of_the_subscriber_is_kept_to_in_order():
    nodes = Nodes()
    nodes.subscriber(credit=1)
    nodes.publisher()
    nodes.publish(b"a", b"b", b"c")
    nodes.take("A")
    nodes.nodes["A"].grant(2, 1, nodes.now)
    nodes.run()
    assert [effect.payload for effect in nodes.take("A")] == [b"message b"]
    nodes.nodes["A"].grant(2, 5, nodes.now)
    nodes.run()
    assert [effect.payload for effect in nodes.take("A")] == [b"message c"]


def test_a_late_subscriber_gets_what_is_unsettled_and_is_waited_for():
    nodes = joined()
    nodes.publish(b"t")
    nodes.take("A")
    nodes.subscriber(link=3, name=OTHER)
    assert nodes.kinds("A") == ["AnswerSubscriber", "Delivered"]
    nodes.decide(b"t")
    assert nodes.take("A") == []
    nodes.decide(b"t", link=3)
    assert nodes.take("A") == [ACCEPTED]


def test_a_subscriber_resumes_with_its_map():
    nodes = joined()
    nodes.publish(b"a", b"b")
    nodes.take("A")
    nodes.detach("A", 2)
    nodes.subscriber(link=3, unsettled={tag_of(b"a"): Outcome.ACCEPTED}, attaches=2)
    answer, *others = nodes.take("A")
    assert answer.is_resumed
    assert others == [
        Delivered(3, tag_of(b"b"), PUBLISHER, b"message b"),
        Decided(1, b"a", Outcome.ACCEPTED, None, False),
    ]


def test_a_released_delivery_does_not_come_again_if_it_was_accepted_meanwhile():
    nodes = Nodes()
    nodes.subscriber(credit=1)
    nodes.subscriber(link=3, name=OTHER)
    nodes.publisher()
    nodes.publish(b"t")
    nodes.decide(b"t", outcome=Outcome.RELEASED)
    nodes.decide(b"t")
    nodes.take("A")
    nodes.nodes["A"].grant(2, 1, nodes.now)
    nodes.run()
    assert nodes.take("A") == []


def test_a_delivery_that_is_held_without_an_outcome_is_waited_for_and_not_sent_again():
    nodes = joined()
    nodes.publish(b"t")
    nodes.detach("A", 2)
    nodes.take("A")
    nodes.subscriber(link=3, unsettled={tag_of(b"t"): None}, attaches=2)
    assert nodes.kinds("A") == ["AnswerSubscriber"]
    nodes.decide(b"t", link=3)
    assert nodes.take("A") == [ACCEPTED]


def test_what_the_publisher_has_settled_is_settled_after_its_echo():
    nodes = joined()
    nodes.detach("A", 2)
    nodes.subscriber(link=3, unsettled={tag_of(b"old"): Outcome.ACCEPTED}, attaches=2)
    _, echo = nodes.take("A")
    assert isinstance(echo, AskEcho)
    nodes.nodes["A"].publisher_echoed(1, echo.token, nodes.now)
    nodes.run()
    assert nodes.take("A") == [Settled(3, tag_of(b"old"))]


def test_what_the_publisher_has_in_its_map_is_waited_for_and_not_sent_again():
    nodes = Nodes()
    nodes.subscriber(unsettled={tag_of(b"t"): Outcome.ACCEPTED}, attaches=1)
    nodes.publisher(unsettled=[b"t"])
    assert nodes.kinds("A") == ["AnswerSubscriber", "AnswerPublisher", "Grant", "Grant"]
    nodes.publish(b"t")
    assert nodes.take("A") == [ACCEPTED]


def test_tags_that_no_router_has_made_are_settled():
    nodes = Nodes()
    nodes.subscriber(unsettled={b"foreign": Outcome.ACCEPTED})
    assert nodes.take("A")[1:] == [Settled(2, b"foreign")]


def test_a_publisher_that_attaches_again_is_told_what_is_known_of_its_map():
    nodes = joined()
    nodes.publish(b"a")
    nodes.detach("A", 1)
    nodes.take("A")
    nodes.publisher(link=4, unsettled=[b"a", b"b"], attaches=2)
    answer, again, *_ = nodes.take("A")
    assert (answer.known, again) == ((b"a",), Grant(4, 1))
    nodes.publish(b"b", link=4)
    nodes.decide(b"a", b"b")
    assert [(effect.tag, type(effect).__name__) for effect in nodes.take("A")] == [
        *((tag_of(b"b"), "Delivered"), (b"a", "Decided"), (b"b", "Decided"))
    ]


def test_what_the_map_lacks_is_settled():
    nodes = joined()
    nodes.publish(b"t")
    nodes.decide(b"t")
    nodes.detach("A", 1)
    nodes.take("A")
    nodes.publisher(link=4, attaches=2)
    assert (SETTLED in nodes.take("A"), nodes.records()) == (True, [])


def test_the_same_link_is_stolen_from_its_earlier_attach():
    nodes = joined()
    nodes.publisher(link=4, attaches=2)
    nodes.subscriber(link=5, attaches=2)
    stolen = [effect for effect in nodes.take("A") if isinstance(effect, Detach)]
    assert [(effect.link, effect.condition) for effect in stolen] == [(1, "amqp:link:stolen"), (2, "amqp:link:stolen")]
    nodes.publish(b"t", link=1)
    nodes.decide(b"t", link=2)
    assert nodes.take("A") == []


def test_an_attach_that_comes_after_a_later_one_is_refused():
    nodes = joined()
    nodes.publisher(link=4, attaches=3)
    nodes.subscriber(link=5, attaches=3)
    nodes.take("A")
    nodes.publisher(link=6, attaches=2)
    nodes.subscriber(link=7, attaches=2)
    assert [(effect.link, effect.condition) for effect in nodes.take("A")] == [
        *((6, "amqp:link:stolen"), (7, "amqp:link:stolen"))
    ]


def test_a_subscription_that_is_closed_is_not_waited_for():
    nodes = joined()
    nodes.publish(b"t")
    nodes.take("A")
    nodes.detach("A", 2, is_closed=True)
    assert (nodes.take("A"), nodes.records(), nodes.topic().host.is_hosting) == ([ACCEPTED], [], False)


def test_a_subscription_without_a_timeout_lives_as_long_as_its_link():
    nodes = Nodes()
    nodes.subscriber(timeout_s=0.0)
    nodes.publisher()
    nodes.publish(b"t")
    nodes.take("A")
    nodes.detach("A", 2)
    assert nodes.take("A") == [ACCEPTED]


def test_a_subscriber_that_is_away_too_long_holds_nobody_up_and_is_told():
    nodes = joined()
    epoch = nodes.topic().directory.subscriptions[SUBSCRIBER].epoch
    nodes.publish(b"t")
    nodes.detach("A", 2)
    nodes.take("A")
    nodes.passes(59.0)
    assert nodes.take("A") == []
    nodes.passes(3.0)
    assert (nodes.take("A"), nodes.topic().membership.expired) == ([ACCEPTED], 1)
    nodes.subscriber(link=3, epoch=epoch, attaches=2)
    assert nodes.take("A") == [Detach(3, "amqp:resource-deleted", "the subscription has ended")]


def test_a_publisher_that_closes_leaves_nothing_behind():
    nodes = joined()
    nodes.publish(b"t")
    nodes.decide(b"t")
    nodes.settle(b"t")
    nodes.detach("A", 1, is_closed=True)
    nodes.take("A")
    assert (nodes.topic().ingress.publishers, nodes.topic().ingress.progress.stream.base) == ({}, 3)
    nodes.subscriber(link=3, unsettled={tag_of(b"t"): Outcome.ACCEPTED}, attaches=2)
    assert Settled(3, tag_of(b"t")) in nodes.take("A")


def test_a_publisher_that_stays_away_gives_its_deliveries_up():
    nodes = joined()
    nodes.subscriber(link=3, name=OTHER)
    nodes.publish(b"t")
    nodes.decide(b"t")
    nodes.detach("A", 1)
    nodes.take("A")
    nodes.passes(101.0)
    assert (nodes.kinds("A"), nodes.records()) == (["Settled", "Settled"], [])


def test_at_least_once_is_settled_in_one_round():
    nodes = joined(is_exactly_once=False)
    nodes.publish(b"t")
    assert nodes.take("A") == [DELIVERED]
    nodes.decide(b"t")
    assert (nodes.take("A"), nodes.records()) == ([SETTLED, Decided(1, b"t", Outcome.ACCEPTED, None, True)], [])


def test_at_least_once_sends_again_what_was_not_decided():
    nodes = joined(is_exactly_once=False)
    nodes.subscriber(link=3, name=OTHER)
    nodes.publish(b"a", b"b")
    nodes.decide(b"a")
    nodes.detach("A", 2)
    nodes.take("A")
    nodes.subscriber(link=5, attaches=2)
    assert nodes.take("A")[1:] == [Delivered(5, tag_of(b"b"), PUBLISHER, b"message b")]


def test_a_router_that_starts_accepts_nothing_before_the_grace_is_over():
    nodes = Nodes(is_first_start=False)
    nodes.publisher()
    nodes.publish(b"t")
    nodes.passes(105.0)
    assert "Decided" not in nodes.kinds("A")
    nodes.passes(6.0)
    assert nodes.take("A") == [ACCEPTED]


def test_a_subscription_from_before_the_horizon_is_ended():
    nodes = joined()
    nodes.publish(b"t")
    nodes.decide(b"t")
    nodes.take("A")
    nodes.subscriber(link=3, name=OTHER, epoch=Claim(1, 5, 0, "Z"), attaches=2)
    assert nodes.take("A") == [Detach(3, "amqp:resource-deleted", "the subscription has ended")]


def test_settings_are_those_of_a_default_topic():
    assert SETTINGS.publisher_timeout_s >= 1.5 * SETTINGS.subscription_timeout_s


def test_nothing_comes_behind_what_a_subscriber_has_from_later_and_it_is_not_waited_for():
    nodes = Nodes()
    nodes.subscriber(unsettled={tag_of(b"b"): Outcome.ACCEPTED})
    nodes.publisher(unsettled=[b"a", b"b", b"c"])
    nodes.take("A")
    nodes.publish(b"a", b"b", b"c")
    given = [effect.payload for effect in nodes.take("A") if isinstance(effect, Delivered)]
    assert given == [b"message c"]
    nodes.decide(b"c")
    assert [effect.tag for effect in nodes.take("A")] == [b"c"]
    assert nodes.topic().ingress.accepted == 3


def test_what_was_given_together_can_be_accepted_together():
    nodes = Nodes()
    nodes.subscriber()
    nodes.publisher()
    nodes.publish(b"a", b"b", b"c")
    nodes.take("A")
    nodes.accept(b"a", b"c")
    nodes.accept(b"a")
    assert [effect.tag for effect in nodes.take("A")] == [b"a", b"c"]
    nodes.accept(b"b")
    assert nodes.take("A") == [Decided(1, b"b", Outcome.ACCEPTED, None, False)]


def test_what_was_given_before_a_restart_of_its_publisher_is_accepted_by_its_tag():
    nodes = Nodes()
    nodes.subscriber()
    nodes.publisher()
    nodes.publish(b"t")
    nodes.settle(b"t")
    nodes.take("A")
    assert nodes.records() == []
    nodes.accept(b"t")
    assert nodes.take("A") == []


def test_what_is_settled_at_once_is_given_to_subscribers_all_the_same():
    nodes = Nodes()
    nodes.subscriber()
    nodes.publisher()
    nodes.take("A")
    for tag in (b"a", b"b"):
        nodes.nodes["A"].publish(1, tag, b"message " + tag, 10, nodes.now)
    nodes.nodes["A"].settle_all_by_publisher(1, [b"a", b"b"], nodes.now)
    nodes.run()
    given = [effect.payload for effect in nodes.take("A") if isinstance(effect, Delivered)]
    assert given == [b"message a", b"message b"]


@pytest.mark.parametrize("is_closed", [False, True])
def test_what_came_before_the_end_of_its_link_is_given_to_subscribers_all_the_same(is_closed):
    nodes = Nodes()
    nodes.subscriber()
    nodes.publisher()
    nodes.take("A")
    for tag in (b"a", b"b"):
        nodes.nodes["A"].publish(1, tag, b"message " + tag, 10, nodes.now)
    nodes.nodes["A"].detach(1, nodes.now, is_closed=is_closed)
    nodes.run()
    given = [effect.payload for effect in nodes.take("A") if isinstance(effect, Delivered)]
    assert given == [b"message a", b"message b"]


@pytest.mark.parametrize("is_closed", [True, False], ids=["closed", "lost"])
def test_what_a_publisher_that_does_not_return_has_sent_goes_on_without_it(is_closed):
    nodes = joined()
    nodes.subscriber(link=3, name=OTHER, credit=0)
    nodes.publisher(link=4, name=ClientName("plain", "link#1"), may_return=False)
    nodes.take("A")
    nodes.publish(b"t", b"u", link=4)
    nodes.detach("A", 4, is_closed=is_closed)
    given = [effect for effect in nodes.take("A") if isinstance(effect, Delivered)]
    assert [(each.link, each.payload) for each in given] == [(2, b"message t"), (2, b"message u")]
    nodes.nodes["A"].accept(2, [nodes.given["A", 2, each.tag] for each in given], nodes.now)
    nodes.nodes["A"].grant(3, 10, nodes.now)
    nodes.run()
    late = [effect for effect in nodes.take("A") if isinstance(effect, Delivered)]
    assert [(each.link, each.payload) for each in late] == [(3, b"message t"), (3, b"message u")]
    assert nodes.topic().ingress.credit.used > 0
    nodes.nodes["A"].decide(3, late[0].tag, Outcome.REJECTED, nodes.now)
    nodes.nodes["A"].decide(3, late[1].tag, Outcome.ACCEPTED, nodes.now)
    nodes.run()
    settled = [(effect.link, effect.tag) for effect in nodes.take("A") if isinstance(effect, Settled)]
    assert sorted(settled) == sorted((link, each.tag) for link in (2, 3) for each in given)
    assert (nodes.records(), list(nodes.topic().ingress.publishers.values())[1:]) == ([], [])


def test_a_publisher_that_does_not_return_and_left_nothing_is_forgotten():
    nodes = joined()
    nodes.publisher(link=4, name=ClientName("plain", "link#1"), may_return=False)
    nodes.detach("A", 4)
    assert [each.name for each in nodes.topic().ingress.publishers.values()] == [PUBLISHER]


def test_what_a_publisher_that_does_not_return_has_left_is_given_up_after_its_timeout():
    nodes = joined()
    nodes.publisher(link=4, name=ClientName("plain", "link#1"), may_return=False)
    nodes.publish(b"t", link=4)
    nodes.detach("A", 4)
    nodes.passes(101.0)
    assert (nodes.records(), len(nodes.topic().ingress.publishers)) == ([], 1)
