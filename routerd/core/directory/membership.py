"""What the workers of a router and its address table tell each other: plain values that can be pickled.

An attach may change an interest and wait until all know, so messages of many interests are pickled as columns, which
costs a fifth of what it would by object.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Interest:
    """How many consumers a worker has for an address; none any more with 0."""

    key: str
    consumers: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Interests of one worker: those that changed, or when it joins all that it has."""

    sequence: int
    """Counts up by one with each set of changes of an incarnation; a join says up to which it includes them."""
    interests: tuple[Interest, ...]

    def __reduce__(self) -> tuple[Callable[..., "Changes"], tuple[Any, ...]]:
        interests = self.interests
        return _changes, (self.sequence, [one.key for one in interests], [one.consumers for one in interests])


@dataclass(frozen=True, slots=True)
class Sibling:
    """A member: one worker of this router."""

    worker: int
    incarnation: int
    """Another one at each start of the worker."""
    endpoint: str
    """Where its fabric listens."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What a member of the table has to learn to know its version."""

    version: tuple[int, int]
    """The table's epoch and its count of changes."""
    is_full: bool
    """Stands in for all that was known before."""
    siblings: tuple[Sibling, ...] | None
    """All members, when one of them came, went or changed, and in a full delta. An incarnation that is not among them
    has lost its interests."""
    interests: tuple[tuple[int, Interest], ...]
    """The workers and what they want now."""

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
