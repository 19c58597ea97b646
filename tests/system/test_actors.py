"""The actors of a router on Ray: how they start, how they come back, and that none outlives its launcher."""

import contextlib
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.exceptions import GetTimeoutError, RayError

from actors.cluster import HINT
from actors.start import Router, RouterOptions
from bench.free_ports import free_port
from routerd.config import ListenerConfig, RouterConfig
from routerd.core import AddressSettings, Distribution, RouterSettings
from routerd.io import ListenFailed, reserve
from tests.system.conftest import running
from tests.system.launched import COMMAND, environment, run
from tests.system.management_client import ManagementClient
from tests.system.processes import Process, end_all, family_of, process
from tests.system.proton_client import ProtonClient
from tests.system.routers import (
    ENDING_S,
    RAY_START,
    ROUTER_ID,
    Form,
    RayHead,
    RunningRouter,
    address_section,
    configuration,
)
from tests.waiting import WITHIN_S, eventually

ANSWER_S = 0.5
"""The time for an actor that may be dead: whoever waits for another one asks again."""
TWO_ACTORS = Form("ray-2", 2)
ROLES = ("table", "engine", "management", "connection.0", "connection.1")
ENDS = (signal.SIGKILL, signal.SIGSTOP)
ENDS_BY_NAME = [number.name for number in ENDS]
MULTICAST = configuration(address_section("prefix", "multicast", "multicast"))
NAMESPACE = "tests"


def check_every_connection_is_reached(port: int, address: str = "multicast/all") -> None:
    """Send a message to consumers on many connections, so that no connection actor is without one."""
    with ExitStack() as clients:
        connections = [clients.enter_context(ProtonClient(port, container_id=f"c-{number}")) for number in range(8)]
        consumers = [connection.consumer(address) for connection in connections]
        producer = clients.enter_context(ProtonClient(port, container_id="p")).producer(address)
        assert producer.send("to all").outcome() == "accepted"
        assert [consumer.take().body for consumer in consumers] == ["to all"] * len(consumers)


# --- a Ray of its own


@pytest.fixture
def start_alone(tmp_path: Path) -> Iterator[Callable[..., RunningRouter]]:
    """Start a router with a Ray of its own."""
    with ExitStack() as routers:
        yield lambda *arguments: routers.enter_context(running(TWO_ACTORS, tmp_path, MULTICAST, *arguments))


def check_nothing_is_left(processes: list[Process]) -> None:
    """Expect that all processes end soon."""
    assert end_all(processes, WITHIN_S) == []


def is_free(port: int) -> bool:
    """Whether a router could have a port."""
    try:
        reserve("127.0.0.1", port).close()
    except ListenFailed:
        return False
    return True


@pytest.mark.parametrize("is_an_actor_stopped", [False, True], ids=["all run", "one is stopped"])
def test_nothing_is_left_of_a_router_whose_launcher_is_killed(
    start_alone: Callable[..., RunningRouter], is_an_actor_stopped: bool
) -> None:
    router = start_alone()
    check_every_connection_is_reached(router.port)
    eventually(lambda: set(router.actors()) == set(ROLES), "all actors run")
    everything = family_of(router.launcher.pid)
    assert {one.pid for one in everything} >= {actor.pid for actor in router.actors().values()}
    if is_an_actor_stopped:
        router.actors()["connection.0"].signal(signal.SIGSTOP)
    router.launcher.kill()
    router.launcher.wait(WITHIN_S)
    check_nothing_is_left(everything)
    eventually(lambda: is_free(router.port), "the port is free")
    eventually(lambda: list(router.folder.iterdir()) == [], "its folder is empty")


def is_whole(router: RunningRouter) -> bool:
    """Whether all actors of a router with a Ray of its own run."""
    actors = router.actors()
    return set(actors) == set(ROLES) and all(actor.is_running for actor in actors.values())


def parts_of_ray(router: RunningRouter) -> dict[str, Process]:
    """Return the processes of a Ray of a router's own that are no actors, by names."""
    names = {"/gcs_server ": "head", "/raylet ": "raylet", "/bin/sh -c while read": "guard"}
    actors = {actor.pid for actor in router.actors().values()}
    others = [one for one in family_of(router.launcher.pid) if one.pid not in {router.launcher.pid, *actors}]
    return {next((names[part] for part in names if part in one.title), one.title): one for one in others}


