"""RabbitMQ with its AMQP 1.0 plugin as the bus: legacy addresses, which are queues there, or a topic for fanout."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.functional.broker import END_WITHIN_S, USER, why_no_broker
from tests.functional.server_process import DRIVER
from tests.functional.services import ENDINGS, Echo, Heard, notification_listener, notifier, rpc_client, rpc_server
from tests.waiting import eventually


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    """The URL of a broker; it needs to be told nothing."""
    if reason := why_no_broker():
        pytest.skip(reason)
    # It ends with its input, hence with this process, however that ends.
    command = [sys.executable, "-m", "tests.functional.broker"]
    with subprocess.Popen(command, cwd=DRIVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        port = running.stdout.readline().strip()
        assert port, "it has said why not"
        yield f"amqp://{USER}@127.0.0.1:{port}/?addressing_mode=legacy&broadcast_prefix=/topic/broadcast"
        ENDINGS.wait()
        running.stdin.close()
        running.wait(END_WITHIN_S)


def test_notifications_wait_in_the_broker_for_their_listener(broker: str, topic: str) -> None:
    heard = Heard()
    with notifier(broker, [topic]) as sender:
        for number in range(5):
            sender.info({}, "numbered", number)
    with notification_listener(broker, [topic], heard):
        eventually(lambda: len(heard.heard) >= 5, "all are heard")
        assert [payload for _, _, payload in heard.heard] == list(range(5))


def test_notifications_are_shared_by_listeners_and_come_with_their_priority(broker: str, topic: str) -> None:
    one, other = Heard(), Heard()
    with (
        notification_listener(broker, [topic], one),
        notification_listener(broker, [topic], other),
        notifier(broker, [topic]) as sender,
    ):
        for number in range(20):
            (sender.error if number % 2 else sender.info)({}, "numbered", number)
        eventually(lambda: len(one.heard) + len(other.heard) >= 20, "all are heard")
        assert sorted((payload, priority) for priority, _, payload in one.heard + other.heard) == [
            (number, "error" if number % 2 else "info") for number in range(20)
        ]


def test_a_notification_that_is_requeued_comes_again_from_the_broker(broker: str, topic: str) -> None:
    heard = Heard(requeues=1)
    with notification_listener(broker, [topic], heard, allow_requeue=True), notifier(broker, [topic]) as sender:
        sender.info({}, "again", 1)
        eventually(lambda: len(heard.heard) >= 2, "it is heard again")
        assert [payload for _, _, payload in heard.heard] == [1, 1]


def test_casts_reach_any_server_or_the_one_that_is_named(broker: str, topic: str) -> None:
    one, two = Echo(), Echo()
    with (
        rpc_server(broker, topic, "one", one),
        rpc_server(broker, topic, "two", two),
        rpc_client(broker, topic) as client,
    ):
        for number in range(10):
            client.cast({}, "keep", item=number)
        eventually(lambda: len(one.items) + len(two.items) >= 10, "all casts are done")
        assert sorted(one.items + two.items) == list(range(10))
        one.items.clear()
        client.prepare(server="one").cast({}, "keep", item="direct")
        eventually(lambda: one.items, "the cast to one server is done")
        assert "direct" not in two.items


def test_a_fanout_over_a_topic_of_the_broker_reaches_every_server(broker: str, topic: str) -> None:
    one, two = Echo(), Echo()
    with (
        rpc_server(broker, topic, "one", one),
        rpc_server(broker, topic, "two", two),
        rpc_client(broker, topic) as client,
    ):
        for number in range(10):
            client.prepare(fanout=True).cast({}, "keep", item=number)
        for endpoint in (one, two):
            eventually(lambda: len(endpoint.items) >= 10, "all fanouts are done")  # noqa: B023
            assert sorted(endpoint.items) == list(range(10))


def test_a_call_is_answered_over_the_broker(broker: str, topic: str) -> None:
    with rpc_server(broker, topic, "one", Echo("one")), rpc_client(broker, topic) as client:
        assert client.call({}, "echo", value={"a": [1, "ü"]}) == {"a": [1, "ü"]}
        assert client.prepare(server="one").call({}, "who") == "one"
