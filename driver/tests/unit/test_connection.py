"""The connection: what the open frame says, how it is lost and made again, and how it ends."""

import contextlib
import itertools
import logging
import multiprocessing
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import proton
import pytest
from oslo_config import cfg
from oslo_messaging import MessageDeliveryFailure, MessagingTimeout, Target, TransportURL

from oslo_messaging_amqp1.dialing import Dialing, Rotation
from oslo_messaging_amqp1.driver import AMQPDriver
from oslo_messaging_amqp1.readiness import Readiness
from oslo_messaging_amqp1.settings import read_settings
from oslo_messaging_amqp1.url import Host
from tests.peer import Arrived, Peer, Script, running
from tests.waiting import eventually

T = Target(topic="T")
ANYCAST = "openstack.org/om/rpc/anycast/openstack/T"
EMPTY_FRAME = 8
Drivers = Callable[..., AMQPDriver]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_the_open_frame(peer: Peer, drivers: Drivers) -> None:
    drivers(f"{peer.url}/vh").send(T, {}, {})
    (opened,) = peer.opens
    node, program, pid = os.uname().nodename, os.path.basename(sys.argv[0]), os.getpid()
    assert opened["container"].startswith(f"openstack.org/om/container/{node}/{program}/{pid}/")
    assert len(opened["container"].rpartition("/")[2]) == 32
    assert opened["properties"] == {"process": program, "pid": pid, "node": node}
    assert (opened["hostname"], opened["idle_timeout_s"], opened["max_frame_size"]) == (None, 5, 32768)
    assert [one.address for one in peer.arrived] == ["openstack.org/om/rpc/anycast/vh/openstack/T"]


def test_without_pseudo_vhost_the_virtual_host_is_in_the_open_frame(peer: Peer, drivers: Drivers) -> None:
    drivers(f"{peer.url}/vh", pseudo_vhost=False, container_name="me").send(T, {}, {})
    assert (peer.opens[0]["hostname"], peer.opens[0]["container"]) == ("vh", "me")
    assert [one.address for one in peer.arrived] == [ANYCAST]


def test_one_connection_and_one_reply_link_for_everything(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    driver.send(T, {}, {})
    driver.listen(Target(topic="L", server="S"), 1, None)
    driver.send_notification(Target(topic="N.info"), {}, {}, 2.0)
    assert peer.connects == 1
    (reply,) = [one for one in peer.attached if one.is_dynamic]
    assert reply.name.startswith("openstack.org/om/receiver/[rpc-response]/")
    assert (reply.source, reply.target) == (None, "rpc-response")
    assert (reply.snd_settle_mode, reply.rcv_settle_mode) == (proton.Link.SND_MIXED, proton.Link.RCV_FIRST)
    eventually(lambda: ("amqp:/reply/1", 200) in peer.flows)


def test_reply_link_credit_is_an_option(peer: Peer, drivers: Drivers) -> None:
    drivers(peer.url, reply_link_credit=7).send(T, {}, {})
    eventually(lambda: ("amqp:/reply/1", 7) in peer.flows)


def test_a_peer_without_a_product_gets_legacy_addresses(drivers: Drivers) -> None:
    with running(Script(product=None)) as broker:
        drivers(broker.url).send(T, {}, {})
        assert [one.address for one in broker.arrived] == ["unicast.openstack.T"]


def test_addressing_mode_is_an_option(peer: Peer, drivers: Drivers) -> None:
    drivers(peer.url, addressing_mode="legacy").send(T, {}, {})
    assert [one.address for one in peer.arrived] == ["unicast.openstack.T"]


def test_after_a_fail_over_addresses_are_made_for_the_new_peer(drivers: Drivers) -> None:
    with running() as router, running(Script(product=None)) as broker:
        driver = drivers(f"amqp://127.0.0.1:{router.port},127.0.0.1:{broker.port}")
        driver.listen(Target(topic="L", server="S"), 1, None)
        first, second = (router, broker) if router.connects else (broker, router)
        driver.send(T, {}, {})
        first.drop()
        eventually(lambda: len(second.consumers) == 4)
        driver.send(T, {}, {})
        assert sorted(one.address for one in router.arrived + broker.arrived) == [ANYCAST, "unicast.openstack.T"]
        assert {one.source for one in broker.attached if one.source} >= {
            *("exclusive.openstack.L.S", "broadcast.openstack.L.all", "unicast.openstack.L"),
        }


def test_all_hosts_are_tried_in_turn(drivers: Drivers) -> None:
    with running() as peer:
        driver = drivers(f"amqp://127.0.0.1:{free_port()},127.0.0.1:{free_port()},127.0.0.1:{peer.port}")
        driver.send(T, {}, {}, timeout=60)
        assert len(peer.arrived) == 1


def test_a_close_by_the_peer_leads_to_the_next_host(drivers: Drivers) -> None:
    with running() as one, running() as other:
        driver = drivers(f"amqp://127.0.0.1:{one.port},127.0.0.1:{other.port}")
        driver.send(T, {}, {})
        first, second = (one, other) if one.connects else (other, one)
        first.close()
        eventually(lambda: second.connects)
        driver.send(T, {}, {}, timeout=60)
        assert (first.connects, second.connects, len(second.arrived)) == (1, 1, 1)


def test_a_host_that_has_no_address_does_no_harm(drivers: Drivers) -> None:
    driver = drivers("amqp://no-such-host.invalid:1")
    with pytest.raises(MessageDeliveryFailure, match=r"no-such-host\.invalid:1: "):
        driver.send(T, {}, {}, timeout=60, retry=0)
    with pytest.raises(MessagingTimeout):
        driver.send(T, {}, {}, timeout=0.3)


def test_every_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda *_, **__: [(*kind, ("127.0.0.1", free_port())), (*kind, ("127.0.0.1", port))]
        )
        dialing = Dialing(Host("two", port))
        dialing.begin()
        eventually(dialing.is_connected)
        assert dialing.sock is not None
        assert dialing.sock.getpeername() == ("127.0.0.1", port)
        dialing.sock.close()


