"""What callers, servers and listeners see when somebody is slow, gone or never there."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from oslo_messaging import MessageDeliveryFailure, MessagingTimeout
from proton.utils import BlockingConnection

from tests.functional.meshes import OneRouter
from tests.functional.server_process import SERVER, ServerProcess
from tests.functional.services import Echo, Gate, Heard, notification_listener, notifier, rpc_client, rpc_server
from tests.waiting import WITHIN_S, eventually

SOON_S = 15.0
"""How much later than its limit anything may come to its end: much, since a machine may have other things to do."""
LEAST_LIMIT_S = 5
"""The lowest that the options allow."""
WORKERS = 64
"""How many workers a server of oslo.messaging has."""


def timed(action: Callable[[], Any], expected: type[Exception]) -> float:
    """Return after how many seconds an action has raised what was expected."""
    begun = time.monotonic()
    with pytest.raises(expected):
        action()
    return time.monotonic() - begun


# Slow servers


def test_an_answer_that_comes_too_late_is_nobodys_and_nobody_is_harmed(url: str, topic: str) -> None:
    gate, echo = Gate(), Echo("one")
    with rpc_server(url, topic, "one", gate, echo), rpc_client(url, topic) as client:
        slow = client.prepare(timeout=4)
        took_s = timed(lambda: slow.call({}, "pass_through", value="late"), MessagingTimeout)
        assert 3.9 < took_s < 4 + SOON_S
        assert gate.entered.is_set()
        gate.opened.set()
        assert client.call({}, "who") == "one"
        assert client.call({}, "pass_through", value="in time") == "in time"


def test_heartbeats_keep_a_long_call_alive(url: str, topic: str) -> None:
    gate = Gate()
    with (
        rpc_server(url, topic, "one", gate),
        rpc_client(url, topic) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        watched = client.prepare(timeout=60, call_monitor_timeout=6)
        answer = pool.submit(watched.call, {}, "pass_through", value="done")
        assert gate.entered.wait(WITHIN_S)
        # Without a heartbeat it would be over by now.
        with pytest.raises(TimeoutError):
            answer.result(timeout=8)
        gate.opened.set()
        assert answer.result(timeout=WITHIN_S) == "done"


def test_a_call_ends_soon_when_heartbeats_stop(url: str, topic: str) -> None:
    with ServerProcess(url, topic) as server, rpc_client(url, topic) as client, ThreadPoolExecutor(1) as pool:
        watched = client.prepare(timeout=60, call_monitor_timeout=2)
        answer = pool.submit(timed, lambda: watched.call({}, "hold"), MessagingTimeout)
        server.await_word("entered")
        # With this one answered the router knows that the other one is accepted.
        assert client.prepare(server=SERVER).call({}, "who") == SERVER
        server.kill()
        assert answer.result(timeout=WITHIN_S) < 2 + 2 * SOON_S


# Servers that are gone or were never there


def test_a_call_whose_server_dies_ends_at_its_limit(url: str, topic: str) -> None:
    with ServerProcess(url, topic) as server, rpc_client(url, topic) as client, ThreadPoolExecutor(1) as pool:
        call = client.prepare(timeout=2).call
        answer = pool.submit(timed, lambda: call({}, "hold"), MessagingTimeout)
        server.await_word("entered")
        # With this one answered the router knows that the other one is accepted.
        assert client.prepare(server=SERVER).call({}, "who") == SERVER
        server.kill()
        assert answer.result(timeout=WITHIN_S) < 2 + SOON_S
        with rpc_server(url, topic, "next"):
            assert client.call({}, "who") == "next"


def test_a_call_to_nobody_ends_at_its_limit(url: str, topic: str) -> None:
    with rpc_client(url, topic, timeout=1) as client:
        assert timed(lambda: client.call({}, "who"), MessagingTimeout) < 1 + SOON_S
        assert timed(lambda: client.prepare(server="nobody").call({}, "who"), MessagingTimeout) < 1 + SOON_S


def test_a_call_is_answered_by_a_server_that_comes_within_its_limit(url: str, topic: str) -> None:
    with rpc_client(url, topic) as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.call, {}, "who")
        with pytest.raises(TimeoutError):
            answer.result(timeout=0.5)
        with rpc_server(url, topic, "late"):
            assert answer.result(timeout=WITHIN_S) == "late"


def check_all_are_given_up(client: Any) -> None:
    """See that every kind of cast that cannot be sent is given up at the limit."""
    casts = {
        "any": client.prepare(),
        "server": client.prepare(server="nobody"),
        "fanout": client.prepare(fanout=True),
    }
    with ThreadPoolExecutor(len(casts)) as pool:
        took_s = {
            name: pool.submit(timed, partial(cast.cast, {}, "keep", item=1), MessageDeliveryFailure)
            for name, cast in casts.items()
        }
        for name, one in took_s.items():
            assert LEAST_LIMIT_S - 0.1 < one.result(timeout=WITHIN_S) < LEAST_LIMIT_S + SOON_S, name


def test_what_is_cast_to_nobody_is_given_up_at_the_limit_pre_settled_or_not(url: str, topic: str) -> None:
    # The router grants no credit for an address without a reader, and nobody sends without credit.
    limit: dict[str, Any] = {"default_send_timeout": LEAST_LIMIT_S}
    with (
        rpc_client(url, topic, **limit) as acknowledged,
        rpc_client(url, topic, **limit, pre_settled="rpc-cast") as presettled,
        ThreadPoolExecutor(2) as pool,
    ):
        list(pool.map(check_all_are_given_up, (acknowledged, presettled)))


def test_a_reader_that_never_grants_credit_is_waited_for_until_the_limit(url: str, topic: str) -> None:
    reader = BlockingConnection(url.removesuffix("/"), timeout=WITHIN_S)
    try:
        for kind in ("anycast/openstack/{}", "multicast/openstack/{}", "unicast/openstack/{}/nobody"):
            reader.create_receiver(f"openstack.org/om/rpc/{kind.format(topic)}", credit=0)
        with rpc_client(url, topic, default_send_timeout=LEAST_LIMIT_S) as client:
            assert timed(lambda: client.prepare(timeout=1).call({}, "who"), MessagingTimeout) < LEAST_LIMIT_S
            check_all_are_given_up(client)
            with rpc_server(url, topic, "one"):
                assert client.call({}, "who") == "one"
    finally:
        reader.close()


def test_a_notification_to_nobody_is_given_up_at_the_limit_and_logged(
    url: str, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    with notifier(url, [topic], default_notify_timeout=LEAST_LIMIT_S) as sender:
        begun = time.monotonic()
        sender.info({}, "nobody", 1)
        assert LEAST_LIMIT_S - 0.1 < time.monotonic() - begun < LEAST_LIMIT_S + SOON_S
        assert f"Could not send notification to {topic}" in caplog.text


# Callers that are gone


def test_a_server_goes_on_when_a_caller_is_gone(url: str, topic: str, caplog: pytest.LogCaptureFixture) -> None:
    gate, echo = Gate(), Echo("one")
    caplog.set_level(logging.INFO, "oslo_messaging_amqp1")
    with rpc_server(url, topic, "one", gate, echo, default_reply_timeout=30):
        with ThreadPoolExecutor(WORKERS) as pool:
            with rpc_client(url, topic) as gone:
                answers = [pool.submit(gone.call, {}, "pass_through", value=number) for number in range(WORKERS)]
                eventually(lambda: len(gate.inside) == WORKERS, "all workers of the server are busy")
            for answer in answers:
                with pytest.raises((MessageDeliveryFailure, MessagingTimeout)):
                    answer.result(timeout=WITHIN_S)
        gate.opened.set()
        with rpc_client(url, topic) as client:
            assert client.call({}, "who") == "one"
        # The replies wait for their limit, and hold no worker.
        assert "could not be sent" not in caplog.text


# Routers that die


def test_servers_clients_and_listeners_find_a_router_again(own_router: OneRouter, topic: str) -> None:
    url, heard = own_router.url, Heard()
    quick: dict[str, Any] = {"connection_retry_interval_max": 1, "link_retry_delay": 1}
    with (
        rpc_server(url, topic, "one", **quick),
        rpc_client(url, topic, **quick) as client,
        notification_listener(url, [f"{topic}-told"], heard, **quick),
        notifier(url, [f"{topic}-told"], **quick) as sender,
    ):
        assert client.call({}, "who") == "one"
        sender.info({}, "before", 1)
        own_router.router.kill()
        own_router.router.start().wait()
        assert client.prepare(timeout=30).call({}, "who") == "one"
        assert client.prepare(server="one", timeout=30).call({}, "who") == "one"
        sender.info({}, "after", 2)
        eventually(lambda: len(heard.heard) >= 2, "it is heard")
        assert [event for _, event, _ in heard.heard] == ["before", "after"]


def test_a_call_in_flight_when_the_only_router_dies_ends_within_its_limit(own_router: OneRouter, topic: str) -> None:
    gate = Gate()
    with (
        rpc_server(own_router.url, topic, "one", gate),
        rpc_client(own_router.url, topic) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        call = client.prepare(timeout=3).call
        answer = pool.submit(timed, lambda: call({}, "pass_through", value=1), Exception)
        assert gate.entered.wait(WITHIN_S)
        own_router.router.kill()
        assert answer.result(timeout=WITHIN_S) < 3 + SOON_S
        gate.opened.set()


def test_a_call_without_any_router_ends_at_its_limit(topic: str) -> None:
    with rpc_client("amqp://127.0.0.1:1/", topic, timeout=1) as client:
        assert timed(lambda: client.call({}, "who"), MessagingTimeout) < 1 + SOON_S


def test_a_cast_without_any_router_and_without_retries_fails_at_once(topic: str) -> None:
    with rpc_client("amqp://127.0.0.1:1/", topic) as client:
        assert timed(lambda: client.prepare(retry=0).cast({}, "who"), MessageDeliveryFailure) < LEAST_LIMIT_S
