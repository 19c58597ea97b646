"""With prefer_first_host: the order of the hosts, and the way back to an earlier one."""

import contextlib
import dataclasses
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import proton
import pytest
from oslo_config import cfg
from oslo_messaging import Target, TransportURL

from oslo_messaging_amqp1.dialing import Rotation
from oslo_messaging_amqp1.driver import AMQPDriver
from oslo_messaging_amqp1.settings import read_settings
from oslo_messaging_amqp1.url import Host
from tests.peer import Peer, running
from tests.waiting import eventually

T = Target(topic="T")
UNICAST = "openstack.org/om/rpc/unicast/openstack/L/S"
Drivers = Callable[..., AMQPDriver]


@pytest.fixture(autouse=True)
def _soon_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is short for people is long for a test."""
    monkeypatch.setattr("oslo_messaging_amqp1.failback.QUIET_S", 0.3)
    monkeypatch.setattr("oslo_messaging_amqp1.failback.REST_LIMIT_S", 1.0)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def connected(drivers: Drivers, first_port: int, second: Peer, **given: Any) -> AMQPDriver:
    """Return a driver that prefers the first port and is connected to the second."""
    url = f"amqp://127.0.0.1:{first_port},127.0.0.1:{second.port}"
    driver = drivers(url, prefer_first_host=True, **given)
    # More often than the options allow.
    driver.settings = dataclasses.replace(driver.settings, fail_back_interval=0.05)
    driver.send(T, {}, {})
    assert second.connects == 1
    return driver


def trials(peer: Peer) -> int:
    return len([one for one in peer.opens if one["container"].endswith("/trial")])


def test_the_first_host_is_preferred(drivers: Drivers) -> None:
    with running() as first, running() as second:
        for _ in range(5):
            drivers(f"amqp://127.0.0.1:{first.port},127.0.0.1:{second.port}/?prefer_first_host=1").send(T, {}, {})
        assert (first.connects, second.connects) == (5, 0)


def test_each_round_begins_with_the_first_host(conf: cfg.ConfigOpts) -> None:
    settings = read_settings(conf, TransportURL.parse(conf, "amqp://h/?prefer_first_host=1"))
    rotation = Rotation([Host("a", 1), Host("b", 1), Host("c", 1)], settings)
    seen = []
    for _ in range(6):
        seen.append((rotation.host.name, "".join(one.name for one in rotation.better_hosts)))
        rotation.step()
    assert seen == [("a", ""), ("b", "a"), ("c", "ab")] * 2
    rotation.step()
    rotation.step(lasted_s=60.0)
    assert rotation.host.name == "a", "behind b, which was lost"


def test_a_connection_goes_back_to_the_first_host(drivers: Drivers) -> None:
    port = free_port()
    with running() as second:
        driver = connected(drivers, port, second)
        listener = driver.listen(Target(topic="L", server="S"), 1, None)._poll_style_listener
        with running(port=port) as first:
            eventually(lambda: [one for one in first.consumers if one[0] == UNICAST])
            eventually(lambda: second.closes == 1)
            driver.send(T, {}, {"n": 1})
            assert [json.loads(one.message.body)["request"] for one in first.arrived] == [{"n": 1}]
            first.deliver(UNICAST, proton.Message('{"request": {}, "context": {}}'))
            assert len(listener.poll(timeout=60)) == 1
            assert (second.connects, len(second.arrived)) == (1, 1)


def test_nobody_goes_back_where_that_is_turned_off(drivers: Drivers) -> None:
    port = free_port()
    with running() as second:
        driver = drivers(
            f"amqp://127.0.0.1:{port},127.0.0.1:{second.port}", prefer_first_host=True, fail_back_interval=0
        )
        driver.send(T, {}, {})
        fail_back = driver.bus()._fail_back
        assert driver.bus().connection.better_hosts != ()
        assert fail_back._timer is None


@contextlib.contextmanager
def hung(port: int, count: list[int]) -> Iterator[None]:
    """A host that accepts sockets and says nothing."""
    with socket.create_server(("127.0.0.1", port)) as server:
        held = []

        def accepting() -> None:
            with contextlib.suppress(OSError):
                while True:
                    held.append(server.accept()[0])
                    count[0] += 1

        thread = threading.Thread(target=accepting, daemon=True)
        thread.start()
        yield
        server.shutdown(socket.SHUT_RDWR)
        thread.join(60)
        for one in held:
            one.close()


def test_a_first_host_that_is_hung_is_not_gone_back_to(drivers: Drivers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oslo_messaging_amqp1.failback.TRIAL_LIMIT_S", 0.1)
    port, count = free_port(), [0]
    with running() as second, hung(port, count):
        driver = drivers(f"amqp://127.0.0.1:{second.port}")
        driver._hosts = (Host("127.0.0.1", port), Host("127.0.0.1", second.port))
        driver.settings = dataclasses.replace(driver.settings, prefer_first_host=True, fail_back_interval=0.05)
        with monkeypatch.context() as patched:
            patched.setattr("oslo_messaging_amqp1.connection.OPEN_LIMIT_S", 0.1)
            driver.send(T, {}, {})
        connects = second.connects
        tried = count[0]
        eventually(lambda: count[0] >= tried + 3)
        driver.send(T, {}, {})
        assert (second.connects, second.closes) == (connects, 0)


def test_a_call_that_waits_for_its_reply_is_waited_for(drivers: Drivers) -> None:
    port = free_port()
    with running() as second, ThreadPoolExecutor(1) as pool:
        driver = connected(drivers, port, second)
        call = pool.submit(driver.send, T, {}, {}, wait_for_reply=True, timeout=20)
        eventually(lambda: len(second.arrived) == 2)
        with running(port=port) as first:
            eventually(lambda: trials(first) >= 2)
            assert second.closes == 0
            message = second.arrived[1].message
            second.deliver(message.reply_to, proton.Message('{"response": 1}', correlation_id=message.id), True)
            assert call.result(timeout=60) == 1
            eventually(lambda: second.closes == 1)
            driver.send(T, {}, {})
            assert len(first.arrived) == 1


def test_a_request_that_is_worked_on_is_waited_for(drivers: Drivers) -> None:
    port = free_port()
    with running() as second:
        driver = connected(drivers, port, second)
        listener = driver.listen(Target(topic="L", server="S"), 1, None)._poll_style_listener
        second.deliver(UNICAST, proton.Message('{"request": {}, "context": {}}'))
        (message,) = listener.poll(timeout=60)
        with running(port=port) as first:
            eventually(lambda: trials(first) >= 2)
            assert second.closes == 0
            message.acknowledge()
            eventually(lambda: second.closes == 1)
            assert [state for _, state, _ in second.outcomes] == [proton.Delivery.ACCEPTED]
            eventually(lambda: [one for one in first.consumers if one[0] == UNICAST])


def test_a_server_that_gets_requests_all_the_time_stays_where_it_is(drivers: Drivers) -> None:
    port = free_port()
    with running() as second:
        driver = connected(drivers, port, second)
        listener = driver.listen(Target(topic="L", server="S"), 1, None)._poll_style_listener
        with running(port=port) as first:
            # Each is settled at once, so that the connection is at rest in between.
            until = trials(first) + 3
            while trials(first) < until:
                second.deliver(UNICAST, proton.Message('{"request": {}, "context": {}}'), True)
                for message in listener.poll(timeout=60):
                    message.acknowledge()
            assert second.closes == 0
            eventually(lambda: second.closes == 1)
