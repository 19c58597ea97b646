"""Mobula routers as processes, joined to a mesh, for the examples and the functional tests."""

import contextlib
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
"""Where the router is."""
READY_WITHIN_S = 60.0
END_WITHIN_S = 15.0
_POLL_S = 0.02
# Above those that Ray gives its workers, and below those that Linux gives connections.
_FIRST_PORT, _PORTS = 20_000, 12_768
# Processes that choose at a time start far from each other.
_port_numbers = itertools.count(os.getpid() * 64)
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()


class DidNotHappen(Exception):
    """Something was not so in time; the message says what."""


def await_that(claim: Callable[[], object], what: str, within_s: float = READY_WITHIN_S) -> None:
    """Wait until a claim holds; DidNotHappen if it does not in time."""
    deadline = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > deadline:
            raise DidNotHappen(f"not within {within_s:g} s: {what}")
        time.sleep(_POLL_S)


def free_ports(count: int) -> list[int]:
    """Return numbers of ports that nobody listens on, and that no connection is given meanwhile."""
    ports: list[int] = []
    while len(ports) < count:
        port = _FIRST_PORT + next(_port_numbers) % _PORTS
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            ports.append(port)
    return ports


def router_python() -> str:
    """Return the interpreter of the router's own environment: MOBULA_PYTHON, or that of the tree."""
    return os.environ.get("MOBULA_PYTHON") or str(TREE / ".venv/bin/python")


def why_no_router() -> str | None:
    """Return why no router can be started here, if it cannot."""
    python = router_python()
    if not (TREE / "routerd").is_dir():
        return f"{TREE} has no router in it"
    if not shutil.which(python):
        return f"{python} is not there: `make setup` makes it, MOBULA_PYTHON names another"
    return None


class Router:
    """A router from a configuration, in one process; it can be killed and started again."""

    def __init__(self, name: str, text: str, folder: Path, *arguments: str) -> None:
        self.name = name
        self._arguments = arguments
        self.log = folder / f"{name}.log"
        self._config = folder / f"{name}.conf"
        self._config.write_text(text)
        self._process: subprocess.Popen[bytes] | None = None
        self._runtime = ""

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither killed nor ended."""
        return self._process is not None

    def start(self) -> "Router":
        """Start it, and do not wait."""
        # Short: it becomes a part of the names of sockets.
        self._runtime = tempfile.mkdtemp(prefix="nova-", dir="/tmp")
        files = ("-c", str(self._config), "--runtime-directory", self._runtime, "--in-process", *self._arguments)
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [*_ENDS_WITH_US, router_python(), "-m", "routerd.cli.routerd", *files],
                cwd=TREE,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self

    def wait(self) -> "Router":
        """Wait until clients can connect."""
        process = self._process
        assert process is not None
        await_that(
            lambda: process.poll() is not None or "Operational, " in self.log.read_text(),
            f"router {self.name} is ready",
        )
        if process.poll() is not None:
            raise DidNotHappen(f"router {self.name} did not start:\n{self.log.read_text()[-2000:]}")
        return self

    def wait_for_neighbours(self, *names: str) -> None:
        """Wait until it is joined to other routers."""
        await_that(
            lambda: all(f"router {name} is a neighbour" in self.log.read_text() for name in names),
            f"router {self.name} has {' and '.join(names)} as neighbours",
        )

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._forget()

    def close(self) -> None:
        """End it in order."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._forget()

    def _forget(self) -> None:
        assert self._process is not None
        self._process.wait()
        self._process = None
        shutil.rmtree(self._runtime, ignore_errors=True)