def check_it_ends_with_its_raylet(router: RunningRouter) -> None:
    """End the one process of a Ray without which there can be no actors; expect that nothing is left."""
    everything = family_of(router.launcher.pid)
    parts_of_ray(router)["raylet"].signal(signal.SIGKILL)
    assert router.launcher.wait(WITHIN_S) == 1
    assert "Ray is gone: its raylet has ended" in router.log()
    check_nothing_is_left(everything)
    assert list(router.folder.iterdir()) == []


@pytest.mark.soak
def test_a_router_comes_back_in_the_folder_of_one_that_was_killed_with_its_guard(tmp_path: Path) -> None:
    with running(Form("ray-1", 1), tmp_path, MULTICAST) as router:
        everything = family_of(router.launcher.pid)
        parts_of_ray(router)["guard"].signal(signal.SIGKILL)
        router.launcher.kill()
        router.launcher.wait(WITHIN_S)
        check_nothing_is_left(everything)
        assert (router.folder / "ray" / "s").is_dir()
        config = tmp_path / "router.conf"
        command = [*COMMAND, "-c", str(config), "--connection-actors", "1", "--runtime-directory", str(router.folder)]
        log = tmp_path / "second"
        with log.open("w") as errors, subprocess.Popen(command, env=environment(), stderr=errors) as second:
            eventually(lambda: "Operational, " in log.read_text() or second.poll() is not None, "it is ready")
            second.terminate()
            assert second.wait(WITHIN_S) == 0
        assert list(router.folder.iterdir()) == []


def test_a_router_that_has_to_end_while_its_actors_start_ends_with_success(tmp_path: Path) -> None:
    config, log = tmp_path / "router.conf", tmp_path / "log"
    config.write_text(configuration())
    # Short: it becomes a part of the names of sockets.
    folder = Path(tempfile.mkdtemp(prefix="routerd-test-", dir="/tmp"))
    command = [*COMMAND, "-c", str(config), "--connection-actors", "1", "--runtime-directory", str(folder)]
    with log.open("w") as errors, subprocess.Popen(command, env=environment(), stderr=errors) as launcher:
        eventually(lambda: any("ray::Router" in one.title for one in family_of(launcher.pid)), "an actor is there")
        everything = family_of(launcher.pid)
        launcher.terminate()
        assert launcher.wait(WITHIN_S) == 0
    check_nothing_is_left(everything)
    assert "SIGTERM received" not in log.read_text()
    assert list(folder.iterdir()) == []
    folder.rmdir()


def test_a_router_outlives_the_head_of_its_ray_and_starts_it_again(start_alone: Callable[..., RunningRouter]) -> None:
    router = start_alone()
    eventually(lambda: is_whole(router), "all actors run")
    parts = parts_of_ray(router)
    assert set(parts) == {"head", "raylet", "guard"}
    engine = router.actors()["engine"]
    for victim in (parts["guard"], parts["head"], engine):
        victim.signal(signal.SIGKILL)
    check_every_connection_is_reached(router.port)
    eventually(lambda: is_whole(router), "the engine is started again")
    assert parts_of_ray(router)["head"].pid != parts["head"].pid
    assert router.actors()["engine"] != engine
    check_every_connection_is_reached(router.port)
    check_it_ends_with_its_raylet(router)


@pytest.mark.soak
def test_each_process_of_a_ray_of_its_own_may_die_again_and_again(start_alone: Callable[..., RunningRouter]) -> None:
    router = start_alone()
    eventually(lambda: is_whole(router), "all actors run")
    parts_of_ray(router)["guard"].signal(signal.SIGKILL)
    for _ in range(3):
        head = parts_of_ray(router)["head"]
        head.signal(signal.SIGKILL)
        eventually(lambda head=head: parts_of_ray(router).get("head", head) != head, "there is another head")
        for role in ROLES:
            actor = router.actors()[role]
            actor.signal(signal.SIGKILL)
            eventually(lambda role=role, actor=actor: router.actors()[role] != actor, f"{role} has another process")
            eventually(lambda: is_whole(router), "all actors run")
            check_every_connection_is_reached(router.port)
    check_it_ends_with_its_raylet(router)


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[tuple[RayHead, RunningRouter]]:
    """A Ray of which a part will be lost, and a router that has joined it. Its raylet waits for a head for a day."""
    head = RayHead(RAY_gcs_rpc_server_reconnect_timeout_s="86400")
    try:
        with running(TWO_ACTORS, tmp_path, MULTICAST, "--address", head.address) as router:
            eventually(lambda: is_whole(router), "all actors run")
            yield head, router
    finally:
        head.close()


