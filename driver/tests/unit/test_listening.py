"""Listeners and what they hand out: links, credit, settlement, replies, and what they do with nonsense."""

import dataclasses
import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import proton
import pytest
from oslo_messaging import RemoteError, Target
from oslo_messaging._drivers.base import PollStyleListenerAdapter, TransportDriverError

from oslo_messaging_amqp1.driver import AMQPDriver
from oslo_messaging_amqp1.links import SendingLink
from tests.peer import Peer, Script, running
from tests.waiting import eventually

PREFIX = "openstack.org/om/rpc"
UNICAST = f"{PREFIX}/unicast/openstack/T/S"
MULTICAST = f"{PREFIX}/multicast/openstack/T"
ANYCAST = f"{PREFIX}/anycast/openstack/T"
INFO = "openstack.org/om/notify/anycast/openstack/T.info"
TARGET = Target(topic="T", server="S")
Drivers = Callable[..., AMQPDriver]
ACCEPTED, REJECTED, RELEASED = proton.Delivery.ACCEPTED, proton.Delivery.REJECTED, proton.Delivery.RELEASED


def listening(driver: AMQPDriver, target: Target = TARGET) -> Any:
    adapter = driver.listen(target, 1, None)
    assert isinstance(adapter, PollStyleListenerAdapter)
    return adapter._poll_style_listener


def notified(driver: AMQPDriver, *pairs: tuple[Target, str]) -> Any:
    return driver.listen_for_notifications(set(pairs), None, 1, None)._poll_style_listener


def request(number: int = 0, **properties: Any) -> proton.Message:
    return proton.Message(json.dumps({"request": {"n": number}, "context": {"c": 1}}), **properties)


def states(peer: Peer) -> list[int]:
    return [state for _, state, _ in peer.outcomes]


def test_an_rpc_listener_is_attached_three_times_when_listen_returns(peer: Peer, drivers: Drivers) -> None:
    listening(drivers(peer.url))
    links = [one for one in peer.attached if not one.is_sender and not one.is_dynamic]
    assert [(one.source, one.target) for one in links] == [(one, one) for one in (UNICAST, MULTICAST, ANYCAST)]
    assert all(one.name.startswith(f"openstack.org/om/receiver/[{one.source}]/") for one in links)
    assert {(one.snd_settle_mode, one.rcv_settle_mode) for one in links} == {
        (proton.Link.SND_MIXED, proton.Link.RCV_FIRST)
    }
    eventually(lambda: {one: peer.credit.get(one) for one in (UNICAST, MULTICAST, ANYCAST)} == dict.fromkeys(
        (UNICAST, MULTICAST, ANYCAST), 100))  # fmt: skip


def test_a_notification_listener_is_attached_once_for_each_priority_at_the_default_exchange(
    peer: Peer, drivers: Drivers
) -> None:
    target = Target(topic="T", exchange="not used")
    notified(drivers(peer.url, notify_server_credit=7), (target, "info"), (target, "error"))
    prefix = "openstack.org/om/notify/anycast/openstack/T"
    links = [one for one in peer.attached if not one.is_sender and not one.is_dynamic]
    assert {one.source for one in links} == {f"{prefix}.info", f"{prefix}.error"}
    eventually(lambda: peer.credit.get(f"{prefix}.info") == 7)


def test_a_pool_is_not_supported(drivers: Drivers) -> None:
    with pytest.raises(NotImplementedError, match="pool"):
        drivers("amqp://h").listen_for_notifications({(TARGET, "info")}, "pool", 1, None)


def test_a_request_is_handed_out(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(5, id="the-id"))
    (message,) = listener.poll(timeout=60)
    assert (message.message, message.ctxt, message.msg_id) == ({"n": 5}, {"c": 1}, "the-id")
    assert message.client_timeout is None
    assert peer.outcomes == []
    message.acknowledge()
    message.requeue()
    eventually(lambda: states(peer) == [ACCEPTED])
    peer.deliver(UNICAST, request(6))
    listener.poll(timeout=60)
    message.requeue()
    peer.deliver(UNICAST, request(7))
    listener.poll(timeout=60)
    assert states(peer) == [ACCEPTED], "only once, whatever is asked for"


