"""Routers as processes, in each form that they come in: one process, or actors on Ray."""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from actors.pulse import read_sign
from bench.free_ports import free_port
from tests.system.launched import COMMAND, environment
from tests.system.processes import Process, end_all, family_of, process
from tests.waiting import WITHIN_S, eventually

ROUTER_ID = "R.1"
DRAIN_S = 60.0
ENDING_S = 5.0
READY_WITHIN_S = 180.0
"""Starts of Ray take long while other tests use the processors."""
ENDS_WITH_US = ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()
"""Before a command: it is told to end when the tests are killed, and nothing else ends it."""
RAY_START = (
    # By default Ray starts its workers at niceness 15: beside other tests they may take minutes.
    *("env", "RAY_worker_niceness=0"),
    *ENDS_WITH_US,
    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--node-ip-address=127.0.0.1"),
    *("--num-cpus=1", "--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=80000000"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """How a router runs."""

    name: str
    actors: int
    """Connection actors; 0 is one process without Ray."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the command line says of it."""
        return ("--connection-actors", str(self.actors)) if self.actors else ("--in-process",)


IN_PROCESS = Form("in-process", 0)
ONE_ACTOR = Form("ray-1", 1)
THREE_ACTORS = Form("ray-3", 3)
FORMS = (IN_PROCESS, THREE_ACTORS)
"""Those in which tests run that say nothing else; one actor alone has nothing to pass on to another."""


def section(kind: str, **attributes: object) -> str:
    """Return a section of a configuration."""
    return "\n".join([f"{kind} {{", *(f"    {name}: {value}" for name, value in attributes.items()), "}"])


def listener(name: str = "clients", **attributes: object) -> str:
    """Return the section of a listener at any port."""
    plain = {"name": name, "host": "127.0.0.1", "port": 0, "authenticatePeer": "no"}
    return section("listener", **plain | attributes)


def configuration(*sections: str, log: str = "info+", **router: object) -> str:
    """Return a configuration with these sections, and with a listener if they have none.

    Management may change everything, unless `router` says something else.
    """
    plain = {"mode": "standalone", "id": ROUTER_ID, "managementAccess": "change", "managementFileDir": "/"}
    the_router = section("router", **plain | router)
    levels = section("log", module="DEFAULT", enable=log, outputFile="stderr")
    clients = [] if any(one.startswith("listener") for one in sections) else [listener()]
    return "\n".join([the_router, levels, *clients, *sections, ""])


def address_section(kind: str, text: str, distribution: str) -> str:
    """Return the section for addresses with a prefix, or that match a pattern."""
    return section("address", **{kind: text, "distribution": distribution})


class RunningRouter:
    """A router that was started from a file and is ready."""

    def __init__(self, folder: Path, form: Form, text: str, *arguments: str) -> None:
        self.form = form
        self.errors = folder / "log"
        # Short: it becomes a part of the names of sockets.
        self._runtime = Path(tempfile.mkdtemp(prefix="routerd-test-", dir="/tmp"))
        config = folder / "router.conf"
        config.write_text(text)
        files = ("-c", str(config), "--runtime-directory", str(self._runtime))
        command = [*ENDS_WITH_US, *COMMAND, *files, *form.arguments, *arguments]
        with self.errors.open("w") as errors:
            self.launcher = subprocess.Popen(command, cwd=folder, env=environment(), stderr=errors)
        try:
            self.ports = self._ports()
        except BaseException:
            self.close()
            raise

    def _ports(self) -> list[int]:
        eventually(
            lambda: "Operational, " in self.log() or self.launcher.poll() is not None,
            lambda: f"the router is ready; its log ends with {self.log()[-2000:]!r}",
            READY_WITHIN_S,
        )
        assert self.launcher.poll() is None, self.log()
        return [int(port) for port in re.findall(r"Listening on \S*:(\d+)", self.log())]

    @property
    def folder(self) -> Path:
        """Where its processes have their sockets."""
        return self._runtime

    @property
    def port(self) -> int:
        """The number of the first port that it listens on."""
        return self.ports[0]

    def port_of(self, listener: str) -> int:
        """The number of the port of a listener."""
        found = re.search(rf"Listening on \S*:(\d+) \({re.escape(listener)}\)", self.log())
        assert found is not None
        return int(found[1])

    def log(self) -> str:
        """Return what it has logged."""
        return self.errors.read_text()

    def actors(self) -> dict[str, Process]:
        """Return the processes of its actors by their roles."""
        signs = {path.stem: read_sign(str(path)) for path in self._runtime.glob("*.pulse")}
        return {
            role: Process(sign.process.pid, sign.process.started) for role, sign in signs.items() if sign is not None
        }

    def serving(self) -> list[Process]:
        """Return the processes that serve connections."""
        if not self.form.actors:
            return [process(self.launcher.pid)]
        return [found for role, found in self.actors().items() if role.startswith("connection.")]

    def everything(self) -> list[Process]:
        """Return its processes, but for those of Ray itself."""
        return [process(self.launcher.pid), *self.actors().values()]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; return the status that the launcher exits with."""
        self.launcher.send_signal(number)
        return self.launcher.wait(DRAIN_S)

    def close(self) -> None:
        """Have it end in order, and see to it that nothing is left."""
        everything = [*family_of(self.launcher.pid), *self.actors().values()]
        if self.launcher.poll() is None:
            self.launcher.terminate()
            try:
                self.launcher.wait(WITHIN_S)
            except subprocess.TimeoutExpired:
                self.launcher.kill()
                self.launcher.wait(WITHIN_S)
        end_all(everything, ENDING_S)
        shutil.rmtree(self._runtime, ignore_errors=True)


class RayHead:
    """A Ray for routers to join."""

    def __init__(self, **variables: str) -> None:
        """`variables` are for the environment of all that Ray starts."""
        self._folder = Path(tempfile.mkdtemp(prefix="ray-test-", dir="/tmp"))
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        log = self._folder / "log"
        command = [*RAY_START, f"--port={port}", f"--temp-dir={self._folder}"]
        with log.open("w") as output:
            self._process = subprocess.Popen(
                command, env=environment() | {"RAY_AUTH_MODE": "disabled"} | variables, stdout=output, stderr=output
            )
        try:
            eventually(lambda: "Ray runtime started" in log.read_text() or self._process.poll() is not None, "Ray runs")
            assert self._process.poll() is None, log.read_text()
        except BaseException:
            self.close()
            raise

    def lose(self, server: str) -> None:
        """End one of its servers for good, and keep the command that has started them from ending the other."""
        family = family_of(self._process.pid)
        command = next(one for one in family if "ray.scripts.scripts" in one.title)
        command.signal(signal.SIGSTOP)
        for one in family:
            if f"/{server} " in one.title:
                one.signal(signal.SIGKILL)

    def close(self) -> None:
        """End all of it."""
        everything = family_of(self._process.pid)
        self._process.terminate()
        self._process.send_signal(signal.SIGCONT)
        end_all(everything, ENDING_S)
        self._process.wait(WITHIN_S)
        shutil.rmtree(self._folder, ignore_errors=True)
