"""Processes as /proc shows them: who descends from whom, what memory they have, and that they end."""

import os
import re
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
STEP_S = 0.01
RESET_PEAK = "5"


@dataclass(frozen=True, slots=True)
class Process:
    """A process that no other one is taken for, even when its number is used again."""

    pid: int
    started: int
    parent: int = field(default=0, compare=False)
    title: str = field(default="", compare=False)

    @property
    def is_running(self) -> bool:
        """Whether it is there, and no zombie."""
        found = _look_at(self.pid)
        return found is not None and found.started == self.started

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if it is there."""
        if self.is_running:
            os.kill(self.pid, number)

    def rss_bytes(self) -> int:
        """Return the memory that it has now."""
        return self._status_bytes("VmRSS")

    def peak_rss_bytes(self) -> int:
        """Return the most memory that it has had since `forget_peak`, or since its start."""
        return self._status_bytes("VmHWM")

    def forget_peak(self) -> None:
        """Begin to measure the peak again."""
        (PROC / str(self.pid) / "clear_refs").write_text(RESET_PEAK)

    def file_count(self) -> int:
        """Return how many files and sockets it has open."""
        return len(os.listdir(PROC / str(self.pid) / "fd"))

    def thread_states(self) -> set[str]:
        """Return the states that its threads are in, a letter for each."""
        stats = [(task / "stat").read_text() for task in (PROC / str(self.pid) / "task").iterdir()]
        return {stat.rpartition(")")[2].split()[0] for stat in stats}

    def cpu_s(self) -> float:
        """Return how much processor time it has had."""
        fields = _fields(self.pid)
        assert fields is not None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status_bytes(self, name: str) -> int:
        found = re.search(rf"^{name}:\s+(\d+) kB$", (PROC / str(self.pid) / "status").read_text(), re.M)
        assert found is not None
        return int(found[1]) << 10


def process(pid: int) -> Process:
    """Return the process of this number."""
    found = _look_at(pid)
    assert found is not None, f"there is no process {pid}"
    return found


def family_of(*roots: int) -> list[Process]:
    """Return processes and all that descend from them, parents first."""
    everybody = {
        found.pid: found for entry in PROC.iterdir() if entry.name.isdigit() and (found := _look_at(int(entry.name)))
    }
    family = {pid: everybody[pid] for pid in roots if pid in everybody}
    while more := {pid: one for pid, one in everybody.items() if one.parent in family and pid not in family}:
        family |= more
    return list(family.values())


def end_all(processes: Iterable[Process], within_s: float) -> list[Process]:
    """Kill what still runs when the time is over; return what had to be killed."""
    deadline = time.monotonic() + within_s
    left = list(processes)
    while (left := [one for one in left if one.is_running]) and time.monotonic() < deadline:
        time.sleep(STEP_S)
    for one in left:
        one.signal(signal.SIGKILL)
    return left


def _fields(pid: int) -> list[str] | None:
    """Return the fields of a process's stat behind its name, or None if it is gone or a zombie."""
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields


def _look_at(pid: int) -> Process | None:
    fields = _fields(pid)
    if fields is None:
        return None
    try:
        title = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process(pid, int(fields[19]), int(fields[1]), title)
