"""The processes of the demo: routers, Ray, servers."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from actors.processes import Process, descendants, kill
from actors.pulse import read_sign
from bench.free_ports import free_port

READY_WITHIN_S = 60.0
END_WITHIN_S = 15.0
_POLL_S = 0.02
_RAY_START = (
    *("-m", "ray.scripts.scripts", "start", "--head", "--block", "--node-ip-address=127.0.0.1", "--num-cpus=1"),
    *("--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=80000000"),
)


class DemoFailed(Exception):
    """Something did not start, or not come back, in time; the message says what."""


def await_that(claim: Callable[[], object], what: str, within_s: float = READY_WITHIN_S) -> None:
    """Wait until a claim holds; DemoFailed if it does not in time."""
    deadline = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > deadline:
            raise DemoFailed(f"not within {within_s:g} s: {what}")
        time.sleep(_POLL_S)


class Ray:
    """One Ray for all routers."""

    def __init__(self) -> None:
        # Short: it becomes a part of the names of sockets.
        self._folder = tempfile.mkdtemp(prefix="demo-ray-", dir="/tmp")
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self._log = Path(self._folder, "log")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, *_RAY_START, f"--port={port}", f"--temp-dir={self._folder}"],
                env=os.environ | {"RAY_AUTH_MODE": "disabled"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait(self) -> None:
        """Wait until it runs."""
        await_that(lambda: "Ray runtime started" in self._log.read_text() or self._process.poll() is not None, "Ray")
        if self._process.poll() is not None:
            raise DemoFailed(f"Ray did not start:\n{self._log.read_text()[-2000:]}")

    def close(self) -> None:
        """End it."""
        everything = descendants(self._process.pid)
        _end(self._process)
        for one in everything:
            kill(one)
        shutil.rmtree(self._folder, ignore_errors=True)


class Router:
    """A router from a configuration; it can be killed and started again."""

    def __init__(self, name: str, text: str, folder: Path, *form: str) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._form = form
        self._config = folder / f"mesh-{name.lower()}.conf"
        self._config.write_text(text)
        self._process: subprocess.Popen[bytes] | None = None
        self._runtime = ""
        self._lives = count(1)

    def start(self) -> None:
        """Start it, and do not wait."""
        self._runtime = tempfile.mkdtemp(prefix="demo-", dir="/tmp")
        files = ("-c", str(self._config), "--runtime-directory", self._runtime)
        # The log of an earlier start is kept under another name, so that this log is about this start only.
        if self.log.exists():
            self.log.rename(self.log.with_suffix(f".{next(self._lives)}.log"))
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "routerd.cli.routerd", *files, *self._form],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def is_ready(self) -> bool:
        """Whether it serves clients."""
        return "Operational, " in self.log.read_text()

    def wait(self, within_s: float = READY_WITHIN_S) -> None:
        """Wait until it is ready."""
        process = self._process
        assert process is not None
        await_that(lambda: process.poll() is not None or self.is_ready, f"router {self.name} is ready", within_s)
        if process.poll() is not None:
            raise DemoFailed(f"router {self.name} did not start:\n{self.log.read_text()[-2000:]}")

    def actors(self) -> dict[str, Process]:
        """Return the processes of its actors by their roles; none without Ray."""
        signs = {path.stem: read_sign(str(path)) for path in Path(self._runtime).glob("*.pulse")}
        return {role: sign.process for role, sign in signs.items() if sign is not None}

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all its processes."""
        assert self._process is not None
        for pid in (self._process.pid, *(actor.pid for actor in self.actors().values())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> int:
        """End it without a word, with all its processes; return how many these were."""
        process = self._process
        assert process is not None
        actors = self.actors().values()
        process.kill()
        for one in actors:
            kill(one)
        process.wait()
        shutil.rmtree(self._runtime, ignore_errors=True)
        return 1 + len(actors)

    def close(self) -> None:
        """End it in order."""
        if self._process is not None:
            _end(self._process)
            shutil.rmtree(self._runtime, ignore_errors=True)


class ServerProcess:
    """An RPC server; it can be killed and started again."""

    def __init__(self, router: str, port: int) -> None:
        self.router = router
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        command = [sys.executable, "-m", "bench.demo_mesh.server", str(self._port), self.router]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
