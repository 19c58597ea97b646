"""What send() and send_notification() do, by what the peer sees and answers."""

import dataclasses
import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import proton
import pytest
from oslo_messaging import MessageDeliveryFailure, MessageUndeliverable, MessagingTimeout, Target, TransportOptions

from oslo_messaging_amqp1.driver import AMQPDriver
from tests.peer import Arrived, Peer, Script
from tests.waiting import eventually

ANYCAST = "openstack.org/om/rpc/anycast/openstack/T"
NOTIFY = "openstack.org/om/notify/anycast/openstack/T.info"
Drivers = Callable[..., AMQPDriver]


def modified(is_failed: bool, is_undeliverable: bool) -> Callable[[Any], None]:
    def settling(delivery: Any) -> None:
        delivery.local.failed, delivery.local.undeliverable = is_failed, is_undeliverable
        delivery.update(proton.Delivery.MODIFIED)

    return settling


def answering(peer: Peer, body: Any = "ok") -> Callable[[Arrived], Any]:
    """Return an outcome that accepts, and replies to calls."""

    def outcome(arrived: Arrived) -> Any:
        if arrived.message.reply_to and arrived.message.reply_to.startswith("amqp:/reply"):
            link = peer.consumer(arrived.message.reply_to)
            reply = proton.Message(json.dumps({"response": body}), correlation_id=arrived.message.id)
            peer.put(link, reply.encode(), True)
        return proton.Delivery.ACCEPTED

    return outcome


def called_in_vain(driver: AMQPDriver, peer: Peer) -> proton.Message:
    """Make a call that has come to the peer, and that is given up there without a reply."""
    for limit_s in (0.2, 1, 5, 25):
        with pytest.raises(MessagingTimeout):
            driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=limit_s)
        if peer.arrived:
            break
    return peer.arrived[0].message


def in_turn(*outcomes: Any) -> Callable[[Arrived], Any]:
    left = list(outcomes)
    return lambda arrived: left.pop(0) if len(left) > 1 else left[0]


def test_a_call_on_the_wire(peer: Peer, drivers: Drivers) -> None:
    peer.script.outcome = answering(peer, {"a": 1})
    before = time.time()
    driver = drivers(peer.url)
    assert driver.send(Target(topic="T"), {"c": 1}, {"method": "m"}, wait_for_reply=True, timeout=20) == {"a": 1}
    (arrived,) = peer.arrived
    message = arrived.message
    assert (arrived.address, message.address, arrived.is_settled) == (ANYCAST, ANYCAST, False)
    assert json.loads(message.body) == {"request": {"method": "m"}, "context": {"c": 1}}
    assert len(message.id) == 32
    assert int(message.id, 16) >= 0
    assert message.reply_to == "amqp:/reply/1"
    assert (message.correlation_id, message.ttl, message.durable, message.priority) == (None, 20, False, 4)
    assert before + 19 < message.expiry_time < before + 25
    assert (message.subject, message.user_id, message.reply_to_group_id, message.properties) == (None, b"", None, None)
    assert (message.annotations, message.instructions, message.creation_time) == (None, None, 0)


def test_a_cast_on_the_wire(peer: Peer, drivers: Drivers) -> None:
    assert drivers(peer.url).send(Target(topic="T", server="S"), {}, {"method": "m"}) is None
    (arrived,) = peer.arrived
    message = arrived.message
    assert (arrived.address, arrived.is_settled) == ("openstack.org/om/rpc/unicast/openstack/T/S", False)
    assert (message.id, message.reply_to, message.correlation_id, message.ttl) == (None, None, None, 0)
    assert message.expiry_time == 0


def test_a_fanout_goes_to_all_whatever_the_server(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    driver.send(Target(topic="T", server="S", fanout=True), {}, {})
    assert [one.address for one in peer.arrived] == ["openstack.org/om/rpc/multicast/openstack/T"]


def test_a_notification_on_the_wire(peer: Peer, drivers: Drivers) -> None:
    drivers(peer.url).send_notification(Target(topic="T.info"), {}, {"e": 1}, 2.0)
    (arrived,) = peer.arrived
    assert (arrived.address, arrived.is_settled, arrived.message.ttl) == (NOTIFY, False, 0)
    assert json.loads(arrived.message.body)["request"]["oslo.version"] == "2.0"


@pytest.mark.parametrize("kind", ["rpc-call", "rpc-cast", "notify"])
def test_the_kinds_of_pre_settled_are_sent_settled(peer: Peer, drivers: Drivers, kind: str) -> None:
    peer.script.outcome = answering(peer)
    driver = drivers(peer.url, pre_settled=[kind.upper()])
    driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=60)
    driver.send(Target(topic="T"), {}, {})
    driver.send_notification(Target(topic="T.info"), {}, {}, 1.0)
    eventually(lambda: len(peer.arrived) == 3)
    assert [one.is_settled for one in peer.arrived] == [kind == one for one in ("rpc-call", "rpc-cast", "notify")]


