"""A worker's part of the ledger: the connections that count, and requests that wait for an answer.

A single worker has the ledger itself and gets each answer at once. Several workers send a `Report` of changes at the
end of a turn, one at a time, and get a `Verdict` later. A full report follows a report that was lost.
"""

from collections import deque
from collections.abc import Callable

from routerd.core.policy.ledger import Ledger, Report, Seat, SeatLimits, Verdict

Decided = Callable[[int, str | None], None]
"""Gets the decision on a connection: None, or the reason of its refusal."""
Resume = Callable[[bool], None]
"""Continues with an accepted socket, or ends it."""


class Account:
    """The connections and accepted sockets of a worker."""

    def __init__(self, max_connections: int, decided: Decided, *, is_alone: bool) -> None:
        self.max_connections = max_connections
        self._ledger = Ledger(max_connections) if is_alone else None
        self._decided = decided
        self._seats: dict[int, Seat] = {}
        self._asked: dict[int, tuple[Seat, SeatLimits]] = {}
        self._came: dict[int, Seat] = {}
        self._gone: list[int] = []
        self.sockets = 0
        """The accepted sockets that are open."""
        self._allowance = max_connections if is_alone else 0
        self._waiting: deque[Resume] = deque()
        self._recalls = 0
        self._is_tight = False
        """Other workers need every free socket."""
        self._is_full_due = not is_alone
        self._is_due = False
        self._reported: Report | None = None

    # --- connections

    def ask(self, seat: Seat, limits: SeatLimits) -> tuple[bool, str | None]:
        """Return whether the decision on a connection is made, and the reason of a refusal or None."""
        if self._ledger is not None:
            return True, self._ledger.admit(0, seat, limits)
        if self._cannot_bind(limits):
            self._seats[seat.connection] = self._came[seat.connection] = seat
            self._is_due = True
            return True, None
        self._asked[seat.connection] = (seat, limits)
        self._is_due = True
        return False, None

    def leave(self, connection: int) -> None:
        """Remove a connection, admitted or still waiting."""
        if self._ledger is not None:
            self._ledger.leave(0, connection)
            return
        was_asked = self._asked.pop(connection, None) is not None
        was_new = self._came.pop(connection, None) is not None
        was_there = self._seats.pop(connection, None) is not None
        if (was_there and not was_new) or was_asked:
            self._gone.append(connection)
            self._is_due = True

    def _cannot_bind(self, limits: SeatLimits) -> bool:
        return min(limits.total, limits.per_user, limits.per_host) >= self.max_connections

    # --- sockets

    def accept(self, resume: Resume) -> bool | None:
        """Return whether an accepted socket may stay; None means that `resume` gets the answer."""
        if self.sockets < self._allowance and not self._waiting:
            self.sockets += 1
            self._is_due = self._is_due or (self._ledger is None and self.sockets == self._allowance)
            return True
        if self._ledger is not None:
            return False
        self._waiting.append(resume)
        self._is_due = True
        return None

    def socket_closed(self) -> None:
        """Stop counting an accepted socket."""
        self.sockets -= 1
        self._is_due = self._is_due or self._is_tight

    def recall(self) -> int:
        """Give back the unused allowance; return the rest."""
        self._recalls += 1
        self._is_tight = True
        self._allowance = self.sockets
        return self._allowance

    # --- reports

    def renew(self) -> None:
        """Have a full report made: the ledger may be a new one."""
        if self._ledger is None:
            self._is_full_due = True

    def report(self) -> Report | None:
        """Return the report for the ledger, or None."""
        if self._reported is not None or not (self._is_due or self._is_full_due):
            return None
        seats = self._seats if self._is_full_due else self._came
        self._reported = Report(
            is_full=self._is_full_due,
            seats=tuple(seats.values()),
            gone=() if self._is_full_due else tuple(self._gone),
            asked=tuple(self._asked.values()),
            sockets=self.sockets + len(self._waiting),
            allowance=self._allowance,
            recalls=self._recalls,
        )
        self._came = {}
        self._gone = []
        self._is_full_due = self._is_due = False
        return self._reported

    def failed(self) -> None:
        """Note that the report may be lost."""
        self._reported = None
        self._is_full_due = True

    def answered(self, verdict: Verdict) -> None:
        """Apply the verdict on the last report."""
        report, self._reported = self._reported, None
        if report is None:
            return
        if verdict.recalls == self._recalls:
            self._allowance = verdict.allowance
            self._is_tight = self._is_tight and self._allowance <= report.sockets
            self._let_in(report.sockets)
        elif self._waiting:
            self._is_due = True
        for seat, _ in report.asked:
            if self._asked.pop(seat.connection, None) is None:
                # The connection has ended meanwhile and is reported as such.
                continue
            reason = verdict.refused.get(seat.connection)
            if reason is None:
                self._seats[seat.connection] = seat
            self._decided(seat.connection, reason)

    def _let_in(self, reported: int) -> None:
        # Sockets counted in the report have their answer; later ones do not.
        answered = max(0, reported - self.sockets)
        while self._waiting:
            may_stay = self.sockets < self._allowance
            if not may_stay and answered <= 0:
                self._is_due = True
                return
            answered -= 1
            self.sockets += may_stay
            self._waiting.popleft()(may_stay)