@pytest.mark.parametrize("version", [1.0, 2.0])
def test_a_notification_is_handed_out(peer: Peer, drivers: Drivers, version: float) -> None:
    driver = drivers(peer.url)
    listener = notified(driver, (Target(topic="T"), "info"))
    driver.send_notification(Target(topic="T.info"), {"c": 2}, {"event": 1}, version)
    (message,) = listener.poll(timeout=60)
    assert (message.message, message.ctxt) == ({"event": 1}, {"c": 2})
    message.acknowledge()
    eventually(lambda: states(peer) == [ACCEPTED])


def test_requeue_releases(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    requests, notifications = listening(driver), notified(driver, (Target(topic="T"), "info"))
    peer.deliver(ANYCAST, request())
    peer.deliver(INFO, request())
    for listener in (requests, notifications):
        (message,) = listener.poll(timeout=60)
        message.requeue()
    eventually(lambda: states(peer) == [RELEASED] * 2)


def test_a_cast_is_acknowledged_at_once_and_a_call_along_with_its_reply(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(reply_to="amqp:/caller", id="i"))
    (message,) = listener.poll(timeout=60)
    message.acknowledge()
    eventually(lambda: states(peer) == [ACCEPTED]), "even if no reply follows"
    message.reply("done")
    (reply,) = eventually(lambda: peer.sent_to("amqp:/caller"))
    assert json.loads(reply.message.body) == {"response": "done"}


@pytest.mark.parametrize("ident", ["text", proton.ulong(7)])
def test_a_reply_on_the_wire(peer: Peer, drivers: Drivers, ident: Any) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(reply_to="amqp:/caller", id=ident))
    (message,) = listener.poll(timeout=60)
    message.reply({"r": 1})
    (reply,) = eventually(lambda: peer.arrived)
    assert (reply.address, reply.message.address, reply.is_settled) == ("amqp:/caller", "amqp:/caller", True)
    assert (reply.message.correlation_id, reply.message.id, reply.message.ttl) == (ident, None, 0)
    assert json.loads(reply.message.body) == {"response": {"r": 1}}


def test_an_exception_is_replied(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    listener = listening(driver)
    raised: list[BaseException] = []

    def calling() -> None:
        try:
            driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=60)
        except RemoteError as error:
            raised.append(error)

    thread = threading.Thread(target=calling)
    thread.start()
    (message,) = listener.poll(timeout=60)
    try:
        raise proton.ProtonException("as told")
    except proton.ProtonException:
        message.reply(failure=sys.exc_info())
    thread.join(60)
    assert str(raised[0]).startswith("Remote error: ProtonException as told")


def test_a_reply_that_is_no_json_is_an_exception_for_the_caller(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(reply_to="amqp:/caller", id="i"))
    (message,) = listener.poll(timeout=60)
    circle: list[Any] = []
    circle.append(circle)
    message.reply(circle)
    (reply,) = eventually(lambda: peer.sent_to("amqp:/caller"))
    assert "ValueError" in json.loads(json.loads(reply.message.body)["failure"])["class"]


def test_without_reply_to_nothing_is_replied(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(id="i"))
    (message,) = listener.poll(timeout=60)
    with caplog.at_level(logging.DEBUG, "oslo_messaging_amqp1"):
        message.reply(1)
        message.heartbeat()
        message.heartbeat()
    assert [(one.levelname, one.message) for one in caplog.records if one.name.endswith("incoming")] == [
        ("DEBUG", "No reply is sent to a request that does not say where to: i"),
        ("WARNING", "No heartbeat is sent for a request that does not say where to: i"),
    ]
    assert peer.arrived == []