@pytest.mark.soak
def test_a_router_whose_ray_has_no_head_any_more_ends_once_an_actor_does(
    doomed: tuple[RayHead, RunningRouter],
) -> None:
    head, router = doomed
    head.lose("gcs_server")
    eventually(lambda: "Ray's head is gone: forwarding goes on" in router.log(), "the launcher says so")
    check_every_connection_is_reached(router.port)
    router.actors()["engine"].signal(signal.SIGKILL)
    eventually(lambda: "Not ready: actor engine has ended, and Ray has no head" in router.log(), "it says so")
    check_every_connection_is_reached(router.port)
    assert router.launcher.wait(2 * WITHIN_S) == 1
    assert "actor engine has ended, and for 60 s Ray has had no head" in router.log()


@pytest.mark.soak
def test_a_router_ends_with_the_raylet_of_its_launchers_host(doomed: tuple[RayHead, RunningRouter]) -> None:
    head, router = doomed
    head.lose("raylet")
    assert router.launcher.wait(WITHIN_S) == 1
    assert "Router failed: Ray is gone: its raylet has ended" in router.log()
    assert list(router.folder.iterdir()) == []


@pytest.mark.parametrize("mode", [None, "token", "disabled"])
def test_a_ray_of_its_own_has_a_token_unless_the_environment_forbids_it(
    start_alone: Callable[..., RunningRouter], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: str | None
) -> None:
    variables = {"HOME": str(tmp_path)} | ({} if mode is None else {"RAY_AUTH_MODE": mode})
    monkeypatch.setattr("tests.system.routers.environment", lambda: environment() | variables)
    router = start_alone()
    tokens = [stat.S_IMODE(found.stat().st_mode) for found in router.folder.glob("ray/token")]
    assert tokens == ([] if mode == "disabled" else [0o600])
    assert not (tmp_path / ".ray").exists()
    assert router.end() == 0
    assert not list(router.folder.iterdir())


def test_a_router_with_nothing_to_do_takes_little_memory(tmp_path: Path) -> None:
    with running(Form("ray-1", 1), tmp_path, MULTICAST) as router:
        eventually(lambda: {"engine", "management"} <= set(router.actors()), "everything runs")
        everything = family_of(router.launcher.pid)
        assert sum(map(_pss_bytes, everything)) <= 440 << 20
        # The tests have it installed, and Ray would import it.
        assert [one.pid for one in everything if "libarrow" in Path(f"/proc/{one.pid}/maps").read_text()] == []


def _pss_bytes(one: Process) -> int:
    found = re.search(r"^Pss:\s+(\d+) kB$", Path(f"/proc/{one.pid}/smaps_rollup").read_text(), re.M)
    assert found is not None
    return int(found[1]) << 10


# --- a Ray that is there


