"""The rule that decides when a watched process has to be ended, from observations and the time alone."""

from collections.abc import Callable

from actors.processes import Condition, Demand, Process
from actors.pulse import Sign

PERIOD_S = 0.5
"""The interval of beats, and of checks: wake-ups are most of the cost of an idle router."""
DOUBT_PERIOD_S = 0.1
"""The interval of checks of a process that has missed a beat."""
STOPPED_S = 0.2
"""The time that a process may be stopped: one that stands still delays the others."""
SILENT_S = 2.0
"""The time without a beat that is allowed to an idle process."""
BUSY_S = 10.0
"""The time without a beat that is allowed to a process that works: it may have thousands of connections to close."""
STARVED_S = 60.0
"""The time without a beat that is allowed to a process that would work, but gets no core: another in its place would
need more, and get none either."""
_BUSY_SHARE = 0.1
"""The share of a core above which a process works, or would."""


class Vigil:
    """A watcher's knowledge of one process. Times are those of the watcher's clock, in seconds."""

    def __init__(
        self,
        condition_of: Callable[[Process], Condition | None],
        demand_of: Callable[[Process], Demand],
        is_held_up: Callable[[Process], bool],
    ) -> None:
        self._condition_of = condition_of
        self._demand_of = demand_of
        self._is_held_up = is_held_up
        self._sign: Sign | None = None
        self._seen_at = 0.0
        self._missed_at: float | None = None
        """The beginning of the silence, once a beat has been missed."""
        self._measured_at: float | None = None
        """The time at which the demand was read, once the process stayed silent."""
        self._demand = Demand(0.0, 0.0)
        self._held_up_at: float | None = None
        """The last time at which it would have gone on, had it been let; looked at when it has been silent for long."""
        self._stopped_at: float | None = None

    def see(self, sign: Sign | None, now: float) -> str | None:
        """Take what is seen now; return why the process must be ended, if it must.

        How it is, and what it has done with processor time, is asked for only when a beat has been missed.
        """
        late_s = now - self._seen_at - PERIOD_S
        self._seen_at = now
        has_beaten, self._sign = sign != self._sign, sign
        condition = None if sign is None or has_beaten else self._condition_of(sign.process)
        if condition is None:
            # It lives, or has not begun; or it has ended, and Ray knows.
            self._missed_at = self._stopped_at = None
            return None
        if late_s > PERIOD_S:
            self._forgive(late_s)
        return self._stopped(condition, now) or self._silent(condition, now)

    @property
    def is_in_doubt(self) -> bool:
        """Whether the process has missed a beat."""
        return self._missed_at is not None

    def _forgive(self, late_s: float) -> None:
        """Leave out a time in which the watcher did not run either: the whole host may have stood still."""
        if self._missed_at is not None:
            self._missed_at += late_s
        if self._measured_at is not None:
            self._measured_at += late_s
        if self._held_up_at is not None:
            self._held_up_at += late_s
        if self._stopped_at is not None:
            self._stopped_at += late_s

    def _stopped(self, condition: Condition, now: float) -> str | None:
        if condition.state != "T":
            self._stopped_at = None
        elif self._stopped_at is None:
            self._stopped_at = now
        elif now - self._stopped_at >= STOPPED_S:
            return f"it has been stopped for {now - self._stopped_at:.1f} s"
        return None

    def _silent(self, condition: Condition, now: float) -> str | None:
        if self._missed_at is None:
            # Beats come as often as checks, so one is often a moment late. Its threads are many files to read.
            self._missed_at, self._measured_at, self._held_up_at = now, None, None
            return None
        if self._measured_at is None:
            self._measured_at, self._demand = now, self._demand_of(condition.process)
            return None
        silent_s = now - self._missed_at
        # A traced process is under a debugger.
        if condition.state == "t" or silent_s < SILENT_S:
            return None
        allowed_s, wanted_share = self._allowance(condition, now)
        if silent_s < allowed_s:
            return None
        return f"it has given no sign of life for {silent_s:.1f} s, and wanted {wanted_share:.0%} of a core"

    def _allowance(self, condition: Condition, now: float) -> tuple[float, float]:
        """Return how long it may be silent, by what it has had and wanted, and the share of a core that it wanted."""
        assert self._measured_at is not None, "it was silent before"
        demand = self._demand_of(condition.process)
        had_s, waited_s = demand.had_s - self._demand.had_s, demand.waited_s - self._demand.waited_s
        wanted_share = (had_s + waited_s) / (now - self._measured_at)
        if wanted_share >= _BUSY_SHARE:
            return BUSY_S if had_s >= waited_s else STARVED_S, wanted_share
        return STARVED_S if self._is_or_was_held_up(condition, now) else SILENT_S, wanted_share

    def _is_or_was_held_up(self, condition: Condition, now: float) -> bool:
        if self._is_held_up(condition.process):
            self._held_up_at = now
            return True
        # It may need a turn or two until it beats.
        return self._held_up_at is not None and now - self._held_up_at < PERIOD_S
