"""The messages between the workers of a router and its address table: plain values that can be pickled.

An attach may change an interest and wait until all workers know it. So messages with many interests are pickled as
columns, at a fifth of the cost of pickled objects.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Interest:
    """The number of consumers that a worker has for an address; 0 withdraws the interest."""

    key: str
    consumers: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Interests of one worker: the changed ones, or all of them in a join."""

    sequence: int
    """Increases by one with each set of changes of an incarnation. In a join it is that of the last set included."""
    interests: tuple[Interest, ...]

    def __reduce__(self) -> tuple[Callable[..., "Changes"], tuple[Any, ...]]:
        interests = self.interests
        return _changes, (self.sequence, [one.key for one in interests], [one.consumers for one in interests])


@dataclass(frozen=True, slots=True)
class Sibling:
    """A member: one worker of this router."""

    worker: int
    incarnation: int
    """A number that differs at each start of the worker."""
    endpoint: str
    """The address at which its fabric listens."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The changes that bring a member of the table to a version."""

    version: tuple[int, int]
    """The table's epoch and its count of changes."""
    is_full: bool
    """Whether it replaces all that was known before."""
    siblings: tuple[Sibling, ...] | None
    """All members, in a full delta or when one of them came, left or changed. An incarnation that is not among them has
    lost its interests.
    """
    interests: tuple[tuple[int, Interest], ...]
    """The workers and their present interests."""

    def __reduce__(self) -> tuple[Callable[..., "Delta"], tuple[Any, ...]]:
        columns = (
            [worker for worker, _ in self.interests],
            [one.key for _, one in self.interests],
            [one.consumers for _, one in self.interests],
        )
        return _delta, (self.version, self.is_full, self.siblings, *columns)


def _changes(sequence: int, keys: list[str], consumers: list[int]) -> Changes:
    return Changes(sequence, tuple(map(Interest, keys, consumers)))


def _delta(
    version: tuple[int, int],
    is_full: bool,
    siblings: tuple[Sibling, ...] | None,
    workers: list[int],
    keys: list[str],
    consumers: list[int],
) -> Delta:
    interests = tuple(zip(workers, map(Interest, keys, consumers), strict=True))
    return Delta(version, is_full, siblings, interests)
