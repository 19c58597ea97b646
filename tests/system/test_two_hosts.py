"""A router whose connection actors are on two hosts: what crosses, what dies, and that nothing is left."""

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench.free_ports import free_port
from tests.system.launched import environment, run
from tests.system.namespaces import Cable, why_not
from tests.system.open_sockets import TcpSocket, tcp_sockets
from tests.system.processes import end_all, process
from tests.system.routers import ROUTER_ID, Form, address_section, configuration
from tests.system.two_hosts import (
    AWAY,
    GCS_PORT,
    HOME,
    SpanningRouter,
    TwoHosts,
    actors_of,
    away_folders,
    workers_at,
)
from tests.waiting import WITHIN_S, eventually

TWO_ACTORS = Form("ray-2", 2)
CONFIGURATION = configuration(address_section("prefix", "multicast", "multicast"))
LARGE = 3 << 20
LOST_WITHIN_S = 20.0
"""A host that says nothing any more is known to be gone after 10 s."""
BOTH_WAYS = pytest.mark.parametrize(("sender", "receiver"), [(HOME, AWAY), (AWAY, HOME)], ids=["away", "home"])


@pytest.fixture(scope="module")
def hosts() -> Iterator[TwoHosts]:
    """Two hosts with a Ray."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    found = TwoHosts()
    yield found
    found.close()


@pytest.fixture
def renewed(hosts: TwoHosts) -> Iterator[None]:
    """The node away, which the test may end."""
    yield
    hosts.renew()


@pytest.fixture(scope="module")
def spanning(hosts: TwoHosts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpanningRouter]:
    """A router with an actor on each host."""
    with hosts.running(TWO_ACTORS, tmp_path_factory.mktemp("router"), CONFIGURATION) as router:
        yield router


def check_all_are_reached(router: SpanningRouter, address: str = "multicast/all") -> None:
    """Expect that a message to all comes to clients on both hosts."""
    with ExitStack() as clients:
        connections = [clients.enter_context(router.connect(host)) for host in (HOME, AWAY)]
        consumers = [connection.consumer(address) for connection in connections]
        for connection in connections:
            assert connection.producer(address).send("to all").outcome() == "accepted"
        assert [consumer.take().body for consumer in consumers * 2] == ["to all"] * 4


# --- what crosses


def test_each_host_has_an_actor_and_they_are_joined(spanning: SpanningRouter) -> None:
    actors = spanning.actors()
    assert {node: (row["worker"], row["siblingCount"]) for node, row in actors.items()} == {
        Cable.ADDRESSES[HOME]: (0, 1),
        Cable.ADDRESSES[AWAY]: (1, 1),
    }


def test_only_the_actor_away_has_a_port_for_siblings_at_its_address(spanning: SpanningRouter) -> None:
    actors = spanning.actors()
    clients = TcpSocket("127.0.0.1", spanning.router.port, "")
    for host in (HOME, AWAY):
        address = Cable.ADDRESSES[host]
        with spanning.hosts.inside(host):
            found = tcp_sockets([process(int(actors[address]["pid"]))])
        # What Ray opens for itself is open to all.
        ours = [one for one in found if one.host not in ("0.0.0.0", "::")]
        assert (clients.host, clients.port) in [(one.host, one.port) for one in ours]
        assert len([one for one in ours if one.host == address]) == (host == AWAY)


def test_what_the_actor_away_logs_comes_out_of_the_launcher(spanning: SpanningRouter) -> None:
    with spanning.connect(AWAY, "logged"):
        eventually(lambda: "container_id=logged-1" in spanning.router.log(), "the connection is logged")


@BOTH_WAYS
def test_messages_cross_settled_and_not(spanning: SpanningRouter, sender: int, receiver: int) -> None:
    address = f"cross.{receiver}"
    with spanning.connect(receiver) as to, spanning.connect(sender) as of:
        consumer = to.consumer(address)
        producer = of.producer(address)
        sent = [producer.send(f"message {number}", settled=number % 2 == 1) for number in range(20)]
        assert [consumer.take().body for _ in sent] == [f"message {number}" for number in range(20)]
        assert [one.outcome() for one in sent[::2]] == ["accepted"] * 10
        assert producer.send("x" * LARGE).outcome() == "accepted"
        assert len(consumer.take().body) == LARGE
        with spanning.manage(sender) as management:
            rows = management.query("org.mobula.fabricLink", "owningAddr", "transport")
        assert {row["transport"] for row in rows if row["owningAddr"] == f"M0{address}"} == {"tls"}


@BOTH_WAYS
def test_an_answered_consumer_is_seen_from_the_other_host(
    spanning: SpanningRouter, sender: int, receiver: int
) -> None:
    address = f"seen.{receiver}"
    with spanning.connect(receiver) as to, spanning.connect(sender) as of:
        for number in range(20):
            consumer = to.consumer(f"{address}.{number}")
            assert of.producer(f"{address}.{number}").send("at once").outcome() == "accepted"
            assert consumer.take().body == "at once"


def test_a_listener_of_the_launchers_address_is_at_the_address_of_each_node(spanning: SpanningRouter) -> None:
    with spanning.manage() as management:
        port = free_port()
        told = management.create("listener", "outside", host=Cable.ADDRESSES[HOME], port=str(port))
        assert told.status == 201, told
        for host in (HOME, AWAY):
            with spanning.hosts.inside(host):
                socket.create_connection((Cable.ADDRESSES[host], port), timeout=WITHIN_S).close()
        assert management.delete("listener", "outside").status == 204


# --- what dies


def test_an_actor_that_dies_away_is_back_there_and_nothing_accepted_is_lost(spanning: SpanningRouter) -> None:
    address = Cable.ADDRESSES[AWAY]
    load = spanning.load("load.kill")
    load.start()
    before = spanning.actors()[address]
    process(int(before["pid"])).signal(signal.SIGKILL)
    load.wait_for_progress()
    after = spanning.actors()[address]
    load.stop()
    assert load.check()["accepted"]
    assert (after["worker"], after["restarts"], after["pid"] != before["pid"]) == (1, before["restarts"] + 1, True)
    check_all_are_reached(spanning)


@pytest.mark.soak
def test_several_actors_of_each_host_are_joined_by_unix_sockets_there(hosts: TwoHosts, tmp_path: Path) -> None:
    four = Form("ray-4", 4)
    with hosts.running(four, tmp_path, CONFIGURATION, "--ray-namespace", "four") as router, ExitStack() as opened:
        clients = [opened.enter_context(router.connect(number % 2, f"client-{number}")) for number in range(12)]
        consumers = [client.consumer("multicast/four") for client in clients]
        for client in clients:
            assert client.producer("multicast/four").send("to all").outcome() == "accepted"
        assert [consumer.take().body for consumer in consumers * len(clients)] == ["to all"] * len(clients) ** 2
        with router.manage() as management:
            rows = management.query("org.mobula.fabricLink", "worker", "siblingWorker", "transport")
        found = {(int(row["worker"]), int(row["siblingWorker"]), row["transport"]) for row in rows}
        # The nodes have them in turn.
        assert found == {
            (one, other, "unix" if (one - other) % 2 == 0 else "tls")
            for one in range(4)
            for other in range(4)
            if one != other
        }


@pytest.mark.soak
def test_without_certificates_all_stay_on_the_launchers_host(
    hosts: TwoHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.system.routers.environment", lambda: environment() | {"PATH": str(tmp_path)})
    # What ends routers with the tests is looked for in the path, too.
    monkeypatch.setattr("tests.system.routers.ENDS_WITH_US", ())
    with hosts.running(TWO_ACTORS, tmp_path, CONFIGURATION, "--ray-namespace", "bare") as router:
        assert "ROUTER (warning) All connection actors stay on this host: the openssl command" in router.router.log()
        assert workers_at(router, HOME) == [0, 1]
        assert tcp_ports_of(router) == {("127.0.0.1", router.router.port)}


def tcp_ports_of(router: SpanningRouter) -> set[tuple[str, int]]:
    """Return where the actors at home listen, apart from what Ray opens for itself."""
    with router.hosts.inside(HOME):
        found = tcp_sockets(actors_of(router))
    return {(one.host, one.port) for one in found if one.host not in ("0.0.0.0", "::")}


@pytest.mark.soak
def test_nothing_is_left_on_either_host_of_a_router_whose_launcher_is_killed(hosts: TwoHosts, tmp_path: Path) -> None:
    with hosts.running(TWO_ACTORS, tmp_path, CONFIGURATION, "--ray-namespace", "killed") as router:
        everything = [process(router.router.launcher.pid), *actors_of(router)]
        assert len(everything) == 6
        router.router.launcher.kill()
        router.router.launcher.wait(WITHIN_S)
        assert end_all(everything, WITHIN_S) == []


@pytest.mark.soak
def test_a_detached_router_is_stopped_from_the_other_host_and_leaves_no_folder(
    hosts: TwoHosts, tmp_path: Path
) -> None:
    folders = away_folders()
    where = ("--address", f"{Cable.ADDRESSES[HOME]}:{GCS_PORT}", "--ray-namespace", "detached")
    with hosts.running(TWO_ACTORS, tmp_path, CONFIGURATION, *where[2:], "--detach") as router:
        assert router.router.launcher.wait(WITHIN_S) == 0
        check_all_are_reached(router)
        everything = actors_of(router)
        assert len(away_folders() - folders) == 1
        with hosts.inside(AWAY):
            assert run("--stop", ROUTER_ID, *where, "--shutdown-grace", "1").returncode == 0
        assert end_all(everything, WITHIN_S) == []
        assert away_folders() == folders
        assert not router.router.folder.exists()


@pytest.mark.soak
@pytest.mark.usefixtures("renewed")
def test_an_actor_whose_node_dies_is_placed_on_another(hosts: TwoHosts, tmp_path: Path) -> None:
    with hosts.running(TWO_ACTORS, tmp_path, CONFIGURATION, "--ray-namespace", "node") as router:
        with router.connect(HOME) as client, router.connect(AWAY) as other:
            other.consumer("queue.node", outcome=None)
            producer = client.producer("queue.node")
            sent = producer.send("under way")
            for one in hosts.nodes[AWAY].family():
                one.signal(signal.SIGKILL)
            assert sent.outcome() in ("released", "modified")
            consumer = client.consumer("queue.here")
            assert client.producer("queue.here").send("goes on").outcome() == "accepted"
            assert consumer.take().body == "goes on"
        eventually(lambda: workers_at(router, HOME) == [0, 1], "both actors are at home")
        with router.manage() as management:
            rows = management.query("org.mobula.connectionActor", "siblingCount", "restarts")
        assert [(row["siblingCount"], row["restarts"]) for row in rows] == [(1, 0), (1, 1)]


@pytest.mark.soak
@pytest.mark.usefixtures("renewed")
def test_a_host_that_falls_silent_holds_nobody_up(hosts: TwoHosts, tmp_path: Path) -> None:
    with hosts.running(TWO_ACTORS, tmp_path, CONFIGURATION, "--ray-namespace", "silent") as router:
        with router.connect(HOME) as client, router.connect(AWAY) as other:
            away = process(int(router.actors()[Cable.ADDRESSES[AWAY]]["pid"]))
            other.consumer("queue.silent", outcome=None)
            sent = client.producer("queue.silent").send("under way")
            with hosts.silence():
                begun = time.monotonic()
                assert sent.outcome() in ("released", "modified")
                consumer = client.consumer("queue.here")
                assert client.producer("queue.here").send("goes on").outcome() == "accepted"
                assert consumer.take().body == "goes on"
                assert time.monotonic() - begun < LOST_WITHIN_S
                eventually(lambda: workers_at(router, HOME) == [0, 1], "both actors are at home")
        assert end_all([away], WITHIN_S) == []