def test_a_reply_to_a_caller_that_is_gone_is_logged_and_raises_nothing(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    peer.script.no_credit_for = {"amqp:/gone"}
    driver = drivers(peer.url)
    driver.settings = dataclasses.replace(driver.settings, default_reply_timeout=0.2)
    listener = listening(driver)
    peer.deliver(UNICAST, request(reply_to="amqp:/gone", id="i"))
    (message,) = listener.poll(timeout=60)
    message.reply(1)
    (record,) = eventually(lambda: [one for one in caplog.records if one.levelno == logging.ERROR])
    assert record.message == (
        "The reply to request i could not be sent to amqp:/gone: rpc-reply to amqp:/gone was not over within 0.2 s: "
        "there is no credit for amqp:/gone: nobody is subscribed to it, or all subscribers are busy "
        f"(connected to 127.0.0.1:{peer.port})"
    )


def several(peer: Peer, listener: Any, count: int) -> list[Any]:
    """Return requests of somebody who gives no credit for replies."""
    peer.script.no_credit_for = {"amqp:/gone"}
    for number in range(count):
        peer.deliver(UNICAST, request(reply_to="amqp:/gone", id=f"i{number}"))
    found: list[Any] = []
    while len(found) < count:
        found += listener.poll(timeout=60)
    return found


@pytest.mark.parametrize("is_settled", [False, True])
def test_a_reply_does_not_wait_for_its_caller(peer: Peer, drivers: Drivers, is_settled: bool) -> None:
    driver = drivers(peer.url, pre_settled=["rpc-reply" if is_settled else ""])
    for message in several(peer, listening(driver), 3):
        message.reply(1)
    assert peer.sent_to("amqp:/gone") == [], "reply() returned before anything could be sent"
    eventually(lambda: [one for one in peer.senders if one[0] == "amqp:/gone"])
    peer.grant("amqp:/gone", 3)
    eventually(lambda: [one.message.correlation_id for one in peer.sent_to("amqp:/gone")] == ["i0", "i1", "i2"])


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        ("MESSAGES_LIMIT", 2, "more than 2 messages or 64 Mi characters wait to be sent"),
        ("CHARACTERS_LIMIT", 2 << 20, "more than 10000 messages or 2 Mi characters wait to be sent"),
    ],
)
def test_replies_that_wait_are_bounded_and_the_oldest_are_given_up(
    peer: Peer,
    drivers: Drivers,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    limit: str,
    value: int,
    words: str,
) -> None:
    monkeypatch.setattr(f"oslo_messaging_amqp1.posted.{limit}", value)
    for message in several(peer, listening(drivers(peer.url)), 4):
        message.reply("x" * 1_000_000)

    def found() -> list[str]:
        return [one.message for one in caplog.records if one.levelno == logging.ERROR]

    errors = eventually(lambda: found() if len(found()) >= 2 else None)
    assert [error.partition(" could")[0] for error in errors] == [f"The reply to request i{at}" for at in (0, 1)]
    assert words in errors[0]
    peer.grant("amqp:/gone", 4)
    eventually(lambda: [one.message.correlation_id for one in peer.sent_to("amqp:/gone")] == ["i2", "i3"])