def test_pre_settled_in_the_url_is_split_at_commas(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(f"{peer.url}/?pre_settled=notify,rpc-cast")
    assert driver.settings.pre_settled == {"notify", "rpc-cast"}


def test_the_links_to_destinations_are_kept(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    for _ in range(3):
        driver.send(Target(topic="T"), {}, {})
    (link,) = [one for one in peer.attached if one.is_sender]
    assert (link.source, link.target) == (ANYCAST, ANYCAST)
    assert link.name.startswith(f"openstack.org/om/sender/[{ANYCAST}]/")
    assert (link.snd_settle_mode, link.rcv_settle_mode) == (proton.Link.SND_MIXED, proton.Link.RCV_FIRST)


def test_a_link_that_is_not_used_any_more_is_detached(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url, default_sender_link_timeout=1)
    driver.send(Target(topic="T"), {}, {})
    eventually(lambda: any("/sender/" in name for name in peer.detaches))
    driver.send(Target(topic="T"), {}, {})
    assert len(peer.arrived) == 2


@pytest.mark.parametrize("is_settled", [False, True])
def test_without_credit_a_cast_blocks_until_there_is_some(peer: Peer, drivers: Drivers, is_settled: bool) -> None:
    peer.script.no_credit_for = {ANYCAST}
    driver = drivers(peer.url, pre_settled=["rpc-cast"] if is_settled else ["rpc-reply"])
    sending = threading.Thread(target=driver.send, args=(Target(topic="T"), {}, {}))
    sending.start()
    eventually(lambda: peer.senders)
    sending.join(0.05)
    assert sending.is_alive()
    assert peer.arrived == []
    peer.grant(ANYCAST, 1)
    sending.join(60)
    assert not sending.is_alive()
    eventually(lambda: len(peer.arrived) == 1)


@pytest.mark.parametrize("is_settled", [False, True])
def test_a_cast_without_credit_fails_at_its_limit(peer: Peer, drivers: Drivers, is_settled: bool) -> None:
    peer.script.no_credit_for = {ANYCAST}
    driver = drivers(peer.url, pre_settled=["rpc-cast"] if is_settled else ["rpc-reply"])
    driver.send(Target(topic="other"), {}, {})
    with pytest.raises(MessagingTimeout, match=r"0\.2 s"):
        driver.send(Target(topic="T"), {}, {}, timeout=0.2)
    eventually(lambda: [one for one in peer.senders if one[0] == ANYCAST])
    peer.grant(ANYCAST, 10)
    driver.send(Target(topic="T"), {}, {"second": 1}, timeout=60)
    eventually(lambda: peer.sent_to(ANYCAST))
    assert [json.loads(one.message.body)["request"] for one in peer.sent_to(ANYCAST)] == [{"second": 1}]


def test_a_send_that_has_to_wait_for_credit_is_counted(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    peer.script.no_credit_for = {ANYCAST}
    driver = drivers(peer.url)
    driver.send(Target(topic="other"), {}, {})
    caplog.set_level(logging.DEBUG, "oslo_messaging_amqp1.sender")
    with pytest.raises(MessagingTimeout):
        driver.send(Target(topic="T"), {}, {}, timeout=0.1)
    eventually(lambda: f"Attached to send to {ANYCAST}" in caplog.messages)
    with pytest.raises(MessagingTimeout):
        driver.send(Target(topic="T"), {}, {}, timeout=0.1)
    assert f"No credit to send to {ANYCAST}; 1 wait, stall 1" in caplog.messages


@pytest.mark.parametrize(
    ("call", "timeout", "error"),
    [
        *((True, 0.3, MessagingTimeout), (False, 0.3, MessagingTimeout)),
        *((True, None, MessageDeliveryFailure), (False, 0, MessageDeliveryFailure)),
    ],
)
def test_the_limit_is_a_time_out_only_for_who_gave_one(
    peer: Peer, drivers: Drivers, call: bool, timeout: float | None, error: type[Exception]
) -> None:
    peer.script.outcome = lambda arrived: None
    driver = drivers(peer.url)
    driver.settings = dataclasses.replace(driver.settings, default_send_timeout=0.3)
    began = time.monotonic()
    with pytest.raises(error, match=r"0\.3 s"):
        driver.send(Target(topic="T"), {}, {}, wait_for_reply=call, timeout=timeout)
    assert 0.3 <= time.monotonic() - began < 10


def refusing(peer: Peer) -> None:
    peer.script.refuse = {ANYCAST: proton.Condition("amqp:unauthorized-access", "not you")}


def refusing_replies(peer: Peer) -> None:
    peer.script.refuse_dynamic = proton.Condition("amqp:unauthorized-access", "not you")


def granting_nothing(peer: Peer) -> None:
    peer.script.no_credit_for = {ANYCAST}


def saying_nothing(peer: Peer) -> None:
    peer.script.outcome = lambda arrived: None


def giving_back(peer: Peer) -> None:
    peer.script.outcome = lambda arrived: proton.Delivery.RELEASED


def not_opening(peer: Peer) -> None:
    peer.script.answers_open = False


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (granting_nothing, f"there is no credit for {ANYCAST}: nobody is subscribed to it, or all subscribers are"),
        (saying_nothing, "it was sent, and nobody has accepted it"),
        (lambda peer: None, "it was accepted by a server, and no reply came"),
        (refusing, f"the link to {ANYCAST} was detached, amqp:unauthorized-access: not you; it waits for"),
        (refusing_replies, "there is no address for its reply, amqp:unauthorized-access: not you"),
        (giving_back, f"a message came back from {ANYCAST}, as nobody took it; it waits for link_retry_delay"),
        (not_opening, "has answered, but has not opened the connection; the last failure was: no attempt has failed"),
    ],
)
def test_a_time_out_says_how_far_the_message_came(
    peer: Peer, drivers: Drivers, script: Callable[[Peer], None], words: str
) -> None:
    script(peer)
    driver = drivers(peer.url, link_retry_delay=30, resend_released=["rpc-call"])
    said = ""
    for limit_s in (0.3, 1, 5, 25):
        # A short limit may be over before the peer has said anything.
        with pytest.raises(MessagingTimeout) as raised:
            driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=limit_s)
        said = str(raised.value)
        assert said.startswith(f"rpc-call to T was not over within {limit_s} s: ")
        if words in said:
            break
    assert words in said
    assert f"127.0.0.1:{peer.port}" in said


