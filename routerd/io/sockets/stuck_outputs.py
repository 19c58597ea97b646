"""Peers that do not read while much waits for them; the router does not read from them either.

Two routers could wait for each other to read. So a peer that has read nothing for `STUCK_S` is cut off.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar

STUCK_S = 60.0
"""What a peer gets to read anything of what waits for it."""


class Stuck(Protocol):
    """What is looked at of a connection."""

    @property
    def buffered_octets(self) -> int:
        """How much waits to be written, to which nothing is added meanwhile."""


T = TypeVar("T", bound=Stuck)


class StuckOutputs:
    """The connections of a worker from which nothing is read, and how much waited when they were last looked at."""

    def __init__(self) -> None:
        self._seen: dict[Stuck, tuple[int, float]] = {}
        """How much waited when some of it was last read, and when that was."""

    def look(self, choked: Iterable[T], now: float) -> list[T]:
        """Return those of them whose peers have read nothing for too long."""
        before, self._seen = self._seen, {}
        stuck: list[T] = []
        for one in choked:
            octets = one.buffered_octets
            seen_octets, seen_at = before.get(one, (octets, now))
            if seen_octets != octets:
                seen_at = now
            self._seen[one] = (octets, seen_at)
            if now - seen_at >= STUCK_S:
                stuck.append(one)
        return stuck
