"""Deliveries between routers: copies, acknowledgements, settling, and what follows the death of one of them."""

import pytest

from routerd.topics import ClientName, Detach, NodeConfig, Outcome, Send, TopicNode, TopicSettings
from routerd.topics.messages import Numbered, PublisherKnown, PublisherSet, StreamAt
from routerd.topics.names import Place
from routerd.topics.octets import decode_frame
from tests.unit.topics.nodes import LEASE_S, OTHER, PUBLISHER, SUBSCRIBER, Decided, Delivered, Nodes, Settled, tag_of

ACCEPTED = Decided(1, b"t", Outcome.ACCEPTED, None, False)
DELIVERED = Delivered(2, tag_of(b"t"), PUBLISHER, b"message t")
SETTLED = Settled(2, tag_of(b"t"))


def joined(ids="AB"):
    """Return routers with a publisher at the first and a subscriber at the second one."""
    nodes = Nodes(ids)
    nodes.subscriber("B")
    nodes.publisher("A")
    nodes.passes(1.0)
    for id in ids:
        nodes.take(id)
    return nodes


def test_a_delivery_has_its_two_rounds_over_two_routers():
    nodes = joined()
    nodes.publish(b"t")
    assert (nodes.take("A"), nodes.take("B")) == ([], [DELIVERED])
    nodes.decide(b"t", id="B")
    assert (nodes.take("A"), nodes.take("B")) == ([ACCEPTED], [])
    nodes.settle(b"t")
    assert (nodes.take("B"), nodes.records("B")) == ([SETTLED], [])
    assert nodes.topic("A").ingress.progress.stream.entries == {}


def test_a_router_without_subscribers_holds_nothing():
    nodes = joined("ABC")
    nodes.publish(b"t")
    assert (nodes.records("A"), nodes.records("B"), nodes.records("C")) == ([], [tag_of(b"t")], [])


def test_messages_of_a_turn_go_together_to_routers_with_subscribers_only():
    nodes = joined("ABC")
    nodes.publish(b"a", b"b")
    assert nodes.copied == [("B", [b"message a", b"message b"])]


def test_what_came_before_the_end_of_its_link_is_given_at_other_routers_too():
    nodes = joined()
    for tag in (b"a", b"b"):
        nodes.nodes["A"].publish(1, tag, b"message " + tag, 10, nodes.now)
    nodes.detach("A", 1, is_closed=True)
    given = [effect.payload for effect in nodes.take("B") if isinstance(effect, Delivered)]
    assert given == [b"message a", b"message b"]


def test_what_is_settled_at_once_is_given_at_other_routers_all_the_same():
    nodes = joined()
    nodes.nodes["A"].publish(1, b"t", b"message t", 10, nodes.now)
    nodes.settle(b"t")
    assert nodes.take("B") == [DELIVERED, SETTLED]


def test_a_lost_copy_is_asked_for_when_the_next_one_comes():
    nodes = joined()
    nodes.lost_copies = 1
    nodes.publish(b"a")
    nodes.publish(b"b")
    assert [effect.payload for effect in nodes.take("B")] == [b"message a", b"message b"]


def test_the_last_copy_is_asked_for_when_the_stream_is_told():
    nodes = joined()
    nodes.lost_copies = 1
    nodes.publish(b"t")
    assert nodes.take("B") == []
    nodes.passes(1.0)
    assert nodes.take("B") == [DELIVERED]


def test_nobody_is_told_settled_before_all_routers_know():
    nodes = joined("ABC")
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    nodes.take("B")
    nodes.part("A", "C")
    nodes.settle(b"t")
    assert nodes.take("B") == []
    nodes.join("A", "C")
    nodes.passes(2.0)
    assert nodes.take("B") == [SETTLED]


def test_a_router_out_of_reach_is_gone_on_without_after_the_lease():
    nodes = joined("ABC")
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    nodes.take("B")
    nodes.part("A", "C")
    nodes.settle(b"t")
    nodes.passes(LEASE_S - 1.0)
    assert nodes.take("B") == []
    nodes.passes(2.0)
    assert nodes.take("B") == [SETTLED]


def test_deliveries_of_an_ingress_that_does_not_answer_are_not_shown():
    nodes = joined()
    nodes.subscriber("B", link=3, name=OTHER)
    nodes.publish(b"t")
    nodes.take("B")
    nodes.part("A", "B")
    nodes.detach("B", 3)
    nodes.passes(3.5)
    nodes.subscriber("B", link=4, name=OTHER, attaches=2)
    assert nodes.kinds("B") == ["AnswerSubscriber"]
    nodes.join("A", "B")
    nodes.passes(2.0)
    assert Delivered(4, tag_of(b"t"), PUBLISHER, b"message t") in nodes.take("B")