def test_a_time_out_without_a_connection_says_what_the_last_failure_was(drivers: Drivers) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = rf"there is no connection, .*; the last failure was: 127\.0\.0\.1:{port}: Connection refused"
    with pytest.raises(MessagingTimeout, match=words):
        drivers(f"amqp://127.0.0.1:{port}").send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=0.5)


def test_a_notification_has_a_limit_of_its_own(peer: Peer, drivers: Drivers) -> None:
    peer.script.outcome = lambda arrived: None
    driver = drivers(peer.url)
    driver.settings = dataclasses.replace(driver.settings, default_notify_timeout=0.2)
    with pytest.raises(MessageDeliveryFailure, match=r"notify to T.info was not over within 0\.2 s"):
        driver.send_notification(Target(topic="T.info"), {}, {}, 1.0)


def test_a_call_that_is_accepted_waits_for_its_reply(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(driver.send, Target(topic="T"), {}, {}, wait_for_reply=True, timeout=60)
        message = eventually(lambda: peer.arrived)[0].message
        # It goes over the same link, so that the call's outcome is known when this is over.
        driver.send(Target(topic="T"), {}, {})
        assert not call.done()
        peer.deliver(message.reply_to, proton.Message('{"response": 1}', correlation_id=message.id), True)
        assert call.result(60) == 1
    assert len(peer.arrived) == 2


def test_a_late_reply_is_settled_as_modified(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    message = called_in_vain(drivers(peer.url), peer)
    peer.deliver(message.reply_to, proton.Message('{"response": 1}', correlation_id=message.id))
    eventually(lambda: peer.outcomes)
    ((_, state, remote),) = peer.outcomes
    assert (state, remote.failed, remote.undeliverable) == (proton.Delivery.MODIFIED, True, True)
    assert f"A reply to {message.reply_to} came for no call that waits: id {message.id}" in caplog.messages


def test_a_reply_that_is_unsettled_is_accepted(peer: Peer, drivers: Drivers) -> None:
    def outcome(arrived: Arrived) -> Any:
        reply = proton.Message('{"response": 5}', correlation_id=arrived.message.id)
        peer.put(peer.consumer(arrived.message.reply_to), reply.encode(), False)
        return proton.Delivery.ACCEPTED

    peer.script.outcome = outcome
    assert drivers(peer.url).send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=60) == 5
    eventually(lambda: peer.outcomes)
    assert peer.outcomes[0][1] == proton.Delivery.ACCEPTED


@pytest.mark.parametrize("body", ["{", "[]", 5])
def test_a_reply_that_cannot_be_read_fails_the_call(peer: Peer, drivers: Drivers, body: Any) -> None:
    def outcome(arrived: Arrived) -> Any:
        reply = proton.Message(body, correlation_id=arrived.message.id)
        peer.put(peer.consumer(arrived.message.reply_to), reply.encode(), True)
        return proton.Delivery.ACCEPTED

    peer.script.outcome = outcome
    with pytest.raises(MessageDeliveryFailure, match="The reply from T cannot be read"):
        drivers(peer.url).send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=60)


