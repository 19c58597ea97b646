"""Processes as the system knows them: by a number that another may have later, and the moment of their start."""

import os
import signal
from dataclasses import dataclass

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_STATE, _PARENT, _USER_TIME, _SYSTEM_TIME, _STARTED = 0, 1, 11, 12, 19
"""Where these are in /proc/PID/stat, behind the name of the program."""


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
    used_ticks: int
    """Processor time so far."""


def condition(pid: int) -> Condition | None:
    """Return how the process is that has this number."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The name of the program may have blanks and parentheses.
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    used = int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])
    return Condition(Process(pid, int(fields[_STARTED])), int(fields[_PARENT]), fields[_STATE], used)


def condition_of(process: Process) -> Condition | None:
    """Return how a process is; None when it has ended."""
    found = condition(process.pid)
    return None if found is None or found.process != process or found.state in "ZX" else found


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
