"""The deadlines of a worker's connections: one timer for all of them."""

import heapq
from collections.abc import Iterator
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from routerd.wire import Connection

NEVER = float("inf")
BLANKS_MIN = 64
"""Entries without a connection that are kept in any case."""


class Watched(Protocol):
    """The owner of a connection with deadlines."""

    deadline: float
    """The entered deadline, infinity for none."""

    @property
    def connection(self) -> Connection:
        """Tells its next deadline."""


T = TypeVar("T", bound=Watched)


class Deadlines(Generic[T]):
    """A heap of deadlines. If one moves to a later time, that is noticed when the earlier one is due."""

    def __init__(self) -> None:
        # Deadline, order of entry, connection; None for a connection that is over or has another entry now.
        self._heap: list[list[Any]] = []
        self._entries: dict[T, list[Any]] = {}
        self._order = count()

    def watch(self, transport: T) -> None:
        """Enter the deadline of a connection, unless an earlier one is entered already."""
        deadline = transport.connection.next_deadline()
        if deadline < transport.deadline:
            self.forget(transport)
            transport.deadline = deadline
            entry = self._entries[transport] = [deadline, next(self._order), transport]
            heapq.heappush(self._heap, entry)

    def forget(self, transport: T) -> None:
        """Forget a connection."""
        transport.deadline = NEVER
        entry = self._entries.pop(transport, None)
        if entry is None:
            return
        entry[2] = None
        heap = self._heap
        if len(heap) > BLANKS_MIN + 2 * len(self._entries):
            heap[:] = [one for one in heap if one[2] is not None]
            heapq.heapify(heap)

    def next(self) -> float:
        """Return the time of the next deadline, infinity for none."""
        return self._heap[0][0] if self._heap else NEVER

    def due(self, now: float) -> Iterator[T]:
        """Take out and yield the connections whose deadline has come; `watch` them again."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            transport = heapq.heappop(heap)[2]
            if transport is not None:
                del self._entries[transport]
                transport.deadline = NEVER
                yield transport