@pytest.mark.parametrize("retry", [0, 1])
def test_attempts_to_connect_use_up_the_retries(drivers: Drivers, retry: int) -> None:
    began = time.monotonic()
    with pytest.raises(MessageDeliveryFailure, match="Connection refused"):
        drivers(f"amqp://127.0.0.1:{free_port()}").send(T, {}, {}, timeout=20, retry=retry)
    # An attempt may have failed before the message was there, and of each pause half may be left out.
    assert retry / 2 <= time.monotonic() - began < retry + 10


def delays(
    conf: cfg.ConfigOpts, monkeypatch: pytest.MonkeyPatch, hosts: int = 1, **given: int
) -> list[float]:
    """Return the seconds before each of some attempts, where nothing is left out at random."""
    monkeypatch.setattr("random.uniform", lambda least, most: most)
    for name, value in given.items():
        conf.set_override(name, value, "oslo_messaging_amqp")
    settings = read_settings(conf, TransportURL.parse(conf, "amqp://h"))
    rotation = Rotation([Host(f"h{number}", 1) for number in range(hosts)], settings)
    found = [rotation.step() for _ in range(7 * hosts)]
    rotation.succeeded()
    assert [rotation.step() for _ in range(hosts)] == found[:hosts]
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1, 2, 4, 8, 16, 30, 30]),
        ({"connection_retry_interval": 3, "connection_retry_interval_max": 10}, [3, 6, 10, 10, 10, 10, 10]),
        ({"connection_retry_backoff": 0}, [1, 0, 0, 0, 0, 0, 0]),
        ({"connection_retry_backoff": 1}, [1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_the_delays_between_attempts(
    conf: cfg.ConfigOpts, monkeypatch: pytest.MonkeyPatch, options: dict[str, int], expected: list[float]
) -> None:
    assert delays(conf, monkeypatch, **options) == expected


def test_there_is_a_delay_only_when_all_hosts_were_tried(
    conf: cfg.ConfigOpts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert delays(conf, monkeypatch, hosts=3)[:9] == [0, 0, 1, 0, 0, 2, 0, 0, 4]


def test_clients_do_not_come_back_all_at_once(conf: cfg.ConfigOpts) -> None:
    settings = read_settings(conf, TransportURL.parse(conf, "amqp://h"))
    for hosts, least, most in ((1, 0.5, 1.0), (2, 0.0, 0.25)):
        found = [Rotation([Host("h", 1)] * hosts, settings).step(lasted_s=60.0) for _ in range(50)]
        assert least <= min(found) <= max(found) <= most
        assert len(set(found)) > 40


def test_hosts_that_end_each_connection_at_once_are_not_tried_without_a_pause(conf: cfg.ConfigOpts) -> None:
    settings = read_settings(conf, TransportURL.parse(conf, "amqp://h"))
    rotation = Rotation([Host("a", 1), Host("b", 1)], settings)
    found = []
    for _ in range(6):
        rotation.succeeded()
        rotation.step(lasted_s=0.1)
        found.append(rotation.is_round_over)
    assert found == [False, True] * 3
    rotation.step(lasted_s=60.0)
    assert not rotation.is_round_over


def test_the_other_hosts_are_tried_without_a_pause(drivers: Drivers) -> None:
    with running() as peer:
        url = f"amqp://127.0.0.1:{free_port()},127.0.0.1:{free_port()},127.0.0.1:{peer.port}"
        driver = drivers(url, connection_retry_interval=60, connection_retry_interval_max=60)
        driver.send(T, {}, {}, timeout=60, retry=0)
        assert len(peer.arrived) == 1


def test_what_came_while_the_process_was_held_up_is_no_silence(
    drivers: Drivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, is_over = [0], threading.Event()
    wait = Readiness.wait

    def late(self: Readiness, sock: Any, is_writing: bool, timeout_s: float | None) -> tuple[bool, bool]:
        # Each time the thread did not get to run for longer than the time-out, behind the end of a timer.
        if not left[0]:
            return wait(self, sock, is_writing, timeout_s)
        told = peer.told
        eventually(lambda: peer.told >= told + 8 * EMPTY_FRAME)
        left[0] -= 1
        if not left[0]:
            is_over.set()
        return False, False

    monkeypatch.setattr(Readiness, "wait", late)
    with running(Script(idle_timeout_s=30)) as peer:
        driver = drivers(f"{peer.url}/?idle_timeout=1")
        driver.send(T, {}, {})
        left[0] = 2
        assert is_over.wait(60)
        driver.send(T, {}, {}, timeout=60)
        assert peer.connects == 1


def test_the_hosts_are_gone_round_from_any_of_them(conf: cfg.ConfigOpts) -> None:
    settings = read_settings(conf, TransportURL.parse(conf, "amqp://h"))
    hosts = [Host("a", 1), Host("b", 1), Host("c", 1)]
    firsts = set()
    for _ in range(100):
        rotation = Rotation(hosts, settings)
        firsts.add(rotation.host.name)
        seen = [rotation.host]
        for _ in range(3):
            rotation.step()
            seen.append(rotation.host)
        assert set(seen) == set(hosts)
        assert seen[0] == seen[3]
    assert firsts == {"a", "b", "c"}


def in_thread(driver: AMQPDriver, **given: Any) -> tuple[threading.Thread, list[BaseException]]:
    failed: list[BaseException] = []

    def sending() -> None:
        try:
            driver.send(T, {}, {}, timeout=60, **given)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=sending)
    thread.start()
    return thread, failed


@pytest.mark.parametrize("is_accepted", [False, True])
def test_a_call_in_flight_fails_at_once_when_the_connection_is_lost(
    peer: Peer, drivers: Drivers, is_accepted: bool
) -> None:
    peer.script.outcome = lambda arrived: proton.Delivery.ACCEPTED if is_accepted else None
    thread, failed = in_thread(drivers(peer.url), wait_for_reply=True)
    eventually(lambda: peer.arrived)
    time.sleep(0.05)
    peer.drop()
    thread.join(60)
    assert [type(error) for error in failed] == [MessageDeliveryFailure]
    assert "reply cannot come any more" in str(failed[0]) or "in doubt" in str(failed[0])
    assert str(failed[0]).endswith(f"127.0.0.1:{peer.port}: the peer closed the socket without a word")


def test_a_message_that_was_not_handed_over_goes_to_the_next_connection(drivers: Drivers) -> None:
    with running(Script(no_credit_for={ANYCAST})) as peer:
        thread, failed = in_thread(drivers(peer.url))
        eventually(lambda: peer.senders)
        peer.script.no_credit_for = set()
        peer.drop()
        thread.join(60)
        assert (failed, len(peer.arrived), peer.connects) == ([], 1, 2)


def test_a_lost_reply_link_means_a_new_connection(peer: Peer, drivers: Drivers) -> None:
    drivers(peer.url).send(T, {}, {})
    peer.detach(peer.consumer("amqp:/reply/1"))
    eventually(lambda: peer.connects == 2)
    eventually(lambda: [address for address, _, _ in peer.consumers] == ["amqp:/reply/2"])


def test_without_an_address_for_replies_only_calls_fail(drivers: Drivers) -> None:
    with running(Script(refuse_dynamic=proton.Condition("amqp:unauthorized-access", "no"))) as peer:
        driver = drivers(peer.url)
        driver.send(T, {}, {}, timeout=60)
        with pytest.raises(MessageDeliveryFailure, match="no address for its reply, amqp:unauthorized-access: no"):
            driver.send(T, {}, {}, wait_for_reply=True, timeout=60, retry=0)
        peer.script.refuse_dynamic = None
        driver.send(T, {}, {}, timeout=60)
        assert (peer.connects, len(peer.arrived)) == (1, 2)


@pytest.mark.parametrize("by_end", [False, True])
def test_a_peer_that_makes_up_no_addresses_gets_one_of_ours(drivers: Drivers, by_end: bool) -> None:
    fault = proton.Condition("amqp:not-implemented", "dynamic sources")
    with running(Script(refuse_dynamic=fault, refuse_by_end=by_end)) as peer:
        driver = drivers(peer.url)
        driver.send(T, {}, {}, timeout=60)
        eventually(lambda: peer.consumers)
        ((address, _, _),) = peer.consumers
        assert address.startswith("reply.")

        def replying(arrived: Arrived) -> Any:
            reply = proton.Message('{"response": 1}', correlation_id=arrived.message.id)
            peer.put(peer.consumer(arrived.message.reply_to), reply.encode(), True)
            return proton.Delivery.ACCEPTED

        peer.script.outcome = replying
        assert driver.send(T, {}, {}, wait_for_reply=True, timeout=60) == 1
        assert peer.arrived[-1].message.reply_to == address


def test_a_silent_peer_counts_as_dead_after_the_idle_timeout(drivers: Drivers) -> None:
    with running() as peer:
        driver = drivers(f"{peer.url}/?idle_timeout=1")
        driver.send(T, {}, {})
        assert peer.opens[0]["idle_timeout_s"] == 0.5
        peer.script.is_frozen = True
        eventually(lambda: peer.connects == 2)


def test_the_idle_timeout_of_the_peer_is_honoured(drivers: Drivers) -> None:
    with running(Script(idle_timeout_s=2.0)) as peer:
        driver = drivers(peer.url)
        driver.send(T, {}, {})
        heard = peer.heard
        # Four empty frames, of which each has to come within the time.
        eventually(lambda: peer.heard >= heard + 4 * EMPTY_FRAME)
        assert peer.connects == 1


def test_a_peer_that_never_opens_is_given_up(drivers: Drivers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oslo_messaging_amqp1.connection.OPEN_LIMIT_S", 0.2)
    with (
        running(Script(answers_open=False)) as peer,
        pytest.raises(MessageDeliveryFailure, match="does not open the connection"),
    ):
        drivers(peer.url).send(T, {}, {}, timeout=60, retry=0)


def test_a_host_that_does_not_answer_is_given_up(drivers: Drivers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oslo_messaging_amqp1.connection.DIAL_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, contextlib.ExitStack() as stack:
        for _ in range(4):
            # With its queue full, Linux answers nobody any more.
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(server.getsockname())
        with pytest.raises(MessageDeliveryFailure, match="no answer"):
            drivers(f"amqp://127.0.0.1:{server.getsockname()[1]}").send(T, {}, {}, timeout=60, retry=0)


def test_a_peer_that_reads_nothing_for_a_while_gets_everything_later(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    driver.send(T, {}, {})
    may_go_on = threading.Event()
    busy = threading.Thread(target=lambda: peer.do(lambda: may_go_on.wait(60) and None))
    busy.start()
    large = "x" * 10_000_000
    sending = threading.Thread(target=driver.send, args=(T, {}, {"large": large}))
    sending.start()
    sending.join(0.5)
    assert sending.is_alive()
    may_go_on.set()
    for thread in (busy, sending):
        thread.join(60)
    assert not sending.is_alive()
    assert len(peer.arrived[1].message.body) > len(large)


def test_without_poll_there_is_select(peer: Peer, drivers: Drivers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(select, "poll")
    driver = drivers(peer.url)
    for _ in range(3):
        driver.send(T, {}, {"large": "x" * 1_000_000})
    assert len(peer.arrived) == 3


@contextlib.contextmanager
def saying(words: bytes) -> Iterator[str]:
    """Run a peer that says some words on each connection, as soon as it is heard, and then closes it; yields its URL.

    A driver connects before its first message comes: that message may find the second attempt under way, or the third.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:

        def talk() -> None:
            while True:
                try:
                    sock, _ = server.accept()
                except OSError:
                    return  # This is over.
                with sock, contextlib.suppress(OSError):
                    sock.sendall(words)
                    sock.recv(100)

        thread = threading.Thread(target=talk)
        thread.start()
        try:
            yield f"amqp://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (b"", "before it opened the connection: it may require TLS (option ssl), or SASL (a user)"),
        (b"AMQP\x03\x01\x00\x00", "the peer requires SASL: name a user in the transport URL, or set sasl_mechanisms"),
    ],
    ids=["nothing", "SASL"],
)
def test_what_a_peer_may_want_is_said_where_it_does_not_say_so(
    drivers: Drivers, words: bytes, expected: str
) -> None:
    with saying(words) as url, pytest.raises(MessageDeliveryFailure) as raised:
        drivers(url).send(T, {}, {}, timeout=60, retry=0)
    assert str(raised.value).endswith(expected)
    assert "framing-error" not in str(raised.value)


def test_what_is_no_amqp_peer_is_given_up(drivers: Drivers) -> None:
    with (
        saying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url,
        pytest.raises(MessageDeliveryFailure, match=r"header mismatch|framing"),
    ):
        drivers(url).send(T, {}, {}, timeout=60, retry=0)


def test_cleanup_closes_in_order_and_fails_what_waits(drivers: Drivers) -> None:
    with running(Script(no_credit_for={ANYCAST})) as peer:
        driver = drivers(peer.url)
        thread, failed = in_thread(driver)
        eventually(lambda: peer.senders)
        driver.cleanup()
        thread.join(60)
        assert [str(error) for error in failed] == ["Shutting down: the transport was cleaned up"]
        assert isinstance(failed[0], MessageDeliveryFailure)
        eventually(lambda: peer.closes == 1)
        assert sorted(peer.detaches) == sorted(one.name for one in peer.attached)
        driver.cleanup()


def test_what_is_settled_after_the_cleanup_does_no_harm(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    listener = driver.listen(Target(topic="L", server="S"), 1, None)._poll_style_listener
    messages = []
    for number in range(20):
        peer.deliver(
            "openstack.org/om/rpc/unicast/openstack/L/S",
            proton.Message('{"request": {}, "context": {}}', id=str(number), reply_to="amqp:/caller"),
        )
        messages += listener.poll(timeout=60)
    driver.cleanup()
    for message in messages:
        message.acknowledge()
    listener.cleanup()
    assert len(messages) == 20
    assert peer.outcomes == []


def test_a_driver_that_was_cleaned_up_connects_again(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    for number in (1, 2):
        driver.send(T, {}, {})
        driver.cleanup()
        assert peer.connects == number


def test_cleanup_ends_the_thread_while_nobody_answers(drivers: Drivers) -> None:
    before = threading.active_count()
    driver = drivers(f"amqp://127.0.0.1:{free_port()}")
    with pytest.raises(MessagingTimeout):
        driver.send(T, {}, {}, timeout=0.2)
    driver.cleanup()
    assert threading.active_count() == before


def test_a_process_that_was_forked_connects_for_itself(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    driver = drivers(peer.url)
    driver.send(T, {}, {"from": "parent"})
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()

    def child() -> None:
        driver.send(T, {}, {"from": "child"}, timeout=60)
        queue.put(True)
        driver.cleanup()

    process = context.Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    driver.send(T, {}, {"from": "parent"})
    assert (peer.connects, len(peer.arrived), peer.closes) == (2, 3, 1)


class SlowLog(logging.Handler):
    """Lets other threads run while one logs."""

    def emit(self, record: logging.LogRecord) -> None:
        time.sleep(0.02)


def in_child(work: Callable[[], object]) -> int | None:
    """Return how a forked process ends that does some work."""
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(60)
    return process.exitcode


def test_threads_that_send_first_in_a_child_share_one_connection(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    driver.send(T, {}, {})
    count = 16

    def child() -> None:
        logging.getLogger("oslo_messaging_amqp1").addHandler(SlowLog())
        all_there, done = threading.Barrier(count), threading.Semaphore(0)

        def sending() -> None:
            all_there.wait()
            driver.send(T, {}, {}, timeout=60)
            done.release()

        threads = [threading.Thread(target=sending) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
            assert done.acquire(blocking=False), "a thread has failed"
        driver.cleanup()

    children = 3
    assert [in_child(child) for _ in range(children)] == [0] * children
    assert (peer.connects, len(peer.arrived)) == (1 + children, 1 + children * count)


def test_a_child_does_not_touch_the_connection_of_its_parent(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    listener = driver.listen(Target(topic="L", server="S"), 1, None)._poll_style_listener
    address = "openstack.org/om/rpc/unicast/openstack/L/S"
    peer.deliver(address, proton.Message('{"request": {}, "context": {}}', id="i"))
    (message,) = listener.poll(timeout=60)

    def child() -> None:
        message.acknowledge()
        listener.stop()
        listener.cleanup()
        driver.cleanup()

    assert in_child(child) == 0
    driver.send(T, {}, {}, timeout=60)
    assert (peer.connects, peer.outcomes, peer.detaches, peer.closes) == (1, [], [], 0)
    message.acknowledge()
    eventually(lambda: [state for _, state, _ in peer.outcomes] == [proton.Delivery.ACCEPTED])


def test_a_child_keeps_no_socket_of_its_parent_open(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)

    def child() -> None:
        assert sockets().isdisjoint(parents)

    def sockets() -> set[tuple[int, int]]:
        found = set()
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                of = os.fstat(int(name))
                found.add((of.st_dev, of.st_ino))
        return found

    before = sockets()
    driver.send(T, {}, {})
    held = {(of.st_dev, of.st_ino) for of in (os.fstat(client.sock.fileno()) for client in peer.clients)}
    parents = sockets() - before - held
    assert len(parents) == 3, "the connection, and two to wake its thread"
    assert in_child(child) == 0


def test_trace_writes_the_frames_out(peer: Peer) -> None:
    code = (
        "import sys; from oslo_config import cfg; from oslo_messaging import Target, TransportURL\n"
        "from oslo_messaging_amqp1.driver import AMQPDriver\n"
        "conf = cfg.ConfigOpts(); conf([])\n"
        "driver = AMQPDriver(conf, TransportURL.parse(conf, sys.argv[1])); driver.send(Target(topic='T'), {}, {})\n"
        "driver.cleanup()\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    for url, is_traced in ((f"{peer.url}/?trace=1", True), (peer.url, False)):
        done = subprocess.run([*command, url], capture_output=True, text=True, timeout=60, check=True)
        assert ("@transfer(20)" in done.stdout + done.stderr) == is_traced


def test_the_log_says_what_was_connected_and_lost(
    peer: Peer, drivers: Drivers, caplog: pytest.LogCaptureFixture
) -> None:
    driver = drivers(f"amqp://me:secret@127.0.0.1:{peer.port}", sasl_mechanisms="")
    with caplog.at_level(logging.INFO, "oslo_messaging_amqp1"), pytest.raises(MessageDeliveryFailure):
        driver.send(T, {}, {}, timeout=60, retry=0)
    assert "secret" not in caplog.text
    assert f"Cannot connect to 127.0.0.1:{peer.port} as user me" in caplog.text


def test_ids_of_deliveries_do_not_repeat(peer: Peer, drivers: Drivers) -> None:
    driver = drivers(peer.url)
    for number in itertools.islice(itertools.count(), 50):
        driver.send(Target(topic=f"T{number % 3}"), {}, {})
    assert len(peer.arrived) == 50
