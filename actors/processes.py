"""Processes as the system knows them: by a number that another may have later, and the moment of their start."""

import contextlib
import os
import signal
from dataclasses import dataclass

_STATE, _PARENT, _STARTED = 0, 1, 19
"""Where these are in /proc/PID/stat, behind the name of the program."""
_GOES_ON = (b"R", b"D")
"""States of a thread that runs or would if it had a core, or that waits for a disk."""
_STAT_MAX = 4096


@dataclass(frozen=True, slots=True)
class Process:
    """One process, and no other that has its number later."""

    pid: int
    started: int
    """In ticks since the system was started."""


@dataclass(frozen=True, slots=True)
class Condition:
    """How a process is at one moment."""

    process: Process
    parent: int
    state: str
    """As the system puts it: R runs, S sleeps, T is stopped, t is traced, Z has ended."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Processor time of a process, in seconds since the starts of its threads."""

    had_s: float
    waited_s: float
    """The time for which threads that could go on had no core."""


def condition(pid: int) -> Condition | None:
    """Return how the process is that has this number."""
    try:
        fields = _stat(f"/proc/{pid}")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Condition(Process(pid, int(fields[_STARTED])), int(fields[_PARENT]), fields[_STATE].decode())


def _stat(folder: str) -> list[bytes]:
    """Return what the system tells of a process, or of a thread, in this folder."""
    with open(f"{folder}/stat", "rb", buffering=0) as file:
        # The name of the program may have blanks and parentheses.
        return file.read(_STAT_MAX).rpartition(b")")[2].split()


def condition_of(process: Process) -> Condition | None:
    """Return how a process is; None when it has ended."""
    found = condition(process.pid)
    return None if found is None or found.process != process or found.state in "ZX" else found


def demand_of(process: Process) -> Demand:
    """Return what its threads have had of processor time, and have waited for."""
    had_ns = waited_ns = 0
    for thread in _threads(process):
        # It may end meanwhile, and where the system does not count this, there is no file.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"{thread}/schedstat", encoding="ascii") as file:
                had, waited, _ = file.read().split()
            had_ns += int(had)
            waited_ns += int(waited)
    return Demand(had_ns / 1e9, waited_ns / 1e9)


def is_held_up(process: Process) -> bool:
    """Return whether a thread of it would go on now if the system let it.

    Its demand gets the time that such a thread waits when it runs at last, and none that a limit of the system takes.
    """
    for thread in _threads(process):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if _stat(thread)[_STATE] in _GOES_ON:
                return True
    return False


def _threads(process: Process) -> list[str]:
    """Return the folders in which the system tells of its threads."""
    folder = f"/proc/{process.pid}/task"
    try:
        return [f"{folder}/{thread}" for thread in os.listdir(folder)]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid: int) -> list[Process]:
    """Return the processes that a process has started, and those that these have started."""
    children: dict[int, list[Process]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        found = condition(int(name))
        if found is not None:
            children.setdefault(found.parent, []).append(found.process)
    result: list[Process] = []
    parents = [pid]
    while parents:
        found_here = children.get(parents.pop(), [])
        result += found_here
        parents += [process.pid for process in found_here]
    return result


def kill(process: Process) -> None:
    """End a process, unless it has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        if condition_of(process) is not None:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)