def test_a_large_reply_that_gets_on_is_not_given_up(
    peer: Peer, drivers: Drivers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    driver = drivers(peer.url)
    driver.settings = dataclasses.replace(driver.settings, default_reply_timeout=0.3)
    listener = listening(driver)
    peer.deliver(UNICAST, request(reply_to="amqp:/caller", id="i"))
    (message,) = listener.poll(timeout=60)
    slices: list[int] = []
    send_slice = SendingLink.send_slice

    def slowly(self: SendingLink) -> None:
        # All together take longer than the limit.
        slices.append(len(slices))
        time.sleep(0.05)
        send_slice(self)

    monkeypatch.setattr(SendingLink, "send_slice", slowly)
    message.reply("x" * 2_000_000)
    (reply,) = eventually(lambda: peer.sent_to("amqp:/caller"))
    assert (len(reply.message.body) > 2_000_000, len(slices) > 20, peer.aborts) == (True, True, 0)
    assert "could not be sent" not in caplog.text


@pytest.mark.parametrize("end", ["listener", "transport"])
def test_what_ends_waits_for_its_replies(peer: Peer, drivers: Drivers, end: str) -> None:
    driver = drivers(peer.url)
    listener = listening(driver)
    (message,) = several(peer, listener, 1)
    message.reply("last")
    ending = threading.Thread(target=listener.cleanup if end == "listener" else driver.cleanup)
    ending.start()
    eventually(lambda: [one for one in peer.senders if one[0] == "amqp:/gone"])
    assert ending.is_alive()
    peer.grant("amqp:/gone", 1)
    ending.join(60)
    assert not ending.is_alive()
    eventually(lambda: [one.message.body for one in peer.sent_to("amqp:/gone")] == ['{"response": "last"}'])


def test_the_end_of_a_transport_does_not_wait_for_a_caller_that_is_gone_for_long(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oslo_messaging_amqp1.driver.LEAVE_LIMIT_S", 0.1)
    driver = drivers(peer.url)
    (message,) = several(peer, listening(driver), 1)
    message.reply("last")
    driver.cleanup()
    assert "The reply to request i0 could not be sent to amqp:/gone: Shutting down" in caplog.text


def test_default_reply_retry_is_how_often_a_reply_is_sent_again(drivers: Drivers) -> None:
    refused = {"amqp:/gone": proton.Condition("amqp:not-found", "gone")}
    with running(Script(refuse=refused)) as peer:
        listener = listening(drivers(peer.url, default_reply_retry=1))
        peer.deliver(UNICAST, request(reply_to="amqp:/gone", id="i"))
        (message,) = listener.poll(timeout=60)
        message.reply(1)
        eventually(lambda: len([one for one in peer.attached if one.target == "amqp:/gone"]) == 2)


def test_a_reply_that_came_back_is_sent_again_if_the_options_say_so(peer: Peer, drivers: Drivers) -> None:
    outcomes = [RELEASED, ACCEPTED]
    peer.script.outcome = lambda arrived: outcomes.pop(0)
    listener = listening(drivers(peer.url, default_reply_retry=1, pre_settled=[""]))
    peer.deliver(UNICAST, request(reply_to="amqp:/caller", id="i"))
    (message,) = listener.poll(timeout=60)
    message.reply("r")
    eventually(lambda: [one.is_settled for one in peer.sent_to("amqp:/caller")] == [False, False])


def test_a_heartbeat_on_the_wire(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    body = json.dumps({"request": {}, "context": {}, "call_monitor_timeout": 3})
    peer.deliver(UNICAST, proton.Message(body, reply_to="amqp:/caller", id="i"))
    (message,) = listener.poll(timeout=60)
    assert message.client_timeout == 3
    message.heartbeat()
    (beat,) = eventually(lambda: peer.arrived)
    assert (beat.address, beat.is_settled, beat.message.body) == ("amqp:/caller", True, None)
    assert (beat.message.ttl, beat.message.correlation_id, beat.message.id) == (3, "i", None)


def test_a_heartbeat_waits_for_nothing(peer: Peer, drivers: Drivers) -> None:
    peer.script.no_credit_for = {"amqp:/gone"}
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(reply_to="amqp:/gone", id="i"))
    (message,) = listener.poll(timeout=60)
    began = time.monotonic()
    message.heartbeat()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("window", "renewals"), [(1, [1] * 4), (10, [10])])
def test_credit_is_renewed_at_half_when_messages_are_settled(
    peer: Peer, drivers: Drivers, window: int, renewals: list[int]
) -> None:
    listener = listening(drivers(peer.url, rpc_server_credit=window))
    eventually(lambda: peer.credit.get(UNICAST) == window)
    peer.flows.clear()
    for number in range(4 if window == 1 else 5):
        peer.deliver(UNICAST, request(number))
        (message,) = listener.poll(timeout=60)
        assert [credit for address, credit in peer.flows if address == UNICAST] == (
            [1] * number if window == 1 else []
        )
        message.acknowledge()
        eventually(lambda count=number + 1: len(peer.outcomes) == count)
        if window == 1:
            eventually(lambda count=number + 1: len(peer.flows) >= count)
    eventually(lambda: [credit for address, credit in peer.flows if address == UNICAST] == renewals)


def test_messages_that_are_pre_settled_renew_the_credit_too(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url, rpc_server_credit=2))
    eventually(lambda: peer.credit.get(UNICAST) == 2)
    for number in range(6):
        eventually(lambda: peer.consumer(UNICAST).credit > 0)
        peer.deliver(UNICAST, request(number), is_settled=True)
        (message,) = listener.poll(timeout=60)
        assert message.message == {"n": number}
        message.acknowledge()
    assert peer.outcomes == []


