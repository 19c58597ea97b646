"""Much, slow, silent and sudden peers: a router bears them, and keeps nothing of them."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from routerd.wire import Attach, Detach, Disposition, Open, Source, Target, Transfer
from tests.conformance.raw_peer import AMQP_HEADER, EMPTY_FRAME, framed
from tests.system.conftest import Connect, Start, in_forms, in_process, running
from tests.system.launched import ROOT, environment
from tests.system.management_client import ManagementClient
from tests.system.processes import Process, process
from tests.system.raw_client import WITHIN_S, RawClient
from tests.system.routers import IN_PROCESS, THREE_ACTORS, RunningRouter, configuration, listener, section
from tests.waiting import eventually

MIB = 1 << 20
CHUNK = 1 << 16
BODY = b"\0Sw\xa1\x03one"
DATA_SECTION = b"\0Su\xb0"
LINKS = 5000
FLOOD_MAX = 64 * MIB
STUCK_S = 2.0
"""A router that takes nothing for so long takes no more."""
CROWD_GROWTH_MAX = 8 * MIB
"""What a process may keep of a crowd, garbage included; a connection that was forgotten would be some KiB."""
LONG_CROWD_GROWTH_MAX = 5 * MIB
"""The same of 60 000, once each process had so many before that their garbage was collected a few times."""


def bench(*arguments: str, within_s: float = 120) -> dict[str, object]:
    """Run routerbench to its end; return its figures."""
    command = [sys.executable, "-m", "routerd.cli.routerbench", "--json", "--quiet", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=within_s)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def place_of(router: RunningRouter) -> tuple[str, ...]:
    """Return what tells routerbench where the router is, and to run in one process."""
    return ("--connect", f"127.0.0.1:{router.port}", "--processes", "0")


@contextlib.contextmanager
def nothing_left(processes: list[Process], growth_max: int) -> Iterator[None]:
    """Hold that what happens meanwhile leaves no file and hardly any memory behind."""
    files = sum(one.file_count() for one in processes)
    rss = sum(one.rss_bytes() for one in processes)
    yield
    eventually(lambda: sum(one.file_count() for one in processes) <= files, "all sockets are closed")
    assert sum(one.rss_bytes() for one in processes) - rss < growth_max


# --- slow and silent


@pytest.mark.parametrize(
    ("form", "is_settled"),
    [pytest.param(IN_PROCESS, False, id="in-process"), pytest.param(THREE_ACTORS, True, id="ray-3")],
    indirect=["form"],
    scope="session",
)
def test_a_consumer_that_never_reads_stops_its_producer_and_nobody_else(
    connect: Connect, router: RunningRouter, address: str, is_settled: bool
) -> None:
    serving = router.serving()
    with RawClient(router.port, receive_buffer=4096) as silent:
        silent.open()
        silent.attach_consumer(address, credit=1_000_000)
        producer = connect().producer(address)
        producer.wait_for_credit()
        rss = sum(one.rss_bytes() for one in serving)
        count = 0
        with contextlib.suppress(AssertionError):
            while count < 3000:
                # It is alive, and only does not read.
                silent.send_octets(EMPTY_FRAME)
                producer.wait_for_credit(within_s=1.0)
                producer.send(b"x" * CHUNK, settled=is_settled)
                count += 1
        assert 0 < count < 3000
        assert sum(one.rss_bytes() for one in serving) - rss < 64 * MIB
        quick = connect().consumer(f"{address}.quick")
        sent = connect().producer(f"{address}.quick").send_all(list(range(200)))
        assert {one.outcome() for one in sent} == {"accepted"}
        assert quick.bodies == list(range(200))
        # When it reads at last, everything is there.
        octets = 0
        for number in range(count):
            is_partial = True
            while is_partial:
                frame = silent.frame()
                if isinstance(frame.performative, Transfer):
                    octets += len(frame.payload)
                    is_partial = frame.performative.more
            silent.send(Disposition(role=True, first=number, settled=True))
        assert octets > count * CHUNK


@in_process
def test_a_peer_that_does_not_read_is_not_read_either(connect: Connect, router: RunningRouter, address: str) -> None:
    with RawClient(router.port, receive_buffer=4096) as deaf:
        deaf.open()
        deaf.attach_consumer(address)
        rss = sum(one.rss_bytes() for one in router.serving())
        # The answer to the first of the two has the name, too.
        attach = Attach(name="x" * 8000, handle=1, role=True, source=Source(address=address), target=Target())
        asking = framed(attach) + framed(Detach(handle=1, closed=True))
        sent = send_until_it_sticks(deaf, asking * 32, FLOOD_MAX)
        assert sent < FLOOD_MAX
        assert sum(one.rss_bytes() for one in router.serving()) - rss < FLOOD_MAX // 4
        consumer = connect().consumer(f"{address}.other")
        assert connect().producer(f"{address}.other").send("one").outcome() == "accepted"
        assert consumer.bodies == ["one"]
        # When it reads at last, it has all answers.
        for _ in range(2 * (sent // len(asking))):
            answer = deaf.read_octets(4)
            deaf.read_octets(int.from_bytes(answer, "big") - 4)


def send_until_it_sticks(client: RawClient, octets: bytes, most: int) -> int:
    """Send the same again and again, as long as the router takes it; return how many octets have gone out."""
    client.socket.settimeout(STUCK_S)
    sent = 0
    with contextlib.suppress(TimeoutError):
        while sent < most:
            sent += client.socket.send(octets[sent % len(octets) :])
    client.socket.settimeout(WITHIN_S)
    return sent


def test_peers_that_have_sent_in_time_stay_when_the_router_stood_still(
    tmp_path: Path, connect_to: Connect, address: str
) -> None:
    with running(IN_PROCESS, tmp_path, configuration(listener(idleTimeoutSeconds=3))) as router, ExitStack() as clients:
        peers = [clients.enter_context(RawClient(router.port)) for _ in range(20)]
        for peer in peers:
            peer.open()
        launcher = process(router.launcher.pid)
        launcher.signal(signal.SIGSTOP)
        eventually(lambda: launcher.thread_states() == {"T"}, "the router stands still")
        stopped_at = time.monotonic()
        for peer in peers:
            peer.send_octets(EMPTY_FRAME)
        # All their time-outs have run out when it goes on.
        eventually(lambda: time.monotonic() > stopped_at + 6.0, "the router has stood still for long")
        launcher.signal(signal.SIGCONT)
        for peer in peers:
            peer.attach_consumer(address)


@in_process
def test_a_peer_hears_from_the_router_as_often_as_it_asks(router: RunningRouter) -> None:
    with RawClient(router.port) as client:
        client.open(idle_time_out=400)
        begun = time.monotonic()
        for _ in range(5):
            assert client.read_octets(8) == bytes.fromhex("00000008 02 00 0000")
        assert time.monotonic() - begun > 0.4


def test_a_log_that_nobody_reads_holds_nobody_up(tmp_path: Path, address: str) -> None:
    unread = tmp_path / "unread"
    os.mkfifo(unread)
    reader = os.open(unread, os.O_RDONLY | os.O_NONBLOCK)
    log = section("log", module="PROTOCOL", enable="trace+", outputFile=str(unread))
    with running(IN_PROCESS, tmp_path, configuration(log)) as router, RawClient(router.port) as client:
        client.open()
        # Much more than there is room for in a pipe, and both ways.
        for number in range(2000):
            client.attach_consumer(address, handle=number)
        assert os.read(reader, 20)
    os.close(reader)


def test_connections_wait_while_there_are_no_files_for_them_and_the_log_says_so(
    tmp_path: Path, connect_to: Connect, address: str
) -> None:
    with running(IN_PROCESS, tmp_path, configuration()) as router:
        client = connect_to(router.port)
        launcher = process(router.launcher.pid)
        before = resource.prlimit(launcher.pid, resource.RLIMIT_NOFILE)
        limit = launcher.file_count() + 4
        resource.prlimit(launcher.pid, resource.RLIMIT_NOFILE, (limit, before[1]))
        crowd = [RawClient(router.port) for _ in range(8)]
        said = f"Too many open files. Those that come wait: the limit of this process is {limit} open files"
        eventually(lambda: said in router.log(), "it is said")
        # Who is connected is served.
        consumer = client.consumer(address)
        assert client.producer(address).send("one").outcome() == "accepted"
        assert consumer.bodies == ["one"]
        for one in crowd[:6]:
            one.close()
        for one in crowd[6:]:
            assert one.open().container_id == "R.1"
            one.close()
        assert router.log().count("No connection can be accepted") == 1


# --- limits


@in_process
def test_frames_as_large_as_the_router_takes_are_taken(connect: Connect, router: RunningRouter, address: str) -> None:
    consumer = connect().consumer(address)
    with RawClient(router.port) as client:
        assert client.open().max_frame_size == 16_384
        client.attach_producer(address)
        client.wait_for_credit()
        head = framed(Transfer(handle=0, delivery_id=0, delivery_tag=b"0", message_format=0))
        size = 16_384 - len(head) - len(DATA_SECTION) - 4
        client.transfer(DATA_SECTION + size.to_bytes(4, "big") + b"x" * size)
        assert consumer.take().body == b"x" * size


# --- much


@in_process
def test_a_client_may_attach_thousands_of_links(connect: Connect, router: RunningRouter, address: str) -> None:
    others = connect()
    with nothing_left(router.serving(), 64 * MIB), RawClient(router.port) as client:
        client.open()
        source = Source()
        for number in range(LINKS):
            target = Target(address=f"{address}.{number}")
            producing: dict[str, Any] = {"role": False, "source": source, "target": target, "initial_delivery_count": 0}
            client.send(Attach(name=f"{number}", handle=number, **producing))
        answered = {client.wait_for(Attach).handle for _ in range(LINKS)}
        assert answered == set(range(LINKS))
        for number in (0, LINKS // 2, LINKS - 1):
            consumer = others.consumer(f"{address}.{number}")
            assert client.wait_for_credit(handle=None) > 0
            client.transfer(BODY, handle=number)
            assert consumer.take().octets == BODY
            consumer.close()
        for number in range(LINKS):
            client.send(Detach(handle=number, closed=True))
        assert {client.wait_for(Detach).handle for _ in range(LINKS)} == set(range(LINKS))


def introduce_actors(router: RunningRouter) -> None:
    """Have all actors begin, also those that do so when the router is ready, and connect to each other."""
    with ManagementClient(router.port) as management:
        management.query("connection")
        management.query("router")
    if router.form.actors:
        eventually(lambda: {"engine", "management"} <= set(router.actors()), "all actors run")


def come_and_go(router: RunningRouter, count: int, rate: int = 1000) -> dict[str, float]:
    """Have a crowd come and go; return how it went."""
    command = [sys.executable, "-m", "tests.system.crowd", str(router.port), str(rate), str(count)]
    within_s = WITHIN_S + 4 * count / rate
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=within_s)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    return found


def check_a_crowd_leaves_nothing(
    router: RunningRouter, connect: Connect, address: str, *, warm: int, count: int, growth_max: int
) -> None:
    """Have connections come and go, up to 1 000 a second, while two others go on; no process may grow much by it."""
    come_and_go(router, warm)
    introduce_actors(router)
    consumer, producer = connect().consumer(address), connect().producer(address)
    serving = router.serving()
    with nothing_left(serving, growth_max * len(serving)), ThreadPoolExecutor(1) as background:
        before = {one: one.rss_bytes() for one in router.everything()}
        crowd = background.submit(come_and_go, router, count)
        sent = 0
        while not crowd.done():
            assert producer.send(sent).outcome() == "accepted"
            sent += 1
        found = crowd.result()
    grown = [one.rss_bytes() - rss for one, rss in before.items()]
    assert max(grown) < growth_max, grown
    assert consumer.bodies == list(range(sent))
    assert (found["well"], found["failed"]) == (count, 0)


def test_connections_that_come_and_go_leave_nothing_behind(start: Start, connect_to: Connect, address: str) -> None:
    router = start(configuration(log="notice+"))
    check_a_crowd_leaves_nothing(
        router, lambda: connect_to(router.port), address, warm=2_000, count=3_000, growth_max=CROWD_GROWTH_MAX
    )


@pytest.mark.soak
def test_a_minute_of_connections_that_come_and_go_leaves_nothing_behind(
    start: Start, connect_to: Connect, address: str
) -> None:
    router = start(configuration(log="notice+"))
    check_a_crowd_leaves_nothing(
        router, lambda: connect_to(router.port), address, warm=20_000, count=60_000, growth_max=LONG_CROWD_GROWTH_MAX
    )


def check_a_crowd_at_rest(router: RunningRouter, connect: Connect, address: str, count: int, hold_s: float) -> None:
    """Hold idle connections; meanwhile messages pass, and afterwards all are gone."""
    introduce_actors(router)
    serving = router.serving()
    consumer, producer = connect().consumer(address), connect().producer(address)
    with nothing_left(serving, 40 * 1024 * count), ThreadPoolExecutor(1) as background:
        files = sum(one.file_count() for one in serving)
        idle = ("--idle", "--connections", str(count), "--seconds", str(hold_s))
        crowd = background.submit(bench, *place_of(router), *idle)
        eventually(lambda: sum(one.file_count() for one in serving) >= files + count or crowd.done(), "all are here")
        assert {one.outcome() for one in producer.send_all(list(range(100)))} == {"accepted"}
        crowd.result()
    assert consumer.bodies == list(range(100))


def test_idle_connections_are_held(router: RunningRouter, connect: Connect, address: str) -> None:
    check_a_crowd_at_rest(router, connect, address, 1000, 2)


@pytest.mark.soak
def test_ten_thousand_idle_connections_are_held(router: RunningRouter, connect: Connect, address: str) -> None:
    check_a_crowd_at_rest(router, connect, address, 10_000, 30)


@in_forms(THREE_ACTORS)
def test_many_clients_at_once_are_served(router: RunningRouter) -> None:
    place = place_of(router)
    fifty = ("--senders", "50", "--receivers", "50", "--addresses", "50", "--address", "fifty.{}")
    bench(*place, *fifty, "--count", "20000")
    bench(*place, "--senders", "5", "--receivers", "5", "--address", "five", "--count", "20000", "--settled")
    bench(*place, "--receivers", "10", "--multicast", "--address", "multicast.bench", "--count", "2000")
    bench(*place, "--requesters", "5", "--responders", "2", "--address", "requests", "--count", "2000")


@in_process
def test_what_connects_and_says_nothing_harms_nobody(router: RunningRouter, connect: Connect, address: str) -> None:
    silent = [RawClient(router.port) for _ in range(50)]
    for client in silent[:25]:
        client.send_octets(AMQP_HEADER[:5])
    consumer = connect().consumer(address)
    assert connect().producer(address).send("one").outcome() == "accepted"
    assert consumer.bodies == ["one"]
    for client in silent:
        client.close()


@in_process
def test_an_open_says_what_the_router_is(router: RunningRouter) -> None:
    with RawClient(router.port) as client:
        opened: Open = client.open(hostname="any.host")
    properties = {str(key): value for key, value in (opened.properties or {}).items()}
    assert opened.container_id == "R.1"
    assert (properties["product"], properties["version"]) == ("mobula", "0.1.0")
    assert "ANONYMOUS-RELAY" in opened.offered_capabilities
    assert (opened.idle_time_out, opened.channel_max) == (8000, 32_767)
