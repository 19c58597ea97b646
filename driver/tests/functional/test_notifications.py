"""Notifications through one router: who hears which, and what is heard."""

from contextlib import ExitStack
from typing import Any

import oslo_messaging
import pytest
from oslo_messaging import NotificationFilter, Target

from tests.functional.services import Heard, new_topic, notification_listener, notification_transport, notifier
from tests.waiting import eventually

PRIORITIES = ("audit", "critical", "debug", "error", "info", "sample", "warn")


@pytest.mark.parametrize("priority", PRIORITIES)
def test_a_notification_is_heard_with_its_priority_and_payload(url: str, topic: str, priority: str) -> None:
    heard = Heard()
    with notification_listener(url, [topic], heard), notifier(url, [topic]) as sender:
        getattr(sender, priority)({}, "instance.create.end", {"id": 7, "none": None})
        eventually(lambda: heard.heard, "it is heard")
        assert heard.heard == [(priority, "instance.create.end", {"id": 7, "none": None})]
        assert sorted(heard.metadata[0]) == ["message_id", "timestamp"]


def test_a_notification_without_an_envelope_is_heard_as_well(url: str, topic: str) -> None:
    heard = Heard()
    with notification_listener(url, [topic], heard), notifier(url, [topic], driver="messaging") as sender:
        sender.info({}, "version", 1)
        eventually(lambda: heard.heard, "it is heard")
        assert heard.heard == [("info", "version", 1)]


def test_notifications_of_one_priority_are_heard_in_their_order(url: str, topic: str) -> None:
    heard = Heard()
    with notification_listener(url, [topic], heard), notifier(url, [topic]) as sender:
        for number in range(50):
            sender.info({}, "numbered", number)
        eventually(lambda: len(heard.heard) >= 50, "all are heard")
        assert [payload for _, _, payload in heard.heard] == list(range(50))


def test_listeners_of_one_topic_share_its_notifications(url: str, topic: str) -> None:
    one, other = Heard(), Heard()
    with (
        notification_listener(url, [topic], one),
        notification_listener(url, [topic], other),
        notifier(url, [topic]) as sender,
    ):
        for number in range(40):
            sender.info({}, "numbered", number)
        eventually(lambda: len(one.heard) + len(other.heard) >= 40, "all are heard")
        assert sorted(payload for _, _, payload in one.heard + other.heard) == list(range(40))
        assert one.heard
        assert other.heard


def test_several_topics_are_each_told(url: str) -> None:
    topics = [new_topic() for _ in range(3)]
    ears = [Heard() for _ in topics]
    with ExitStack() as stack:
        for name, heard in zip(topics, ears, strict=True):
            stack.enter_context(notification_listener(url, [name], heard))
        sender = stack.enter_context(notifier(url, topics))
        sender.warn({}, "disk", "full")
        for heard in ears:
            eventually(lambda: heard.heard, "it is heard")  # noqa: B023
        assert [heard.heard for heard in ears] == [[("warn", "disk", "full")]] * 3


def test_one_listener_hears_several_topics(url: str) -> None:
    topics = [new_topic() for _ in range(3)]
    heard = Heard()
    with notification_listener(url, topics, heard), ExitStack() as stack:
        for number, name in enumerate(topics):
            stack.enter_context(notifier(url, [name])).error({}, "numbered", number)
        eventually(lambda: len(heard.heard) >= 3, "all are heard")
        assert sorted(payload for _, _, payload in heard.heard) == [0, 1, 2]


def test_a_large_notification_arrives_whole(url: str, topic: str) -> None:
    heard = Heard()
    payload = {"text": "0123456789" * 100_000}
    with notification_listener(url, [topic], heard), notifier(url, [topic]) as sender:
        sender.info({}, "large", payload)
        eventually(lambda: heard.heard, "it is heard")
        assert heard.heard == [("info", "large", payload)]


def test_a_notification_that_is_requeued_comes_again(url: str, topic: str) -> None:
    heard = Heard(requeues=2)
    with (
        notification_listener(url, [topic], heard, allow_requeue=True),
        # The router gives it back to the notifier, which sends it again after a while.
        notifier(url, [topic], link_retry_delay=1) as sender,
    ):
        sender.info({}, "again", 1)
        eventually(lambda: len(heard.heard) >= 3, "it is heard again")
        sender.info({}, "once", 2)
        eventually(lambda: len(heard.heard) >= 4, "the next one is heard")
        assert [payload for _, _, payload in heard.heard] == [1, 1, 1, 2]


def test_what_nobody_wants_to_hear_does_not_stop_the_listener(url: str, topic: str) -> None:
    class Picky(Heard):
        filter_rule = NotificationFilter(event_type="^wanted$")

    heard = Picky()
    with notification_listener(url, [topic], heard), notifier(url, [topic]) as sender:
        for event in ("unwanted", "wanted", "not wanted", "wanted"):
            sender.info({}, event, 1)
        eventually(lambda: len(heard.heard) >= 2, "the wanted ones are heard")
        assert [event for _, event, _ in heard.heard] == ["wanted", "wanted"]


def test_an_endpoint_that_raises_does_not_stop_the_listener(url: str, topic: str) -> None:
    class Breaking(Heard):
        def info(self, ctxt: Any, publisher: str, event: str, payload: Any, metadata: Any) -> Any:
            self.heard.append(("info", event, payload))
            raise ValueError("not this one")

    heard = Breaking()
    with notification_listener(url, [topic], heard), notifier(url, [topic]) as sender:
        sender.info({}, "breaks", 1)
        sender.warn({}, "works", 2)
        eventually(lambda: len(heard.heard) >= 2, "both are heard")
        assert sorted(heard.heard) == [("info", "breaks", 1), ("warn", "works", 2)]


def test_a_batch_listener_hears_as_many_at_a_time_as_it_asked_for(url: str, topic: str) -> None:
    class Batches:
        def __init__(self) -> None:
            self.batches: list[list[Any]] = []

        def info(self, messages: list[dict[str, Any]]) -> None:
            self.batches.append([message["payload"] for message in messages])

    endpoint = Batches()
    with notification_transport(url) as transport, ExitStack() as stack:
        listener = oslo_messaging.get_batch_notification_listener(
            transport, [Target(topic=topic)], [endpoint], batch_size=100, batch_timeout=1
        )
        listener.start()
        stack.callback(listener.wait)
        stack.callback(listener.stop)
        # What is pre-settled is not held up by a batch that is not yet full.
        sender = stack.enter_context(notifier(url, [topic], pre_settled="notify"))
        for number in range(205):
            sender.info({}, "numbered", number)
        eventually(lambda: sum(map(len, endpoint.batches)) >= 205, "all are heard")
        assert [payload for batch in endpoint.batches for payload in batch] == list(range(205))
        assert [len(batch) for batch in endpoint.batches] == [100, 100, 5]


def test_a_pool_of_listeners_is_refused(url: str, topic: str) -> None:
    with notification_transport(url) as transport:
        listener = oslo_messaging.get_notification_listener(transport, [Target(topic=topic)], [Heard()], pool="pool")
        with pytest.raises(NotImplementedError):
            listener.start()