class Joined:
    """A router that this process has started in a Ray, and whose actors it can call."""

    def __init__(self, address: str, folder: str, placement: str = "pack") -> None:
        self.id = ROUTER_ID
        self._reservations = [reserve("127.0.0.1", 0) for _ in range(2)]
        ports = [reservation.port for reservation in self._reservations]
        self.port, self.own_port = ports
        multicast = AddressSettings(pattern="multicast/#", distribution=Distribution.MULTICAST)
        config = RouterConfig(
            router=RouterSettings(id=self.id, addresses=(multicast,)),
            listeners=(
                ListenerConfig(host="127.0.0.1", port=ports[0], name="clients"),
                ListenerConfig(host="127.0.0.1", port=ports[1], name="own", dedicated_actor=True),
            ),
        )
        self.router = Router(
            config,
            RouterOptions(
                connection_actors=2,
                ray_address=address,
                ray_namespace=NAMESPACE,
                placement=placement,
                folder=folder,
            ),
        )

    def start(self) -> list[str]:
        return self.router.start()

    def close(self) -> None:
        self.router.stop()
        for reservation in self._reservations:
            reservation.close()

    def ask(self, role: str, method: str, *arguments: Any, within_s: float = WITHIN_S) -> Any:
        """Call an actor; its errors and its silence are errors."""
        actor = ray.get_actor(f"{self.id}.{role}", NAMESPACE)
        return ray.get(getattr(actor, method).remote(*arguments), timeout=within_s)

    def pid(self, role: str) -> int | None:
        with contextlib.suppress(RayError):
            return int(self.ask(role, "pid", within_s=ANSWER_S))
        return None

    def is_whole(self) -> bool:
        """Whether all actors answer, and know each other."""
        with contextlib.suppress(RayError, GetTimeoutError):
            self.ask("management", "ready", within_s=ANSWER_S)
            table = self.ask("table", "describe", within_s=ANSWER_S)
            members = self.ask("engine", "describe", within_s=ANSWER_S)["members"]
            answers = [self.ask(f"connection.{worker}", "ping", within_s=ANSWER_S) for worker in table["workers"]]
            return (
                table["members"] == table["workers"] == [worker for worker, _ in sorted(members)]
                and table["version"] == table["knownByAll"]
                and len(answers) == 3
            )
        return False

    def incarnations(self, snapshot: Any = None) -> dict[int, int]:
        """Return the workers of a snapshot of the table, or of the present one, with their incarnations."""
        known = snapshot or self.ask("table", "snapshot")
        return {sibling.worker: sibling.incarnation for sibling in known.siblings}

    def is_whole_since(self, epoch: int) -> bool:
        """Whether all actors know each other by a later table than that of an epoch."""
        with contextlib.suppress(RayError, GetTimeoutError):
            return bool(self.ask("table", "describe", within_s=ANSWER_S)["version"][0] > epoch) and self.is_whole()
        return False


@pytest.fixture(scope="module")
def joined(ray_head: RayHead) -> Iterator[Joined]:
    """A router in a Ray that others started."""
    folder = tempfile.mkdtemp(prefix="routerd-test-", dir="/tmp")
    router = Joined(ray_head.address, folder)
    try:
        router.start()
        yield router
    finally:
        router.close()
        shutil.rmtree(folder)


def test_every_listener_is_named_once_and_a_dedicated_one_has_an_actor_of_its_own(joined: Joined) -> None:
    shared, own = f"127.0.0.1:{joined.port} (clients)", f"127.0.0.1:{joined.own_port} (own)"
    listening = {role: joined.ask(role, "ready") for role in ("connection.0", "connection.1", "connection.2")}
    assert listening == {"connection.0": [shared], "connection.1": [shared], "connection.2": [own]}
    check_every_connection_is_reached(joined.port)
    check_every_connection_is_reached(joined.own_port)


@pytest.mark.parametrize("role", [*ROLES, "connection.2"])
@pytest.mark.parametrize("number", ENDS, ids=ENDS_BY_NAME)
def test_an_actor_that_dies_or_stands_still_is_replaced(
    joined: Joined, role: str, number: signal.Signals
) -> None:
    eventually(joined.is_whole, "the router is whole")
    actor = process(joined.ask(role, "pid"))
    actor.signal(number)
    eventually(lambda: joined.pid(role) not in (None, actor.pid) and joined.is_whole(), f"{role} is back")
    assert not actor.is_running
    check_every_connection_is_reached(joined.port)


def test_a_new_table_learns_all_and_has_a_higher_epoch_and_forwarding_does_not_wait_for_it(joined: Joined) -> None:
    eventually(joined.is_whole, "the router is whole")
    with ExitStack() as clients:
        connections = [clients.enter_context(ProtonClient(joined.port, container_id=f"c-{n}")) for n in range(8)]
        consumers = [connection.consumer("multicast/table") for connection in connections]
        producer = clients.enter_context(ProtonClient(joined.port, container_id="p")).producer("multicast/table")
        before = joined.ask("table", "snapshot")
        process(joined.ask("table", "pid")).signal(signal.SIGKILL)
        sent = []
        with ThreadPoolExecutor(1) as others:
            whole = others.submit(
                eventually, lambda: joined.is_whole_since(before.version[0]), "the router is whole again"
            )
            while not whole.done():
                sent.append(len(sent))
                assert producer.send(sent[-1]).outcome() == "accepted"
            whole.result()
        after = joined.ask("table", "snapshot")
        assert set(after.siblings) == set(before.siblings)
        assert set(after.interests) == set(before.interests)
        assert [[each.take().body for _ in sent] for each in consumers] == [sent] * 8


