"""A router for a benchmark: it starts from a generated configuration on free ports, and ends with the benchmark."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from actors.plan import ENGINE, MANAGEMENT
from actors.processes import Process, descendants
from actors.pulse import read_sign

READY_WITHIN_S = 60.0
END_WITHIN_S = 20.0
_POLL_S = 0.02
_KIB = 1024

CONFIGURATION = """\
router {
    mode: standalone
    id: Bench
}
listener {
    name: shared
    host: 127.0.0.1
    port: 0
    linkCapacity: 1000
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}
listener {
    name: dedicated
    host: 127.0.0.1
    port: 0
    linkCapacity: 1000
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
    dedicatedActor: yes
}
listener {
    name: narrow
    host: 127.0.0.1
    port: 0
    linkCapacity: 100
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}
address {
    prefix: multicast
    distribution: multicast
}
log {
    module: DEFAULT
    enable: notice+
}
"""


class RouterDidNotStart(Exception):
    """The router ended, or was not ready in time; the message has the end of its log."""


class RouterProcess:
    """A router under measurement, with the places of its listeners by name.

    The default configuration has three listeners: `place`, `narrow_place` with less credit for producers, and
    `dedicated_place` with a separate actor.
    """

    def __init__(self, *form: str, configuration: str = CONFIGURATION) -> None:
        self.form = form
        self._folder = tempfile.TemporaryDirectory(prefix="bench-router-")
        self._log = Path(self._folder.name, "log")
        # Short: it becomes a part of the names of sockets.
        self._runtime = tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp")
        file = Path(self._folder.name, "router.conf")
        file.write_text(configuration)
        folders = ("--runtime-directory", self._runtime.name)
        begun = time.monotonic()
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "routerd.cli.routerd", "-c", str(file), *folders, *form],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self.places = self._await_places()
            self.ready_after_s = time.monotonic() - begun
            if self.is_on_ray:
                self._await_the_others()
        except RouterDidNotStart:
            self.stop()
            raise

    def __enter__(self) -> "RouterProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the router in order, and by force if it does not."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()
        self._runtime.cleanup()

    def kill(self) -> None:
        """End a router without Ray at once, as if its host had failed."""
        self._process.kill()
        self._process.wait()

    @property
    def place(self) -> str:
        """Where clients connect."""
        return self.places["shared"]

    @property
    def narrow_place(self) -> str:
        """Where producers get less credit."""
        return self.places["narrow"]

    @property
    def dedicated_place(self) -> str:
        """Where clients have an actor of their own."""
        return self.places["dedicated"]

    @property
    def is_on_ray(self) -> bool:
        """Whether it has connection actors."""
        return "--in-process" not in self.form

    def cpu_s(self) -> float:
        """Return the processor time that the router and all the processes that it started have used."""
        return family_cpu_s(self._process.pid)

    def memory_bytes(self) -> int:
        """Return what the router and all the processes that it started hold for themselves alone."""
        return sum(_sum_of(pid, r"Private_\w+") for pid in self._family())

    def total_memory_bytes(self) -> int:
        """Return the memory of all these processes, with their shares of what they have in common."""
        return sum(_sum_of(pid, "Pss") for pid in self._family())

    def actors(self) -> dict[str, Process]:
        """Return the processes of its actors by their roles."""
        signs = {path.stem: read_sign(str(path)) for path in Path(self._runtime.name).glob("*.pulse")}
        return {role: sign.process for role, sign in signs.items() if sign is not None}

    def _family(self) -> list[int]:
        return [self._process.pid, *(process.pid for process in descendants(self._process.pid))]

    def _await_places(self) -> dict[str, str]:
        give_up_at = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < give_up_at:
            log = self._log.read_text()
            if "Operational" in log:
                return {name: place for place, name in re.findall(r"Listening on (\S+) \((\w+)\)", log)}
            if self._process.poll() is not None:
                break
            time.sleep(_POLL_S)
        raise RouterDidNotStart(self._end_of_log())

    def _await_the_others(self) -> None:
        """Wait for the actors that begin when the router is ready: they are not what is measured."""
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not {ENGINE, MANAGEMENT} <= self.actors().keys():
            if time.monotonic() > give_up_at or self._process.poll() is not None:
                raise RouterDidNotStart(self._end_of_log())
            time.sleep(_POLL_S)

    def _end_of_log(self) -> str:
        return "".join(self._log.read_text().splitlines(keepends=True)[-15:])


def family_cpu_s(pid: int) -> float:
    """Return the processor time that a process and all that it started have used."""
    return sum(map(_cpu_s, [pid, *(process.pid for process in descendants(pid))]))


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _sum_of(pid: int, kind: str) -> int:
    try:
        sums = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(number) for number in re.findall(rf"^{kind}:\s+(\d+) kB", sums, re.M)) * _KIB