def test_deliveries_of_a_publisher_that_has_left_are_not_shown_until_it_is_back():
    nodes = joined()
    nodes.detach("B", 2)
    nodes.publish(b"t")
    nodes.detach("A", 1)
    nodes.subscriber("B", link=3, attaches=2)
    assert nodes.kinds("B") == ["AnswerSubscriber"]
    nodes.publisher("A", link=4, unsettled=[b"t"], attaches=2)
    assert nodes.kinds("B") == ["Delivered"]


def test_a_publisher_resumes_at_another_router_without_sending_what_that_has():
    nodes = joined()
    nodes.publish(b"t")
    nodes.take("B")
    nodes.crash("A")
    nodes.publisher("B", link=5, unsettled=[b"t"], attaches=2)
    assert nodes.take("B")[0].known == (b"t",)
    nodes.decide(b"t", id="B")
    assert nodes.take("B") == [Decided(5, b"t", Outcome.ACCEPTED, None, False)]


def test_a_publisher_sends_again_what_its_new_router_does_not_have_and_the_subscriber_is_not_sent_it_twice():
    nodes = joined("ABC")
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    nodes.take("B")
    nodes.crash("A")
    nodes.publisher("C", link=5, unsettled=[b"t"], attaches=2)
    assert nodes.take("C")[0].known == ()
    nodes.publish(b"t", id="C", link=5)
    assert (nodes.take("B"), nodes.take("C")) == ([], [Decided(5, b"t", Outcome.ACCEPTED, None, False)])


def test_a_subscriber_moves_with_its_map_and_the_old_router_gives_it_up():
    nodes = joined("ABC")
    nodes.publish(b"a", b"b")
    nodes.decide(b"a", id="B")
    nodes.take("A")
    nodes.take("B")
    nodes.subscriber("C", link=3, unsettled={tag_of(b"a"): Outcome.ACCEPTED}, attaches=2)
    nodes.passes(1.0)
    assert [effect.payload for effect in nodes.take("C")[1:]] == [b"message b"]
    assert ([effect.condition for effect in nodes.take("B")], nodes.records("B")) == (["amqp:link:stolen"], [])
    nodes.decide(b"b", id="C", link=3)
    assert [effect.tag for effect in nodes.take("A") if isinstance(effect, Decided)] == [b"b"]


def test_a_host_that_dies_is_waited_for_until_its_subscriber_is_elsewhere():
    nodes = joined("ABC")
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    nodes.take("A")
    nodes.publish(b"u")
    nodes.crash("B")
    nodes.passes(1.0)
    assert nodes.take("A") == []
    nodes.subscriber("C", link=3, unsettled={tag_of(b"t"): Outcome.ACCEPTED}, attaches=2)
    nodes.passes(1.0)
    nodes.decide(b"u", id="C", link=3)
    assert nodes.take("A") == [Decided(1, b"u", Outcome.ACCEPTED, None, False)]


def test_a_publisher_that_attaches_elsewhere_loses_its_old_link():
    nodes = joined()
    nodes.publisher("B", link=7, attaches=2)
    assert [effect.condition for effect in nodes.take("A")] == ["amqp:link:stolen"]
    assert nodes.topic("A").ingress.publishers == {}


def test_after_the_death_of_all_routers_maps_bring_everything_back():
    nodes = joined()
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    nodes.crash("A")
    nodes.crash("B")
    nodes.start("A", is_first_start=False)
    nodes.start("B", is_first_start=False)
    nodes.subscriber("A", link=2, unsettled={tag_of(b"t"): Outcome.ACCEPTED}, attaches=2)
    nodes.publisher("B", link=1, unsettled=[b"t"], attaches=2)
    nodes.publish(b"t", id="B")
    nodes.take("A")
    nodes.passes(109.0)
    assert [effect for effect in nodes.take("B") if isinstance(effect, Decided)] == []
    nodes.passes(3.0)
    assert nodes.take("B")[-1] == ACCEPTED
    nodes.settle(b"t", id="B")
    nodes.passes(1.0)
    assert nodes.take("A") == [SETTLED]


def test_a_restarted_router_accepts_as_soon_as_it_has_the_directory():
    nodes = joined()
    nodes.crash("A")
    nodes.start("A", is_first_start=False)
    nodes.passes(3.0)
    nodes.publisher("A", link=8, attaches=2)
    nodes.take("A")
    nodes.publish(b"t", link=8)
    nodes.decide(b"t", id="B")
    assert nodes.take("A") == [Decided(8, b"t", Outcome.ACCEPTED, None, False)]