def test_a_worker_that_comes_back_has_another_incarnation_and_wants_nothing(joined: Joined) -> None:
    eventually(joined.is_whole, "the router is whole")
    with ProtonClient(joined.own_port) as client:
        client.consumer("multicast/own")
        before = joined.ask("table", "snapshot")
        assert "M0multicast/own" in {interest.key for worker, interest in before.interests if worker == 2}
        process(joined.ask("connection.2", "pid")).signal(signal.SIGKILL)
        client.wait_until(lambda: client.is_over, "the connection ends with the actor")
    incarnations = joined.incarnations(before)
    # It may answer again before the table has heard that it was gone.
    eventually(lambda: joined.incarnations().get(2, 0) > incarnations[2], "the worker is back")
    eventually(joined.is_whole, "the router is whole")
    after = joined.ask("table", "snapshot")
    assert "M0multicast/own" not in {interest.key for worker, interest in after.interests if worker == 2}
    assert {**joined.incarnations(after), 2: 0} == {**incarnations, 2: 0}


def test_the_routing_engine_says_what_the_router_is(joined: Joined) -> None:
    eventually(joined.is_whole, "the router is whole")
    engine = joined.ask("engine", "describe")
    members = {(one.worker, one.incarnation) for one in joined.ask("table", "snapshot").siblings}
    assert engine.pop("uptimeSeconds") < 600
    assert set(engine.pop("members")) == members
    assert engine.pop("membersVersion")[0] == joined.ask("table", "describe")["version"][0]
    assert engine == {"id": ROUTER_ID, "mode": "standalone", "version": "", "metadata": None}


# --- several routers, and launchers that come and go


def start_in_vain(folder: Path, ray_address: str, **variables: str) -> str:
    """Start a router that cannot be; return what it logs."""
    config = folder / "router.conf"
    config.write_text(MULTICAST)
    ended = subprocess.run(
        [*COMMAND, "-c", str(config), "--address", ray_address, "--ray-namespace", NAMESPACE],
        env=environment() | variables,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )
    assert ended.returncode == 1
    return ended.stderr


@pytest.fixture
def start_joined(ray_head: RayHead, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RunningRouter]]:
    """Start a router in the Ray that is there."""
    with ExitStack() as routers:
        yield lambda *arguments: routers.enter_context(
            running(TWO_ACTORS, tmp_path_factory.mktemp("router"), MULTICAST, "--address", ray_head.address, *arguments)
        )


def test_routers_of_one_ray_leave_each_other_alone(start_joined: Callable[..., RunningRouter]) -> None:
    one, other = start_joined(), start_joined("--ray-namespace", "other")
    eventually(lambda: set(one.actors()) == set(other.actors()) == set(ROLES), "all actors run")
    actors = list(one.actors().values())
    one.launcher.kill()
    one.launcher.wait(WITHIN_S)
    check_nothing_is_left(actors)
    check_every_connection_is_reached(other.port)
    assert other.end() == 0
    check_nothing_is_left(list(other.actors().values()))


def test_a_router_of_the_same_id_is_refused(joined: Joined, ray_head: RayHead, tmp_path: Path) -> None:
    assert joined.id == ROUTER_ID
    second = start_in_vain(tmp_path, ray_head.address)
    assert f"router {ROUTER_ID} runs already in namespace tests of this Ray" in second
    eventually(joined.is_whole, "the first one is as it was")


def test_a_detached_router_outlives_its_launcher_until_it_is_stopped(
    start_joined: Callable[..., RunningRouter], ray_head: RayHead
) -> None:
    where = ("--address", ray_head.address, "--ray-namespace", "detached")
    router = start_joined("--ray-namespace", "detached", "--detach")
    assert router.launcher.wait(WITHIN_S) == 0
    check_every_connection_is_reached(router.port)
    eventually(lambda: set(router.actors()) == set(ROLES), "all actors run")
    actors = list(router.actors().values())
    assert run("--stop", ROUTER_ID, *where, "--shutdown-grace", "1").returncode == 0
    check_nothing_is_left(actors)
    assert not router.folder.exists()
    again = run("--stop", ROUTER_ID, *where)
    assert (again.returncode, again.stderr.partition(": ")[2]) == (
        1,
        f"There is no router {ROUTER_ID} in namespace detached of this Ray\n",
    )


