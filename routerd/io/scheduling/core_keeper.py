"""Chooses the core for a busy loop: one that no other loop uses, as long as there are enough.

The system leaves a thread where it last ran, and wakes its readers on the same core. So two actors that talk to each
other share a core in the end, while the clients' core idles. A loop that has to wait therefore claims a core and keeps
it while it is busy. Each second it checks whether another one is better.
"""

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

BUSY = 0.3
"""The share of its time in which a loop has to run, or to wait for a core, before its core matters."""
DELAYED = 0.1
"""The share of its time for which it may wait for its core."""
IDLE = 0.2
"""The share of its time in which another core has to idle, to be better than the present one."""
QUIET_LOOKS = 10
"""The number of checks with little work after which any core will do again."""
PATIENCE_MAX = 64
"""The greatest number of checks without a move, after moves that did not help."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The system's counters at a time, in seconds: the thread ran and waited, and cores idled."""

    at: float
    ran: float
    waited: float
    idle: Mapping[int, float] = field(default_factory=dict)


class Cores(Protocol):
    """The cores that this thread may run on."""

    def allowed(self) -> frozenset[int]:
        """Return the cores that it may use."""

    def sample(self) -> Sample | None:
        """Return the counters; None if the system has none."""

    def take(self, core: int) -> bool:
        """Run only on this core, and leave an earlier one; false if another loop has taken it."""

    def leave(self) -> None:
        """Run anywhere again."""


class SystemCores:
    """The cores as Linux knows them, used in the thread that they are for.

    A loop claims a core by the name of a socket, among the loops of all routers of this host. The system gives a name
    to one socket at a time, and frees it with the socket. Nobody can connect to it.
    """

    _TICK_S = 1 / os.sysconf("SC_CLK_TCK")
    _CLAIM = "\0mobula/core/{}"

    def __init__(self) -> None:
        self._allowed = frozenset(os.sched_getaffinity(0))
        self._claim: socket.socket | None = None

    def allowed(self) -> frozenset[int]:
        """Return the cores that this thread might use when this object was made."""
        return self._allowed

    def sample(self) -> Sample | None:
        """Read the counters of this thread, and the idle time of each core."""
        try:
            ran, waited, *_ = Path("/proc/thread-self/schedstat").read_text().split()
            idle = {}
            for line in Path("/proc/stat").read_text().splitlines():
                name, *counts = line.split()
                if name.startswith("cpu") and name != "cpu":
                    # Waiting for a disk counts as idle.
                    idle[int(name[3:])] = (int(counts[3]) + int(counts[4])) * self._TICK_S
            return Sample(time.monotonic(), int(ran) / 1e9, int(waited) / 1e9, idle)
        except (OSError, ValueError):
            return None

    def take(self, core: int) -> bool:
        """Claim a core, and run only there; false if it is claimed, or may not be used any more."""
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            claim.bind(self._CLAIM.format(core))
            os.sched_setaffinity(0, {core})
        except OSError:
            claim.close()
            return False
        self._drop_claim()
        self._claim = claim
        return True

    def leave(self) -> None:
        """Run anywhere again, and release the core."""
        self._drop_claim()
        use_all_cores()

    def _drop_claim(self) -> None:
        if self._claim is not None:
            self._claim.close()
            self._claim = None


_all = frozenset(os.sched_getaffinity(0))


def use_all_cores() -> None:
    """Let this thread run on all cores of the process. A thread starts with the cores of its parent."""
    # The process may have fewer cores since.
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, _all)


class CoreKeeper:
    """Finds a core for the thread that calls `look`, as far as there are enough."""

    def __init__(self, cores: Cores) -> None:
        self._cores = cores
        self._allowed = cores.allowed()
        self._last: Sample | None = None
        self._home: int | None = None
        self._quiet = 0
        self._rest = 0
        self._patience = 1
        self._waited_before: float | None = None

    @property
    def home(self) -> int | None:
        """The core that the thread is on now."""
        return self._home

    def look(self) -> None:
        """Check the time since the last check, and move if that is better."""
        if len(self._allowed) < 2:
            return
        last, self._last = self._last, self._cores.sample()
        now = self._last
        if last is None or now is None or now.at <= last.at:
            return
        span = now.at - last.at
        waited = (now.waited - last.waited) / span
        if (now.ran - last.ran) / span + waited < BUSY:
            self._be_quiet()
            return
        self._quiet = 0
        self._judge(waited)
        if self._rest > 0:
            self._rest -= 1
        elif waited > DELAYED:
            idle = {core: (now.idle[core] - last.idle.get(core, now.idle[core])) / span for core in now.idle}
            self._move(waited, idle)

    def close(self) -> None:
        """Release the core."""
        if self._home is not None:
            self._home = None
            self._cores.leave()

    def _be_quiet(self) -> None:
        self._quiet += 1
        if self._quiet >= QUIET_LOOKS:
            self.close()

    def _judge(self, waited: float) -> None:
        """Check whether the last move has helped; if not, the next one comes later."""
        before, self._waited_before = self._waited_before, None
        if before is not None:
            self._patience = 1 if waited < before / 2 else min(2 * self._patience, PATIENCE_MAX)
            self._rest = self._patience

    def _move(self, waited: float, idle: Mapping[int, float]) -> None:
        # The first core only keeps the thread from being moved by the system; it need not idle.
        least = 0.0 if self._home is None else IDLE
        better = [core for core in self._allowed if core != self._home and idle.get(core, 0.0) >= least]
        for core in sorted(better, key=lambda one: (-idle.get(one, 0.0), one)):
            if self._cores.take(core):
                self._waited_before = waited
                self._home = core
                return