def test_nonsense_at_the_address_for_replies_is_rejected(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    driver = drivers(peer.url)
    driver.send(Target(topic="T"), {}, {})
    eventually(lambda: peer.credit.get("amqp:/reply/1") == 200)
    peer.deliver("amqp:/reply/1", b"nonsense")
    eventually(lambda: [state for _, state, _ in peer.outcomes] == [proton.Delivery.REJECTED])
    assert "Rejected a message to amqp:/reply/1: not an AMQP message" in caplog.text


def test_links_at_rest_make_room_for_others(
    peer: Peer, drivers: Drivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oslo_messaging_amqp1.bus.SENDERS_LIMIT", 3)
    driver = drivers(peer.url)
    for number in range(10):
        driver.send(Target(topic=f"T{number}"), {}, {})
    eventually(lambda: len(peer.senders) <= 3)
    assert len(peer.arrived) == 10


def test_heartbeats_keep_a_call_with_a_monitor_alive(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    replies: list[Any] = []

    def calling() -> None:
        target = Target(topic="T")
        replies.append(
            driver.send(target, {}, {}, wait_for_reply=True, timeout=60, call_monitor_timeout=2)
        )

    thread = threading.Thread(target=calling)
    thread.start()
    eventually(lambda: peer.arrived)
    message = peer.arrived[0].message
    assert json.loads(message.body)["call_monitor_timeout"] == 2
    for _ in range(4):
        time.sleep(0.6)
        peer.deliver(message.reply_to, proton.Message(correlation_id=message.id), True)
    peer.deliver(message.reply_to, proton.Message('{"response": 1}', correlation_id=message.id), True)
    thread.join(60)
    assert replies == [1]


def test_a_call_that_is_heard_of_until_its_limit_is_told_that_its_limit_was_over(
    peer: Peer, drivers: Drivers
) -> None:
    driver = drivers(peer.url)

    def beating(arrived: Arrived) -> Any:
        def beat() -> None:
            while not is_over.wait(0.05):
                peer.deliver(arrived.message.reply_to, proton.Message(correlation_id=arrived.message.id), True)

        threading.Thread(target=beat).start()
        return proton.Delivery.ACCEPTED

    is_over = threading.Event()
    peer.script.outcome = beating
    words = r"rpc-call to T was not over within 2 s: it was accepted by a server, and a heartbeat of it came, but no"
    try:
        with pytest.raises(MessagingTimeout, match=words):
            driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=2, call_monitor_timeout=1.5)
    finally:
        is_over.set()


def test_a_heartbeat_that_comes_too_late_is_no_warning(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "oslo_messaging_amqp1.replies")
    message = called_in_vain(drivers(peer.url), peer)
    peer.deliver(message.reply_to, proton.Message(correlation_id=message.id))
    eventually(lambda: peer.outcomes)
    assert [(one.levelname, one.message) for one in caplog.records if "no call that waits" in one.message] == [
        ("DEBUG", f"A heartbeat to {message.reply_to} came for no call that waits: id {message.id}")
    ]


def test_a_call_whose_monitor_hears_nothing_times_out(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    began = time.monotonic()
    with pytest.raises(MessagingTimeout, match=r"nothing was heard of it for 0\.3 s"):
        driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=20, call_monitor_timeout=0.3)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (proton.Delivery.REJECTED, "rejected"),
        (modified(True, False), "not delivered"),
        (modified(False, True), "not delivered, undeliverable here"),
        (lambda delivery: None, "in doubt"),
    ],
)
def test_what_may_have_been_seen_is_not_sent_again(peer: Peer, drivers: Drivers, outcome: Any, words: str) -> None:
    peer.script.outcome = lambda arrived: outcome
    driver = drivers(peer.url)
    with pytest.raises(MessageDeliveryFailure, match=words):
        driver.send(Target(topic="T"), {}, {}, timeout=60, retry=5)
    assert len(peer.arrived) == 1