@pytest.fixture(scope="module")
def second_node(ray_head: RayHead, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One more node for the Ray that is there."""
    log = tmp_path_factory.mktemp("node") / "log"
    head_only = {"--head", "--include-dashboard=false"}
    command = [*(word for word in RAY_START if word not in head_only), f"--address={ray_head.address}"]
    with log.open("w") as output:
        node = subprocess.Popen(
            command, env=environment() | {"RAY_AUTH_MODE": "disabled"}, stdout=output, stderr=output
        )
    try:
        eventually(lambda: "Ray runtime started" in log.read_text() or node.poll() is not None, "the node runs")
        assert node.poll() is None, log.read_text()
        yield
    finally:
        everything = family_of(node.pid)
        node.terminate()
        end_all(everything, ENDING_S)
        node.wait(WITHIN_S)


@pytest.mark.usefixtures("second_node")
@pytest.mark.parametrize(("placement", "nodes"), [("spread", 2), ("pack", 1)])
def test_connection_actors_are_placed_as_asked(
    start_joined: Callable[..., RunningRouter], placement: str, nodes: int
) -> None:
    router = start_joined("--placement", placement)
    with ManagementClient(router.port) as management:
        pids = [int(row["pid"]) for row in management.query("org.mobula.connectionActor")]
    assert len({process(pid).parent for pid in pids}) == nodes
    check_every_connection_is_reached(router.port)


def test_a_ray_that_is_not_there_is_reported_at_once(tmp_path: Path) -> None:
    reservation = reserve("127.0.0.1", 0)
    address = f"127.0.0.1:{reservation.port}"
    critical = [line for line in start_in_vain(tmp_path, address).splitlines() if "(critical)" in line]
    reservation.close()
    assert len(critical) == 1
    why = rf"Ray at {address} cannot be joined: (\S+: )?Connection refused; {re.escape(HINT)}"
    assert re.search(rf"Router start-up failed: {why}$", critical[0])


# --- tokens


@pytest.fixture(scope="module")
def guarded_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A Ray that wants a token: its address, and the file that has the token."""
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text("0123456789abcdef" * 4)
    folder = Path(tempfile.mkdtemp(prefix="ray-test-", dir="/tmp"))
    port = free_port()
    log = folder / "log"
    with log.open("w") as output:
        head = subprocess.Popen(
            [*RAY_START, f"--port={port}", f"--temp-dir={folder}"],
            env=environment() | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)},
            stdout=output,
            stderr=output,
        )
    try:
        eventually(lambda: "Ray runtime started" in log.read_text() or head.poll() is not None, "Ray runs")
        assert head.poll() is None, log.read_text()
        yield f"127.0.0.1:{port}", token
    finally:
        everything = family_of(head.pid)
        head.terminate()
        end_all(everything, ENDING_S)
        head.wait(WITHIN_S)
        shutil.rmtree(folder)


@pytest.mark.parametrize("mode", [None, "token"])
def test_the_token_of_a_ray_is_used_when_it_wants_one(
    guarded_ray: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: str | None
) -> None:
    address, token = guarded_ray
    variables = {"RAY_AUTH_TOKEN_PATH": str(token)} | ({} if mode is None else {"RAY_AUTH_MODE": mode})
    monkeypatch.setattr("tests.system.routers.environment", lambda: environment() | variables)
    with running(TWO_ACTORS, tmp_path, MULTICAST, "--address", address) as router:
        check_every_connection_is_reached(router.port)
        assert router.end() == 0


def test_a_ray_that_wants_a_token_is_not_joined_without(guarded_ray: tuple[str, Path], tmp_path: Path) -> None:
    address, _ = guarded_ray
    reported = start_in_vain(tmp_path, address, HOME=str(tmp_path))
    assert f"Ray at {address} cannot be joined: it wants a token that we do not have" in reported
