"""Routers as processes, in each form that they come in: one process, or actors on Ray."""

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.system.launched import COMMAND, WITHIN_S, environment, eventually
from tests.system.processes import Process, end_all, family_of

ROUTER_ID = "R.1"
DRAIN_S = 30.0
ENDING_S = 5.0

PLAIN = " name: clients\n host: 127.0.0.1\n port: 0\n authenticatePeer: no"


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
FORMS = (IN_PROCESS,)


def configuration(*sections: str, listener: str = PLAIN, log: str = "info+") -> str:
    """Return a configuration with one listener, at any port, and these sections."""
    router = f"router {{\n mode: standalone\n id: {ROUTER_ID}\n}}"
    levels = f"log {{\n module: DEFAULT\n enable: {log}\n outputFile: stderr\n}}"
    return "\n".join([router, f"listener {{\n{listener}\n}}", levels, *sections, ""])


def address_section(kind: str, text: str, distribution: str) -> str:
    """Return the section for addresses with a prefix, or that match a pattern."""
    return f"address {{\n {kind}: {text}\n distribution: {distribution}\n}}"


class RunningRouter:
    """A router that was started from a file and is ready."""

    def __init__(self, folder: Path, form: Form, text: str, *arguments: str) -> None:
        self.form = form
        self.errors = folder / "log"
        config = folder / "router.conf"
        config.write_text(text)
        command = [*COMMAND, "-c", str(config), *form.arguments, *arguments]
        with self.errors.open("w") as errors:
            self.launcher = subprocess.Popen(command, cwd=folder, env=environment(), stderr=errors)
        try:
            self.ports = self._ports()
        except BaseException:
            self.close()
            raise

    def _ports(self) -> list[int]:
        eventually(lambda: "Operational, " in self.log() or self.launcher.poll() is not None, "the router is ready")
        assert self.launcher.poll() is None, self.log()
        return [int(port) for port in re.findall(r"Listening on \S*:(\d+)", self.log())]

    @property
    def port(self) -> int:
        """The number of the first port that it listens on."""
        return self.ports[0]

    def log(self) -> str:
        """Return what it has logged."""
        return self.errors.read_text()

    def processes(self) -> list[Process]:
        """Return all processes of the router."""
        return family_of(self.launcher.pid)

    def serving(self) -> list[Process]:
        """Return the processes that serve connections."""
        assert not self.form.actors
        return family_of(self.launcher.pid)[:1]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; return the status that the launcher exits with."""
        self.launcher.send_signal(number)
        return self.launcher.wait(DRAIN_S)

    def close(self) -> None:
        """Have it end in order, and see to it that nothing is left."""
        everything = self.processes()
        if self.launcher.poll() is None:
            self.launcher.terminate()
            try:
                self.launcher.wait(WITHIN_S)
            except subprocess.TimeoutExpired:
                self.launcher.kill()
                self.launcher.wait(WITHIN_S)
        end_all(everything, ENDING_S)