@pytest.mark.parametrize("outcome", [proton.Delivery.RELEASED, modified(False, False)])
@pytest.mark.parametrize("retry", [None, -1, 1])
def test_a_cast_that_nobody_has_seen_is_sent_again(
    peer: Peer, drivers: Drivers, outcome: Any, retry: int | None
) -> None:
    peer.script.outcome = in_turn(outcome, proton.Delivery.ACCEPTED)
    began = time.monotonic()
    drivers(peer.url).send(Target(topic="T"), {}, {}, timeout=60, retry=retry)
    assert time.monotonic() - began >= 1, "it waits for link_retry_delay"
    assert len(peer.arrived) == 2


@pytest.mark.parametrize("retry", [0, 1])
def test_a_cast_is_sent_again_as_often_as_retry_says(peer: Peer, drivers: Drivers, retry: int) -> None:
    peer.script.outcome = lambda arrived: proton.Delivery.RELEASED
    with pytest.raises(MessageDeliveryFailure, match="nobody took it"):
        drivers(peer.url).send(Target(topic="T"), {}, {}, timeout=60, retry=retry)
    assert len(peer.arrived) == 1 + retry


def test_a_notification_is_sent_again(peer: Peer, drivers: Drivers) -> None:
    peer.script.outcome = in_turn(proton.Delivery.RELEASED, proton.Delivery.ACCEPTED)
    drivers(peer.url).send_notification(Target(topic="T.info"), {}, {}, 1.0, retry=1)
    assert len(peer.arrived) == 2


def test_later_messages_stay_behind_one_that_came_back(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "oslo_messaging_amqp1.sender")
    peer.script.outcome = in_turn(proton.Delivery.RELEASED, proton.Delivery.ACCEPTED)
    driver = drivers(peer.url)
    first = threading.Thread(target=driver.send, args=(Target(topic="T"), {}, {"n": 1}))
    first.start()
    eventually(lambda: f"rpc-cast came back from {ANYCAST} and is sent again" in caplog.messages)
    driver.send(Target(topic="T"), {}, {"n": 2})
    first.join(60)
    assert [json.loads(one.message.body)["request"]["n"] for one in peer.arrived] == [1, 1, 2]


def test_a_call_that_nobody_has_seen_fails_at_once(peer: Peer, drivers: Drivers) -> None:
    peer.script.outcome = lambda arrived: proton.Delivery.RELEASED
    began = time.monotonic()
    with pytest.raises(MessageDeliveryFailure, match="nobody took it"):
        drivers(peer.url).send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=20)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("options", "retry"), [({}, 1), ({"resend_released": ["rpc-call"]}, None)])
def test_a_call_is_sent_again_with_another_id_where_that_is_asked_for(
    peer: Peer, drivers: Drivers, options: dict[str, Any], retry: int | None
) -> None:
    answers = answering(peer)
    peer.script.outcome = lambda one: proton.Delivery.RELEASED if len(peer.arrived) == 1 else answers(one)
    driver = drivers(peer.url, **options)
    assert driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=60, retry=retry) == "ok"
    first, second = peer.arrived
    assert first.message.id != second.message.id