@pytest.mark.parametrize(("has_map", "wait_s"), [(False, 2.5), (True, 4.5)])
def test_a_new_subscription_is_answered_when_all_routers_have_confirmed_or_after_a_while(has_map, wait_s):
    """One with a map waits for room in maps before."""
    nodes = Nodes("AB", hello_max_age_s=10.0)
    nodes.part("A", "B")
    nodes.subscriber("A", has_map=has_map)
    assert nodes.take("A") == []
    nodes.passes(wait_s)
    assert nodes.kinds("A") == ["AnswerSubscriber"]
    assert "subscription S/link is not confirmed by B" in "".join(nodes.remarks)


@pytest.mark.parametrize("accepts_meanwhile", [False, True])
def test_a_subscription_that_was_answered_without_a_router_is_ended_if_that_has_accepted_meanwhile(accepts_meanwhile):
    nodes = Nodes("AB", hello_max_age_s=10.0)
    nodes.publisher("A")
    nodes.publish(b"before")
    nodes.passes(3.0)
    nodes.part("A", "B")
    nodes.subscriber("B", link=4, has_map=False)
    nodes.passes(2.5)
    assert nodes.kinds("B") == ["AnswerSubscriber"]
    if accepts_meanwhile:
        nodes.publish(b"t")
        assert Decided(1, b"t", Outcome.ACCEPTED, None, False) in nodes.take("A")
    nodes.join("A", "B")
    nodes.passes(3.0)
    detached = [effect.condition for effect in nodes.take("B") if isinstance(effect, Detach)]
    assert detached == (["amqp:resource-deleted"] if accepts_meanwhile else [])


def test_a_router_that_has_just_started_answers_no_subscription_before_it_has_met_the_others():
    nodes = Nodes("A")
    nodes.publisher("A")
    nodes.publish(b"before")
    nodes.start("B", meeting_s=2.0)
    nodes.part("A", "B")
    nodes.nodes["B"].lose("A", nodes.now)
    nodes.subscriber("B", link=4, has_map=False)
    nodes.passes(1.0)
    nodes.publish(b"meanwhile")
    assert nodes.take("B") == []
    nodes.join("A", "B")
    nodes.nodes["B"].reach("A", nodes.now)
    nodes.passes(1.5)
    assert nodes.kinds("B")[0] == "AnswerSubscriber"
    nodes.publish(b"t")
    nodes.passes(3.0)
    assert nodes.kinds("B") == ["Delivered"]


def test_a_subscription_that_a_router_has_confirmed_in_time_is_not_ended():
    nodes = Nodes("AB")
    nodes.publisher("A")
    nodes.passes(1.0)
    nodes.publish(b"before")
    nodes.subscriber("B", link=4)
    nodes.publish(b"t")
    nodes.passes(5.0)
    assert nodes.kinds("B")[:2] == ["AnswerSubscriber", "Delivered"]
    assert SUBSCRIBER in nodes.topic("A").directory.subscriptions


def test_a_new_subscription_is_waited_for_before_it_is_answered():
    nodes = Nodes("ABC")
    nodes.publisher("B", link=1)
    nodes.passes(1.0)
    nodes.take("B")
    nodes.part("A", "C")
    nodes.subscriber("A", has_map=False)
    nodes.publish(b"t", id="B")
    assert (nodes.take("A"), nodes.take("B")) == ([], [])
    assert SUBSCRIBER in nodes.topic("B").directory.subscriptions


def test_deliveries_of_a_closed_publisher_are_settled_wherever_they_turn_up():
    nodes = joined("ABC")
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    nodes.settle(b"t")
    nodes.detach("A", 1, is_closed=True)
    nodes.take("B")
    nodes.passes(1.0)
    nodes.subscriber("C", link=3, unsettled={tag_of(b"t"): Outcome.ACCEPTED}, attaches=2)
    nodes.passes(1.0)
    assert nodes.take("C")[1:] == [Settled(3, tag_of(b"t"))]


def test_what_a_publisher_that_never_comes_back_has_left_is_dropped_after_its_timeout():
    nodes = joined()
    nodes.publish(b"t")
    nodes.decide(b"t", id="B")
    nodes.crash("A")
    nodes.take("B")
    nodes.passes(99.0)
    assert nodes.records("B") == [tag_of(b"t")]
    # Its router counts as in reach for the age of hellos.
    nodes.passes(6.0)
    assert (nodes.take("B"), nodes.records("B")) == ([SETTLED], [])


