"""Claims: which of two attaches of one link is the later one.

Stamps are those of a hybrid logical clock: the time of the host in milliseconds, and a counter for what happens in
one. A stamp that was seen is below every stamp that is made later. The counter of the client's own attaches comes
before the stamp, since clocks of hosts differ.
"""

from typing import NamedTuple

AHEAD_MAX_MS = 3_600_000
"""A client's stamp that is further ahead of our clock is not taken over: it may say anything."""


class Stamp(NamedTuple):
    """A moment of the hybrid clock."""

    ms: int
    counter: int


class Claim(NamedTuple):
    """Says that a link was attached at a router; the greatest one holds."""

    attaches: int
    ms: int
    counter: int
    router: str

    @property
    def stamp(self) -> Stamp:
        """When the claim was made."""
        return Stamp(self.ms, self.counter)


ZERO = Stamp(0, 0)
NO_CLAIM = Claim(-1, 0, 0, "")


class HybridClock:
    """The clock of one router."""

    def __init__(self, router: str, wall_offset_s: float = 0.0) -> None:
        self._router = router
        self._wall_offset_s = wall_offset_s
        self.last = ZERO

    def read(self, now: float) -> Stamp:
        """Return a stamp after all others that were made or seen here."""
        ms = int((now + self._wall_offset_s) * 1000)
        self.last = Stamp(ms, 0) if ms > self.last.ms else Stamp(self.last.ms, self.last.counter + 1)
        return self.last

    def see(self, stamp: Stamp) -> None:
        """Take over a router's stamp."""
        if stamp > self.last:
            self.last = Stamp(*stamp)

    def see_of_client(self, stamp: Stamp | None, now: float) -> None:
        """Take over a client's stamp, unless it can't be true."""
        if stamp is not None and stamp.ms <= int((now + self._wall_offset_s) * 1000) + AHEAD_MAX_MS:
            self.see(stamp)

    def claim(self, attaches: int, now: float) -> Claim:
        """Return a claim for a link that attaches here now."""
        return Claim(attaches, *self.read(now), self._router)
