"""How often a router may tell all others of something."""

from math import inf


class Pace:
    """Allows a burst of announcements, and in the long run one in each gap."""

    def __init__(self, gap_s: float, burst: int) -> None:
        self._gap_s = gap_s
        self._ahead_s = (burst - 1) * gap_s
        self._used = -inf

    def earliest(self) -> float:
        """Return the time from which the next announcement may go."""
        return self._used - self._ahead_s

    def use(self, now: float) -> None:
        """Count an announcement."""
        self._used = max(self._used, now) + self._gap_s