def test_sending_again_can_be_turned_off(peer: Peer, drivers: Drivers) -> None:
    peer.script.outcome = lambda arrived: proton.Delivery.RELEASED
    driver = drivers(peer.url, resend_released=[""])
    with pytest.raises(MessageDeliveryFailure, match="nobody took it"):
        driver.send(Target(topic="T"), {}, {}, timeout=60)
    with pytest.raises(MessageDeliveryFailure, match="nobody took it"):
        driver.send_notification(Target(topic="T.info"), {}, {}, 1.0)
    assert len(peer.arrived) == 2


@pytest.mark.parametrize("call", [True, False])
def test_who_asks_for_at_least_once_learns_that_nobody_is_there(peer: Peer, drivers: Drivers, call: bool) -> None:
    peer.script.outcome = lambda arrived: proton.Delivery.RELEASED
    driver = drivers(peer.url, pre_settled=["rpc-call", "rpc-cast"])
    with pytest.raises(MessageUndeliverable) as raised:
        driver.send(
            Target(topic="T", exchange="E"), {}, {"m": 1},
            wait_for_reply=call, timeout=60, retry=0, transport_options=TransportOptions(at_least_once=True),
        )  # fmt: skip
    assert (raised.value.exchange, raised.value.routing_key) == ("E", "E/T")
    assert [one.is_settled for one in peer.arrived] == [False]


def test_a_refused_link_uses_up_the_retries(peer: Peer, drivers: Drivers) -> None:
    peer.script.refuse = {ANYCAST: proton.Condition("amqp:unauthorized-access", "not you")}
    driver = drivers(peer.url)
    with pytest.raises(MessageDeliveryFailure, match="amqp:unauthorized-access: not you"):
        driver.send(Target(topic="T"), {}, {}, timeout=60, retry=0)


@pytest.mark.parametrize("by_end", [False, True])
def test_a_refused_link_is_attached_again(peer: Peer, drivers: Drivers, by_end: bool) -> None:
    peer.script.refuse = {ANYCAST: proton.Condition("amqp:not-found", "not yet")}
    peer.script.refuse_by_end = by_end
    driver = drivers(peer.url)
    sending = threading.Thread(target=driver.send, args=(Target(topic="T"), {}, {}))
    sending.start()
    eventually(lambda: [one for one in peer.attached if one.is_sender])
    driver.send(Target(topic="other"), {}, {}, timeout=60)
    peer.script.refuse = {}
    sending.join(60)
    assert not sending.is_alive()
    assert len(peer.sent_to(ANYCAST)) == 1


def test_what_is_under_way_when_its_link_is_detached_is_in_doubt(peer: Peer, drivers: Drivers) -> None:
    peer.script.outcome = lambda arrived: None
    driver = drivers(peer.url)
    failed: list[Exception] = []

    def sending() -> None:
        try:
            driver.send(Target(topic="T"), {}, {}, timeout=60)
        except MessageDeliveryFailure as error:
            failed.append(error)

    thread = threading.Thread(target=sending)
    thread.start()
    eventually(lambda: peer.arrived)
    peer.detach(peer.sender(ANYCAST))
    thread.join(60)
    assert "in doubt" in str(failed[0])
    peer.script.outcome = lambda arrived: proton.Delivery.ACCEPTED
    driver.send(Target(topic="T"), {}, {}, timeout=60)
    assert len(peer.arrived) == 2


def test_many_threads_share_one_link(peer: Peer, drivers: Drivers) -> None:
    peer.script.outcome = answering(peer)
    driver = drivers(peer.url)
    replies: list[Any] = []

    def calling() -> None:
        for _ in range(20):
            replies.append(driver.send(Target(topic="T"), {}, {}, wait_for_reply=True, timeout=10))

    threads = [threading.Thread(target=calling) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert replies == ["ok"] * 320
    assert len([one for one in peer.attached if one.is_sender]) == 1


def test_a_megabyte_goes_there_and_back(peer: Peer, drivers: Drivers) -> None:
    large = "x" * 1_000_000
    peer.script.outcome = answering(peer, large)
    driver = drivers(peer.url)
    assert driver.send(Target(topic="T"), {}, {"large": large}, wait_for_reply=True, timeout=10) == large
    assert json.loads(peer.arrived[0].message.body)["request"]["large"] == large


def test_nothing_is_connected_before_something_is_sent(drivers: Drivers) -> None:
    peer = Peer(Script()).start()
    try:
        driver = drivers(peer.url)
        driver.cleanup()
        driver.cleanup()
        assert peer.connects == 0
        driver.require_features(requeue=True)
    finally:
        peer.stop()
