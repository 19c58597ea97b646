"""What a caller saw, and whether anything was lost."""

from collections import Counter
from dataclasses import dataclass, field

WHAT_IS_COUNTED = """\
calls      requests that a caller had to make, each with a sum that it knows; answered once the right sum is there
repeated   sent again by its caller, since the request came back released (it never left) or modified (it may have been
           served), or since the caller's own connection was lost before it heard of it
pause      the longest time without an answer; calls go on all the time
lost       accepted and not answered (a server accepts a request when the caller has accepted the answer), or open at
           the end with neither an answer nor an outcome; also what was answered wrongly or rejected
"""


@dataclass(slots=True)
class Account:
    """Counts of one caller, over all or since `begin`."""

    calls: int = 0
    answered: int = 0
    answered_by: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    """By why: released, modified, connection lost."""
    accepted_unanswered: int = 0
    rejected: int = 0
    wrong: int = 0
    open: int = 0
    """Neither answered nor given back, at the end."""
    worst_pause_s: float = 0.0

    @property
    def lost(self) -> int:
        """How much is not as it should be."""
        return self.accepted_unanswered + self.rejected + self.wrong + self.open

    def add(self, other: "Account") -> None:
        """Add what another account has."""
        self.calls += other.calls
        self.answered += other.answered
        self.answered_by += other.answered_by
        self.repeated += other.repeated
        self.accepted_unanswered += other.accepted_unanswered
        self.rejected += other.rejected
        self.wrong += other.wrong
        self.open += other.open
        self.worst_pause_s = max(self.worst_pause_s, other.worst_pause_s)

    def text(self) -> str:
        """Return it as a line."""
        by = ", ".join(f"{name} {count}" for name, count in sorted(self.answered_by.items()))
        why = ", ".join(f"{count} {reason}" for reason, count in sorted(self.repeated.items()))
        parts = [
            f"{self.calls} calls, {self.answered} answered ({by or 'by nobody'})",
            f"repeated {self.repeated.total()}" + (f" ({why})" if why else ""),
            f"worst pause {self.worst_pause_s * 1000:.0f} ms",
            f"lost {self.lost}",
        ]
        return ", ".join(parts)

    def faults(self) -> list[str]:
        """Return in words what was lost."""
        counts = {
            "accepted and not answered": self.accepted_unanswered,
            "rejected": self.rejected,
            "answered wrongly": self.wrong,
            "without an answer or an outcome": self.open,
        }
        return [f"{count} {what}" for what, count in counts.items() if count]
