"""A Ray of two nodes, each in a network namespace as if on a host of its own, and a router that spans both."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from actors.processes import condition_of
from actors.pulse import read_sign
from tests.system.conftest import running
from tests.system.launched import environment
from tests.system.load import Load, LoadConsumer, LoadProducer
from tests.system.management_client import ManagementClient
from tests.system.namespaces import Cable, inside, ip
from tests.system.processes import Process, end_all, family_of, process
from tests.system.proton_client import ProtonClient
from tests.system.routers import ENDING_S, RAY_START, Form, RunningRouter
from tests.waiting import WITHIN_S, eventually

GCS_PORT = 6379
ACTOR = "org.mobula.connectionActor"
HOME, AWAY = 0, 1
BELIEVES_SOON = {
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}
"""How soon Ray's head believes that a node has gone; half a minute otherwise."""


class ProducerThere(LoadProducer):
    """A producer in a namespace."""

    def __init__(self, namespace: str, name: str, port: int, address: str) -> None:
        self._namespace = namespace
        super().__init__(name, port, address)

    def _run(self) -> None:
        with inside(self._namespace):
            super()._run()


class ConsumerThere(LoadConsumer):
    """A consumer in a namespace."""

    def __init__(self, namespace: str, name: str, port: int, address: str) -> None:
        self._namespace = namespace
        super().__init__(name, port, address)

    def _run(self) -> None:
        with inside(self._namespace):
            super()._run()


class RayNode:
    """One node of a Ray, on a host of its own."""

    def __init__(self, namespace: str, address: str, head: str | None, folder: Path) -> None:
        log = folder / f"log-{namespace}"
        places = {word for word in RAY_START if word.startswith("--node-ip-address")}
        words = [word for word in RAY_START if word not in places]
        if head is None:
            words += [f"--port={GCS_PORT}", f"--temp-dir={folder}"]
        else:
            words = [word for word in words if word not in ("--head", "--include-dashboard=false")]
            words.append(f"--address={head}:{GCS_PORT}")
        variables = environment() | BELIEVES_SOON | {"RAY_AUTH_MODE": "disabled"}
        with log.open("w") as output, inside(namespace):
            self.process = subprocess.Popen(
                [*words, f"--node-ip-address={address}"], env=variables, stdout=output, stderr=output
            )
        try:
            eventually(lambda: "Ray runtime started" in log.read_text() or self.process.poll() is not None, "Ray runs")
            assert self.process.poll() is None, log.read_text()
        except BaseException:
            self.close()
            raise

    def family(self) -> list[Process]:
        """Return its processes, those of actors included."""
        return family_of(self.process.pid)

    def close(self) -> None:
        """End all of it."""
        everything = self.family()
        self.process.terminate()
        end_all(everything, ENDING_S)
        self.process.wait(WITHIN_S)


def away_folders() -> set[Path]:
    """Return what routers have made for nodes away."""
    return {path for path in Path("/tmp").glob("routerd-*-*") if not path.name.startswith("routerd-test-")}


def remove_dead_folders() -> None:
    """Remove what actors that were killed have left on nodes away."""
    for folder in away_folders():
        signs = [read_sign(str(path)) for path in folder.glob("*.pulse")]
        if all(sign is None or condition_of(sign.process) is None for sign in signs):
            shutil.rmtree(folder, ignore_errors=True)


class TwoHosts:
    """Two hosts, each with a node; the head is at home, where launchers are."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ray-test-", dir="/tmp"))
        self._at_exit = ExitStack()
        self._at_exit.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._at_exit.callback(remove_dead_folders)
        try:
            self.cable = Cable()
            self._at_exit.callback(self.cable.close)
            self.nodes = [self._start(HOME, None)]
            self.join()
        except BaseException:
            self.close()
            raise

    def join(self) -> None:
        """Have the node of the host away be there (again)."""
        self.nodes[1:] = [self._start(AWAY, Cable.ADDRESSES[HOME])]

    def _start(self, host: int, head: str | None) -> RayNode:
        node = RayNode(self.cable.names[host], Cable.ADDRESSES[host], head, self.folder)
        self._at_exit.callback(node.close)
        return node

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Let the host away say nothing to the other, and hear nothing; a node joins anew afterwards."""
        # Its own end of the cable: a host whose end is down has lost its address for itself, too.
        ip("-n", self.cable.names[AWAY], "link", "set", "end", "down")
        try:
            yield
        finally:
            self.cable.plug()

    def renew(self) -> None:
        """Have a node away that has just begun, in the place of one that has died or is given up."""
        self.nodes[AWAY].close()
        self.join()

    def inside(self, host: int) -> Any:
        """Have sockets and processes be on a host."""
        return inside(self.cable.names[host])

    @contextmanager
    def running(self, form: Form, folder: Path, text: str, *arguments: str) -> Iterator["SpanningRouter"]:
        """Start a router at home, in this Ray."""
        with ExitStack() as at_exit:
            with self.inside(HOME):
                address = f"{Cable.ADDRESSES[HOME]}:{GCS_PORT}"
                router = at_exit.enter_context(running(form, folder, text, "--address", address, *arguments))
            yield SpanningRouter(self, router)

    def close(self) -> None:
        """Leave nothing."""
        self._at_exit.close()


class SpanningRouter:
    """A router whose connection actors are on both hosts; each listens on the loopback address of its own."""

    def __init__(self, hosts: TwoHosts, router: RunningRouter) -> None:
        self.hosts = hosts
        self.router = router

    def connect(self, host: int, name: str = "client") -> ProtonClient:
        """Return a client on a host, which is served by an actor there."""
        with self.hosts.inside(host):
            return ProtonClient(self.router.port, container_id=f"{name}-{host}")

    def manage(self, host: int = HOME) -> ManagementClient:
        """Return a client of management on a host."""
        with self.hosts.inside(host):
            return ManagementClient(self.router.port)

    def actors(self) -> dict[str, dict[str, Any]]:
        """Return the connection actors by their nodes' addresses."""
        with self.manage() as management:
            return {row["node"]: row for row in management.query(ACTOR)}

    def load(self, address: str) -> Load:
        """Return producers and consumers of two addresses, on either host those of both."""
        load = Load(self.router.port, address, producers=0, consumers=0)
        for number in range(4):
            host, at = self.hosts.cable.names[number // 2], f"{address}.{number % 2}"
            load.producers.append(ProducerThere(host, f"p{number}", self.router.port, at))
            load.consumers.append(ConsumerThere(host, f"c{number}", self.router.port, at))
        return load


def actors_of(router: SpanningRouter) -> list[Process]:
    """Return the processes of all actors, on both hosts."""
    pids = [int(row["pid"]) for row in router.actors().values()]
    found = [*router.router.actors().values(), *map(process, pids)]
    return list({one.pid: one for one in found}.values())


def workers_at(router: SpanningRouter, host: int) -> list[int]:
    """Return the connection actors on a host, as far as they answer."""
    with router.manage() as management:
        rows = management.query(ACTOR, "node", "worker")
    return sorted(row["worker"] for row in rows if row["node"] == Cable.ADDRESSES[host])
