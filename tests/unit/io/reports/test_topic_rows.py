"""What a worker reports of the topics that it hosts."""

from typing import Any

import pytest

from routerd.io.reports.topic_rows import publisher_rows, subscription_rows, topic_figures, topic_rows
from routerd.management import PublisherRow, SubscriptionRow, TopicRow
from routerd.wire import ACCEPTED
from tests.unit.io.topics.hosted import Hosted, message

WORKER = 2


class Topic:
    """A publisher of two messages, a subscriber that has accepted them, and one that has not."""

    def __init__(self) -> None:
        self.hosted = Hosted(subscription_timeout_s=60.0)
        self.quick, self.slow = (self.hosted.workers.client(container_id=name) for name in ("quick", "slow"))
        for client in (self.quick, self.slow):
            self.hosted.subscriber(client)
        publisher = self.hosted.publisher(self.hosted.workers.client(container_id="shop"))
        self.sent = [publisher.send(message(text), tag=text.encode()) for text in ("one", "two")]
        self.hosted.pump()
        for delivery in self.quick.unsettled["subscriber"]:
            delivery.update(ACCEPTED, False)
        self.hosted.pump(1.0)

    def rows(self, make: Any) -> list[Any]:
        return list(make(self.hosted.host.node, WORKER, self.hosted.workers.now))


@pytest.fixture
def topic() -> Topic:
    return Topic()


def test_a_worker_without_topics_has_no_rows() -> None:
    assert [list(make(None, 0, 1.0)) for make in (topic_rows, publisher_rows, subscription_rows)] == [[], [], []]


def test_a_topic_tells_what_its_oldest_delivery_waits_for(topic: Topic) -> None:
    [row] = topic.rows(topic_rows)
    assert row == TopicRow(
        worker=WORKER,
        topic="orders/a",
        subscriptions=2,
        subscribers_here=2,
        publishers_here=1,
        unsettled=2,
        unsettled_octets=2 * len(message("one")),
        records=2,
        oldest_s=row.oldest_s,
        waits_for=(("slow", "subscriber"),),
        accepted=0,
        rejected=0,
        unknown=0,
        expired=0,
        refused=0,
    )
    assert row.oldest_s >= 1.0


def test_a_publisher_tells_the_same(topic: Topic) -> None:
    [row] = topic.rows(publisher_rows)
    assert row == PublisherRow(
        worker=WORKER,
        topic="orders/a",
        container="shop",
        link="publisher",
        is_attached=True,
        unsettled=2,
        settling=0,
        oldest_s=topic.rows(topic_rows)[0].oldest_s,
        waits_for=(("slow", "subscriber"),),
        credit=row.credit,
        accepted=0,
        rejected=0,
        unknown=0,
    )
    assert row.credit > 0


def test_a_subscription_tells_whom_it_holds_up(topic: Topic) -> None:
    rows = {row.container: row for row in topic.rows(subscription_rows)}
    slow = SubscriptionRow(
        worker=WORKER,
        topic="orders/a",
        container="slow",
        link="subscriber",
        router=topic.hosted.router.settings.id,
        is_attached=True,
        is_durable=True,
        timeout_s=60.0,
        away_s=0.0,
        undecided=2,
        delivered=2,
        placeholders=0,
        publishers_waiting=1,
        oldest_waiting_s=topic.rows(topic_rows)[0].oldest_s,
    )
    assert rows == {
        "slow": slow,
        "quick": slow._replace(container="quick", undecided=0, publishers_waiting=0, oldest_waiting_s=0.0),
    }


def test_nobody_waits_for_a_subscription_that_has_decided(topic: Topic) -> None:
    for delivery in topic.slow.unsettled["subscriber"]:
        delivery.update(ACCEPTED, False)
    topic.hosted.pump()
    assert [delivery.remote_state for delivery in topic.sent] == [ACCEPTED] * 2
    [row] = topic.rows(topic_rows)
    assert (row.accepted, row.oldest_s, row.waits_for) == (2, 0.0, ())
    assert {row.publishers_waiting for row in topic.rows(subscription_rows)} == {0}


def test_sums_are_over_all_topics(topic: Topic) -> None:
    assert topic_figures(None, 1.0) is None
    hosted = topic.hosted
    other = hosted.publisher(hosted.workers.client(container_id="other"), "orders/b")
    other.send(message("three"), tag=b"three")
    hosted.pump()
    found = topic_figures(hosted.host.node, hosted.workers.now)
    assert found is not None
    rows = topic.rows(topic_rows)
    assert (found.topics, len(rows)) == (2, 2)
    assert (found.subscriptions, found.publishers_here) == (2, 2)
    assert found.unsettled == sum(row.unsettled for row in rows)
    assert found.unsettled_octets == sum(row.unsettled_octets for row in rows)
    assert found.accepted == sum(row.accepted for row in rows) == 1
    assert found.oldest_s == max(row.oldest_s for row in rows) >= 1.0
