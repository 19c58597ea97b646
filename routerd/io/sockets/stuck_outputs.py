"""Peers that do not read while much output waits for them; the router does not read from them either.

Two routers could wait for each other to read. So a peer that has read nothing for `STUCK_S` is cut off.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar

STUCK_S = 60.0
"""The time for a peer to read any of its waiting output."""


class Stuck(Protocol):
    """The checked part of a connection."""

    @property
    def buffered_octets(self) -> int:
        """The octets that wait to be written; none are added meanwhile."""


T = TypeVar("T", bound=Stuck)


class StuckOutputs:
    """The connections of a worker whose sockets are not read, and their waiting octets at the last check."""

    def __init__(self) -> None:
        self._seen: dict[Stuck, tuple[int, float]] = {}
        """The waiting octets when some were last read, and the time of that."""

    def look(self, choked: Iterable[T], now: float) -> list[T]:
        """Return the connections whose peers have read nothing for too long."""
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
