"""What a listener is configured with holds for its connections, and not for those of others."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from proton import Message

from routerd.wire import Begin, Close, Transfer
from tests.conformance.raw_peer import AMQP_HEADER, framed
from tests.system.conftest import Connect, running
from tests.system.raw_client import RawClient
from tests.system.routers import IN_PROCESS, RunningRouter, configuration, listener

LISTENERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "small": {"maxFrameSize": 1024, "maxSessions": 3, "maxSessionFrames": 8, "linkCapacity": 10},
    "silent": {"idleTimeoutSeconds": 0},
    "hasty": {"initialHandshakeTimeoutSeconds": 1},
    "impatient": {"idleTimeoutSeconds": 2},
    "strip-no": {"stripAnnotations": "no"},
    "strip-in": {"stripAnnotations": "in"},
    "strip-out": {"stripAnnotations": "out"},
    "telling": {"openProperties": '{\n        "site": {"name": "north"}, "number": 7\n    }'},
    "failing-over": {"failoverUrls": "amqp://other:5673, third"},
}
OURS = {"x-opt-ours": "of a client"}
ANNOTATED = OURS | {"x-opt-qd.trace": "of a router"}


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router with a listener of each kind."""
    text = configuration(*(listener(name, **attributes) for name, attributes in LISTENERS.items()))
    with running(IN_PROCESS, tmp_path_factory.mktemp("router"), text) as router:
        yield router


def test_frames_sessions_windows_and_credit_have_the_limits_that_are_configured(
    router: RunningRouter, address: str
) -> None:
    with RawClient(router.port_of("small")) as client:
        opened = client.open()
        assert (opened.max_frame_size, opened.channel_max, client.begun.incoming_window) == (1024, 2, 8)
        client.attach_consumer(address, credit=1)
        client.attach_producer(address, handle=1)
        assert client.wait_for_credit(handle=1) == 10
        client.send_octets(framed(Begin(next_outgoing_id=0, incoming_window=1, outgoing_window=1), channel=3))
        assert client.wait_for_error(Close) == "amqp:connection:framing-error"


def test_a_listener_may_never_give_up_a_peer_that_is_silent(router: RunningRouter) -> None:
    with RawClient(router.port_of("silent")) as client:
        assert not client.open().idle_time_out


def test_who_does_not_open_in_time_is_cut_off(router: RunningRouter) -> None:
    with RawClient(router.port_of("hasty")) as late, RawClient(router.port_of("hasty")) as early:
        early.open()
        begun = time.monotonic()
        late.send_octets(AMQP_HEADER)
        assert late.read_octets(len(AMQP_HEADER)) == AMQP_HEADER
        assert list(late.rest()) == []
        assert time.monotonic() - begun > 0.5
        assert early.attach_producer("anything").target is not None


def test_a_peer_that_falls_silent_is_given_up_and_its_deliveries_with_it(
    router: RunningRouter, connect_to: Connect, address: str
) -> None:
    with RawClient(router.port_of("impatient")) as silent:
        opened = silent.open()
        assert opened.idle_time_out == 1000
        silent.attach_consumer(address, credit=10)
        client = connect_to(router.port_of("impatient"))
        sent = client.producer(address).send("one")
        silent.wait_for(Transfer)
        begun = time.monotonic()
        assert sent.outcome() == "modified"
        assert time.monotonic() - begun > 1.0
        assert list(silent.rest())[-1].error.condition == "amqp:resource-limit-exceeded"
        # Those who have nothing to say either, but say so, stay.
        assert client.is_open


def test_an_open_has_the_properties_that_are_configured(router: RunningRouter) -> None:
    with RawClient(router.port_of("telling")) as client:
        properties = client.open().properties or {}
    assert {key: properties[key] for key in ("product", "site", "number")} == {
        "product": "mobula",
        "site": {"name": "north"},
        "number": 7,
    }


def test_an_open_says_where_to_go_instead(router: RunningRouter) -> None:
    with RawClient(router.port_of("failing-over")) as client:
        properties = client.open().properties or {}
    assert properties["failover-server-list"] == [
        {"network-host": "other", "port": "5673", "scheme": "amqp"},
        {"network-host": "third", "port": "5672"},
    ]


@pytest.mark.parametrize(("leaving", "is_told"), [("plain", False), ("strip-no", True), ("strip-in", True)])
def test_a_consumer_is_told_the_way_of_a_message_where_that_is_configured(
    router: RunningRouter, connect_to: Connect, address: str, leaving: str, is_told: bool
) -> None:
    """A claim about it that is no list of routers is not passed on."""
    consumer = connect_to(router.port_of(leaving)).consumer(address)
    message = Message(body="a body", subject="a subject", durable=True, annotations=ANNOTATED)
    way = {"x-opt-qd.ingress": "0/R.1", "x-opt-qd.trace": ["0/R.1"], "x-opt-qd.to": address} if is_told else {}
    for entering in ("plain", "strip-no", "strip-in", "strip-out"):
        producer = connect_to(router.port_of(entering)).producer(address)
        assert producer.send_encoded(message.encode()).outcome() == "accepted"
        received = consumer.take().message
        assert (received.body, received.subject, received.durable) == ("a body", "a subject", True)
        assert {str(key): value for key, value in (received.annotations or {}).items()} == OURS | way


def test_messages_pass_between_listeners(router: RunningRouter, connect_to: Connect, address: str) -> None:
    consumers = {name: connect_to(router.port_of(name)).consumer(f"{address}.{name}") for name in LISTENERS}
    for entering in LISTENERS:
        producer = connect_to(router.port_of(entering)).producer(None)
        sent = [producer.send(b"x" * 3000, address=f"{address}.{leaving}") for leaving in LISTENERS]
        assert {one.outcome() for one in sent} == {"accepted"}
    assert {len(one.bodies) for one in consumers.values()} == {len(LISTENERS)}