def test_credit_that_is_used_up_is_counted(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    listener = listening(drivers(peer.url, rpc_server_credit=2))
    eventually(lambda: peer.credit.get(UNICAST) == 2)
    with caplog.at_level(logging.DEBUG, "oslo_messaging_amqp1.credit"):
        peer.deliver(UNICAST, request(1))
        peer.deliver(UNICAST, request(2))
        assert len(listener.poll(timeout=60, batch_size=2)) == 2
    assert caplog.messages == [f"No credit is left for {UNICAST}: the peer has to wait, stall 1"]
    assert [one.credit.stalls for one in listener.subscriptions] == [1, 0, 0]


@pytest.mark.parametrize(
    "data",
    [
        *(b"\x00\x53\x10nonsense", proton.Message("{").encode(), proton.Message(5).encode()),
        *(proton.Message('{"a": 1}').encode(), proton.Message("[]").encode()),
    ],
)
def test_what_cannot_be_read_is_rejected_and_logged_once_with_its_address(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    listener = listening(drivers(peer.url, rpc_server_credit=1))
    for count in (1, 2, 3):
        eventually(lambda: peer.consumer(ANYCAST).credit > 0)
        peer.deliver(ANYCAST, bytes(data))
        # It is read by who polls.
        eventually(lambda count=count: listener.poll(timeout=0.05) == [] and states(peer) == [REJECTED] * count)
    assert peer.outcomes[0][2].condition.name == "amqp:decode-error"
    errors = [one.message for one in caplog.records if one.levelno == logging.ERROR]
    assert [message.partition(":")[0] for message in errors] == [f"Rejected a message to {ANYCAST}"]
    eventually(lambda: peer.consumer(ANYCAST).credit > 0)
    peer.deliver(ANYCAST, request(1))
    assert [one.message for one in listener.poll(timeout=60)] == [{"n": 1}]


def test_poll_returns_after_its_time_or_with_a_batch(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    began = time.monotonic()
    assert listener.poll(timeout=0.1) == []
    assert 0.1 <= time.monotonic() - began < 10
    for number in range(5):
        peer.deliver(UNICAST, request(number))
    assert [one.message["n"] for one in listener.poll(timeout=60, batch_size=3)] == [0, 1, 2]
    began = time.monotonic()
    assert [one.message["n"] for one in listener.poll(batch_size=9, batch_timeout=0.2)] == [3, 4]
    assert 0.2 <= time.monotonic() - began < 10


def test_stop_wakes_a_poll(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(listener.poll()))
    thread.start()
    listener.stop()
    thread.join(60)
    assert found == [[]]
    assert listener.poll() == []


def test_a_stopped_listener_takes_no_more_and_still_settles_what_it_has(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(1))
    (message,) = listener.poll(timeout=60)
    late = peer.consumer(UNICAST)

    def crossing() -> None:
        listener.stop()
        peer.put(late, request(2).encode(), False)

    peer.do(crossing)
    eventually(lambda: [peer.credit[one] for one in (UNICAST, MULTICAST, ANYCAST)] <= [0, 0, 0])
    eventually(lambda: states(peer) == [RELEASED])
    message.acknowledge()
    eventually(lambda: states(peer) == [RELEASED, ACCEPTED])
    assert listener.poll() == []
    listener.cleanup()
    eventually(lambda: len(peer.detaches) == 3)


def test_what_arrived_before_the_stop_is_handed_out_after_it(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(1))
    peer.deliver(UNICAST, request(2))
    eventually(lambda: len(listener._arrived) == 2)
    listener.stop()
    assert [one.message["n"] for one in listener.poll(batch_size=9)] == [1, 2]


def test_listeners_come_back_after_a_lost_connection(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(1))
    (old,) = listener.poll(timeout=60)
    peer.drop()
    eventually(lambda: peer.connects == 2 and len(peer.consumers) == 4)
    old.acknowledge()
    old.requeue()
    peer.deliver(UNICAST, request(2))
    (message,) = listener.poll(timeout=60)
    message.acknowledge()
    eventually(lambda: states(peer) == [ACCEPTED])


def test_a_detached_subscription_is_made_again(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.detach(peer.consumer(ANYCAST))
    eventually(lambda: ANYCAST in [address for address, _, _ in peer.consumers])
    peer.deliver(ANYCAST, request(1))
    assert len(listener.poll(timeout=60)) == 1


@pytest.mark.parametrize("by_end", [False, True])
def test_a_refused_subscription_is_an_error_of_listen(drivers: Drivers, by_end: bool) -> None:
    refused = {MULTICAST: proton.Condition("amqp:unauthorized-access", "not you")}
    with running(Script(refuse=refused, refuse_by_end=by_end)) as peer:
        driver = drivers(peer.url)
        with pytest.raises(TransportDriverError, match=f"{MULTICAST}: amqp:unauthorized-access: not you"):
            driver.listen(TARGET, 1, None)
        eventually(lambda: [one for one in peer.consumers if not one[0].startswith("amqp:")] == [])


def test_listen_does_not_wait_for_ever_for_a_connection(
    drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    peer = Peer().start()
    peer.stop()
    driver = drivers(peer.url)
    began = time.monotonic()
    listener = listening(driver)
    assert time.monotonic() - began < 20
    waits = [one.message for one in caplog.records if "Subscribing" in one.message]
    assert waits == [f"Subscribing to T has to wait for a connection: 127.0.0.1:{peer.port}: Connection refused"]
    with running(port=peer.port) as later:
        eventually(lambda: len(later.consumers) == 4)
        later.deliver(UNICAST, request(1))
        assert len(listener.poll(timeout=60)) == 1


def test_listen_goes_on_without_a_peer_that_does_not_open_the_connection(
    drivers: Drivers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oslo_messaging_amqp1.listener.ATTACH_LIMIT_S", 0.2)
    with running(Script(answers_open=False)) as peer:
        driver = drivers(peer.url)
        eventually(lambda: "has answered" in driver.bus().state)
        listening(driver)
        waits = [one.message for one in caplog.records if "Subscribing" in one.message]
        assert waits == [
            "Subscribing to T takes more than 0.2 s, going on without: there is no connection, "
            f"127.0.0.1:{peer.port} has answered, but has not opened the connection; "
            "the last failure was: no attempt has failed yet"
        ]


def test_the_context_is_carried_unchanged(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    listener = listening(driver)
    context = {"trace_info": {"parent": "x"}, "deep": [{"a": None}], "ä": 1.5}
    driver.send(TARGET, context, {"method": "m"})
    assert listener.poll(timeout=60)[0].ctxt == context


def test_what_was_not_handed_out_is_released_by_cleanup(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(1))
    eventually(lambda: len(listener._arrived) == 1)
    listener.cleanup()
    eventually(lambda: states(peer) == [RELEASED])
    assert listener.poll() == []


def test_heartbeats_to_a_caller_without_credit_do_not_pile_up(peer: Peer, drivers: Drivers) -> None:
    peer.script.no_credit_for = {"amqp:/gone"}
    listener = listening(drivers(peer.url))
    peer.deliver(UNICAST, request(reply_to="amqp:/gone", id="i"))
    (message,) = listener.poll(timeout=60)
    for _ in range(5):
        message.heartbeat()
    eventually(lambda: [one for one in peer.senders if one[0] == "amqp:/gone"])
    peer.grant("amqp:/gone", 10)
    message.reply("done")
    eventually(lambda: len(peer.arrived) == 2)
    assert [one.message.body for one in peer.arrived] == [None, '{"response": "done"}']


def test_a_message_that_is_aborted_is_not_handed_out(peer: Peer, drivers: Drivers) -> None:
    listener = listening(drivers(peer.url, rpc_server_credit=1))
    eventually(lambda: peer.credit.get(UNICAST) == 1)
    begun: list[Any] = []

    def beginning() -> None:
        link = peer.consumer(UNICAST)
        begun.append(link.delivery("aborted"))
        link.stream(request(1).encode()[:20])

    peer.do(beginning)
    peer.do(lambda: begun[0].abort())
    assert listener.poll(timeout=0.1) == []
    eventually(lambda: peer.consumer(UNICAST).credit > 0)
    peer.deliver(UNICAST, request(2))
    assert [one.message["n"] for one in listener.poll(timeout=60)] == [2]
