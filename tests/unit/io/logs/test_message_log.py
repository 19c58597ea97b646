from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from routerd.config import ListenerConfig
from routerd.io.logs.event_log import EventLog
from routerd.io.logs.levels import Level
from routerd.io.logs.log_system import module_log
from routerd.io.logs.message_log import is_watched
from routerd.wire import Properties, Symbol, Timestamp, UInt, ULong
from tests.routers import Client, Workers, message

ALL = (
    *("message-id", "user-id", "to", "subject", "reply-to", "correlation-id", "content-type", "content-encoding"),
    *("absolute-expiry-time", "creation-time", "group-id", "group-sequence", "reply-to-group-id", "app-properties"),
)
EVERYTHING = Properties(
    message_id=ULong(7),
    user_id=b"user",
    to="orders",
    subject='a "subject"',
    reply_to="replies",
    correlation_id=UUID(int=1),
    content_type=Symbol("text/plain"),
    content_encoding=Symbol("gzip"),
    absolute_expiry_time=Timestamp(1_000_000_000_123),
    creation_time=Timestamp(0x7FFFFFFFFFFFFFFF),
    group_id="group",
    group_sequence=3,
    reply_to_group_id="other",
)


@pytest.fixture(autouse=True)
def _switched_on() -> Iterator[None]:
    log, core_log = module_log("MESSAGE"), module_log("ROUTER_CORE")
    log.switch(frozenset(Level))
    # Its lines tell of sockets, which the connections here don't have.
    core_log.switch(frozenset())
    yield
    for one in (log, core_log):
        one.switch(frozenset(level for level in Level if level >= Level.WARNING))


def listener(*components: str) -> ListenerConfig:
    return ListenerConfig(host="127.0.0.1", port=5672, message_log_components=components)


class Watched:
    """A client at a listener that has these parts of its messages logged."""

    def __init__(self, *components: str, workers: Workers | None = None) -> None:
        self.workers = workers or Workers(observer=EventLog)
        self.client: Client = self.workers.client()
        self.client.peer.details = listener(*components)
        self.heed_log()

    def heed_log(self) -> None:
        """Do what a worker does when the log is switched."""
        peer = self.client.peer
        peer.watch(is_watched(peer.details))


def texts(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What has been logged of messages."""
    return [line.partition("MESSAGE (trace) ")[2] for line in capfd.readouterr().err.splitlines()]


def send(octets: bytes, *components: str, **options: Any) -> None:
    """Have a message of an anonymous producer go nowhere."""
    watched = Watched(*components)
    watched.client.send(watched.client.producer(None, "link"), octets, **options)


def test_a_message_is_logged_where_it_comes_in_and_where_it_leaves(capfd: pytest.CaptureFixture[str]) -> None:
    watched = Watched("subject", "app-properties")
    client = watched.client
    client.consumer("ok.1", "out", credit=1)
    octets = message(properties=Properties(subject="sub", message_id="m"), application_properties={"k": UInt(1)})
    client.send(client.producer("ok.1", "in"), octets)
    assert texts(capfd) == [
        """[C1]: Received Message{subject="sub", app-properties={"k"=1}} on link 'in' ( -> ok.1)""",
        """[C1]: Sent Message{subject="sub", app-properties={"k"=1}} on link 'out' (ok.1 -> )""",
    ]


def test_all_parts_have_their_order_and_their_text(capfd: pytest.CaptureFixture[str]) -> None:
    send(message(properties=EVERYTHING, application_properties={"k": "v", "n": None}), *reversed(ALL))
    assert texts(capfd) == [
        '[C1]: Received Message{message-id=7, user-id=b"user", to="orders", subject="a \\"subject\\"", '
        'reply-to="replies", correlation-id=00000000-0000-0000-0000-000000000001, content-type=:"text/plain", '
        'content-encoding=:gzip, absolute-expiry-time="2001-09-09 01:46:40.123 +0000", '
        'creation-time=9223372036854775807, group-id="group", group-sequence=3, reply-to-group-id="other", '
        """app-properties={"k"="v", "n"=null}} on link 'link' ( -> )"""
    ]


@pytest.mark.parametrize("octets", [message(), message(properties=Properties(message_id=b"m")), b"no message", b""])
def test_what_a_message_does_not_have_is_left_out(octets: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    send(octets, "to", "app-properties")
    assert texts(capfd) == ["[C1]: Received Message{} on link 'link' ( -> )"]


@pytest.mark.parametrize("octets", [b"\x00\x53\x73\xc0\x03\x01\xa1\x05", b"\x00\x53\x73\xa1\x01x"])
def test_properties_that_are_malformed_are_left_out(octets: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    send(octets, "message-id")
    assert texts(capfd) == ["[C1]: Received Message{} on link 'link' ( -> )"]


@pytest.mark.parametrize(
    ("first", "parts"),
    [(5, ""), (20, 'subject="sub"'), (60, 'subject="sub", app-properties={"k"="value"}')],
)
def test_of_a_message_in_parts_the_first_one_is_logged(
    first: int, parts: str, capfd: pytest.CaptureFixture[str]
) -> None:
    octets = message(bytes(1000), properties=Properties(subject="sub"), application_properties={"k": "value"})
    watched = Watched("subject", "app-properties")
    client = watched.client
    client.consumer("ok", "out", credit=1)
    client.stream(client.producer("ok", "in"), octets[:first], octets[first:100], octets[100:])
    # Without annotations to look for, the first frame is sent on as it came.
    assert texts(capfd) == [
        f"[C1]: Received Message{{{parts}}} on link 'in' ( -> ok)",
        f"[C1]: Sent Message{{{parts}}} on link 'out' (ok -> )",
    ]


def test_copies_of_a_message_are_logged_each(capfd: pytest.CaptureFixture[str]) -> None:
    client = Watched("to").client
    for name in "ab":
        client.consumer("multicast", name, credit=1)
    client.send(client.producer("multicast", "in"), message())
    assert [text.partition(" on ")[2] for text in texts(capfd)] == [
        "link 'in' ( -> multicast)",
        "link 'a' (multicast -> )",
        "link 'b' (multicast -> )",
    ]


def test_only_connections_of_such_a_listener_are_logged(capfd: pytest.CaptureFixture[str]) -> None:
    workers = Workers(observer=EventLog)
    silent = Watched(workers=workers).client
    heard = Watched("to", workers=workers).client
    heard.consumer("orders", "out", credit=1)
    silent.send(silent.producer("orders", "in"), message())
    assert texts(capfd) == ["[C2]: Sent Message{} on link 'out' (orders -> )"]


def test_the_log_can_be_switched_while_links_are_there(capfd: pytest.CaptureFixture[str]) -> None:
    watched = Watched("to")
    client = watched.client
    link = client.producer(None, "link")
    module_log("MESSAGE").switch(frozenset())
    watched.heed_log()
    client.send(link, message())
    assert (texts(capfd), is_watched(client.peer.details)) == ([], False)
    module_log("MESSAGE").switch(frozenset(Level))
    watched.heed_log()
    client.send(link, message())
    assert len(texts(capfd)) == 1


def test_links_of_others_are_not_watched() -> None:
    assert not is_watched(None)
    assert not is_watched(listener())
    assert is_watched(listener("to"))