def test_at_least_once_needs_no_answer_of_other_routers_to_settle():
    nodes = Nodes("ABC", TopicSettings(is_exactly_once=False, subscription_timeout_s=60.0))
    nodes.subscriber("B")
    nodes.publisher("A")
    nodes.passes(1.0)
    nodes.take("A")
    nodes.publish(b"t")
    nodes.part("A", "C")
    nodes.decide(b"t", id="B")
    assert nodes.take("A") == [Decided(1, b"t", Outcome.ACCEPTED, None, True)]
    assert (nodes.records("B"), nodes.topic("A").ingress.progress.stream.entries) == ([], {})


def test_a_new_router_is_told_all_before_what_follows_from_it_in_the_same_turn():
    nodes = Nodes("A")
    nodes.publisher()
    nodes.publish(b"t")
    other = TopicNode(NodeConfig(router_id="B", incarnation=9), lambda topic: nodes.settings, nodes.now)
    other.reach("A", nodes.now)
    node = nodes.nodes["A"]
    node.reach("B", nodes.now)
    for hello in other.take(nodes.now):
        node.receive("B", hello.data, nodes.now)
    node.tick(nodes.now + 1.0)
    sent = [effect for effect in node.take(nodes.now + 1.0) if isinstance(effect, Send)]
    kinds = [type(operation) for each in sent for _, operation in decode_frame(each.data).operations]
    assert kinds.index(PublisherSet) < kinds.index(StreamAt)


def test_what_an_ingress_leaves_behind_with_its_role_is_not_done():
    nodes = joined("ABC")
    nodes.publish(b"t")
    topic, here, gone = nodes.topic("B"), Place("A", 1), Place("C", 3)
    (known,) = topic.directory.publishers.values()
    second, third = known.claim._replace(attaches=2), known.claim._replace(attaches=3)
    tag = tag_of(b"t")
    topic.take(gone, PublisherKnown(PUBLISHER, third, here, True, False))
    topic.take(gone, PublisherSet(PUBLISHER, second, False, True, 1, 4, [(tag, 2)], []))
    topic.take(gone, Numbered(second, tag, 2, 0))
    topic.take(gone, StreamAt(4, 4, 0))
    assert nodes.records("B") == [tag]


def test_a_router_whose_clock_was_set_back_is_ignored_and_remarked_on_once():
    nodes = Nodes("AB")
    nodes.crash("A")
    nodes.start("A", incarnation=nodes.lives + 1)
    nodes.crash("A")
    nodes.start("A", incarnation=1, is_first_start=False)
    assert not any("clock" in text for text in nodes.remarks)
    for _ in range(8):
        nodes.passes(1.0)
    remarks = [text for text in nodes.remarks if "was its clock set back?" in text]
    assert len(remarks) == 1
    assert remarks[0].startswith("router A has the number of an earlier life")
    nodes.crash("A")
    nodes.start("A", incarnation=nodes.lives + 1)
    nodes.passes(1.0)
    assert nodes.nodes["B"].routers.up() == ["A"]


def test_what_a_publisher_that_does_not_return_has_sent_is_given_at_other_routers_after_it_has_left():
    nodes = Nodes("AB")
    nodes.subscriber("B", credit=0)
    nodes.publisher("A", name=ClientName("plain", "link#1"), may_return=False)
    nodes.publish(b"t")
    nodes.detach("A", 1)
    nodes.passes(2.0)
    nodes.nodes["B"].grant(2, 1, nodes.now)
    nodes.run()
    [given] = [effect for effect in nodes.take("B") if isinstance(effect, Delivered)]
    nodes.nodes["B"].decide(2, given.tag, Outcome.ACCEPTED, nodes.now)
    nodes.run()
    nodes.passes(1.0)
    assert Settled(2, given.tag) in nodes.take("B")
    assert (nodes.records("B"), dict(nodes.topic("A").ingress.publishers)) == ([], {})


def test_what_a_publisher_that_does_not_return_has_left_ends_with_the_life_of_its_router():
    nodes = Nodes("AB")
    nodes.subscriber("B")
    name = ClientName("plain", "link#1")
    nodes.publisher("A", name=name, may_return=False)
    nodes.passes(1.0)
    nodes.publish(b"t")
    nodes.crash("A")
    nodes.passes(5.0)
    # It may be at the other side of a split.
    assert nodes.records("B") == [tag_of(b"t", name)]
    nodes.start("A", is_first_start=False)
    nodes.passes(2.0)
    assert nodes.records("B") == []
    assert Settled(2, tag_of(b"t", name)) in nodes.take("B")
    assert nodes.topic("A").directory.publisher(name).is_closed
