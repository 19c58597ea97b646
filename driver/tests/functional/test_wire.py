"""What is on the wire: addresses as a router knows them, messages of others, and processes that fork."""

import logging
import multiprocessing
import re
import subprocess
from typing import Any

import pytest
from proton import Message
from proton.utils import BlockingConnection, SendException

from examples.routers import TREE, router_python
from tests.functional.services import Echo, Heard, notification_listener, rpc_client, rpc_server
from tests.waiting import WITHIN_S, eventually


def addresses_at(url: str, topic: str) -> set[str]:
    """Return the addresses with a topic that have consumers at a router, by its own account."""
    place = re.sub(r"^amqp://(.*?)/.*$", r"\1", url)
    done = subprocess.run(
        [router_python(), "-m", "routerd.cli.routerstat", "-b", place, "-a"],
        cwd=TREE,
        capture_output=True,
        text=True,
        check=True,
        timeout=WITHIN_S,
    )
    return {word for line in done.stdout.splitlines() for word in line.split() if topic in word}


def test_a_server_has_an_address_for_each_of_novas_patterns(url: str, topic: str) -> None:
    prefix = "openstack.org/om/rpc"
    with rpc_server(url, topic, "compute-1"):
        assert addresses_at(url, topic) == {
            f"{prefix}/anycast/openstack/{topic}",
            f"{prefix}/unicast/openstack/{topic}/compute-1",
            f"{prefix}/multicast/openstack/{topic}",
        }


def test_a_virtual_host_stands_before_the_exchange(url: str, topic: str) -> None:
    prefix = "openstack.org/om/rpc"
    with rpc_server(f"{url}cell1", topic, "compute-1", exchange="nova"):
        assert addresses_at(url, topic) == {
            f"{prefix}/anycast/cell1/nova/{topic}",
            f"{prefix}/unicast/cell1/nova/{topic}/compute-1",
            f"{prefix}/multicast/cell1/nova/{topic}",
        }


def test_a_server_with_legacy_addresses_has_those_of_a_broker(url: str, topic: str) -> None:
    with rpc_server(url, topic, "compute-1", addressing_mode="legacy"):
        assert addresses_at(url, topic) == {
            f"unicast.openstack.{topic}",
            f"exclusive.openstack.{topic}.compute-1",
            f"broadcast.openstack.{topic}.all",
        }


def test_a_listener_has_an_address_for_each_priority_that_it_hears(url: str, topic: str) -> None:
    class Some:
        def info(self, *arguments: Any) -> None:
            """Hear."""

        def error(self, *arguments: Any) -> None:
            """Hear."""

    with notification_listener(url, [topic], Some()):
        assert addresses_at(url, topic) == {
            f"openstack.org/om/notify/anycast/openstack/{topic}.{priority}" for priority in ("error", "info")
        }


@pytest.mark.parametrize(
    "body",
    ["no JSON", '{"context": {}}', "[]", b"\x00octets", None, {"request": {}}],
    ids=["text", "no request", "list", "octets", "nothing", "map"],
)
def test_what_is_no_request_is_rejected_and_the_server_goes_on(
    url: str, topic: str, body: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "oslo_messaging_amqp1")
    address = f"openstack.org/om/rpc/anycast/openstack/{topic}"
    with rpc_server(url, topic, "one", Echo("one")), rpc_client(url, topic) as client:
        peer = BlockingConnection(url.removesuffix("/"), timeout=WITHIN_S)
        try:
            sender = peer.create_sender(address)
            with pytest.raises(SendException) as raised:
                sender.send(Message(body=body))
            assert raised.value.state == 0x25, "rejected"
        finally:
            peer.close()
        assert client.call({}, "who") == "one"
    assert [address in record.getMessage() for record in caplog.records].count(True) == 1


def test_what_is_no_notification_is_rejected_and_the_listener_goes_on(url: str, topic: str) -> None:
    heard = Heard()
    with notification_listener(url, [topic], heard):
        peer = BlockingConnection(url.removesuffix("/"), timeout=WITHIN_S)
        try:
            sender = peer.create_sender(f"openstack.org/om/notify/anycast/openstack/{topic}.info")
            with pytest.raises(SendException):
                sender.send(Message(body="no JSON"))
            message = {"event_type": "old", "payload": 7, "publisher_id": "other", "priority": "INFO"}
            sender.send(Message(body=f'{{"request": {str(message).replace(chr(39), chr(34))}, "context": {{}}}}'))
        finally:
            peer.close()
        eventually(lambda: heard.heard, "what comes behind it is heard")
        assert heard.heard == [("info", "old", 7)]


def _call_in_child(client: Any, answers: Any) -> None:
    answers.put(client.call({}, "echo", value="child"))


def test_a_process_and_its_child_both_call(url: str, topic: str) -> None:
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    with rpc_server(url, topic, "one"), rpc_client(url, topic) as client:
        assert client.call({}, "echo", value="before") == "before"
        child = fork.Process(target=_call_in_child, args=(client, answers))
        child.start()
        assert answers.get(timeout=WITHIN_S) == "child"
        child.join(WITHIN_S)
        assert child.exitcode == 0
        assert client.call({}, "echo", value="after") == "after"
