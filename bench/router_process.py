"""A router for a benchmark: started from a generated configuration on ports of its own choice, and ended with it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

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
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
}
listener {
    name: dedicated
    host: 127.0.0.1
    port: 0
    authenticatePeer: no
    saslMechanisms: ANONYMOUS
    dedicatedActor: yes
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
    """A router under measurement; it listens at `place`, and with an actor of its own at `dedicated_place`."""

    def __init__(self, *form: str) -> None:
        self.form = form
        self._folder = tempfile.TemporaryDirectory(prefix="bench-router-")
        self._log = Path(self._folder.name, "log")
        configuration = Path(self._folder.name, "router.conf")
        configuration.write_text(CONFIGURATION)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "routerd.cli.routerd", "-c", str(configuration), *form],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self.place, self.dedicated_place = self._await_places()
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

    @property
    def is_on_ray(self) -> bool:
        """Whether it has connection actors."""
        return "--in-process" not in self.form

    def cpu_s(self) -> float:
        """Return the processor time that the router and all the processes that it started have used."""
        return sum(map(_cpu_s, _with_descendants(self._process.pid)))

    def memory_bytes(self) -> int:
        """Return what the router and all the processes that it started hold for themselves alone."""
        return sum(map(_private_bytes, _with_descendants(self._process.pid)))

    def _await_places(self) -> tuple[str, str]:
        give_up_at = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < give_up_at:
            log = self._log.read_text()
            if "Operational" in log:
                places = dict(reversed(pair) for pair in re.findall(r"Listening on (\S+) \((\w+)\)", log))
                return places["shared"], places["dedicated"]
            if self._process.poll() is not None:
                break
            time.sleep(_POLL_S)
        raise RouterDidNotStart("".join(self._log.read_text().splitlines(keepends=True)[-15:]))


def _with_descendants(pid: int) -> list[int]:
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the process may hold anything; the fields behind it are counted from its last parenthesis.
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _private_bytes(pid: int) -> int:
    try:
        sums = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(number) for number in re.findall(r"^Private_\w+:\s+(\d+) kB", sums, re.M)) * _KIB
