"""When the connections of a worker want to be asked what time asks for: one timer for all of them."""

import heapq
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.io.transport import Transport

NEVER = float("inf")


class Deadlines:
    """A heap of deadlines; one that moved to a later time is only found out when the earlier one is due."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Transport]] = []
        self._order = count()

    def watch(self, transport: "Transport") -> None:
        """Enter the deadline of a connection, unless an earlier one is entered already."""
        deadline = transport.connection.next_deadline()
        if deadline < transport.deadline:
            transport.deadline = deadline
            heapq.heappush(self._heap, (deadline, next(self._order), transport))

    def next(self) -> float:
        """Return when to ask for what is due, infinity for never."""
        return self._heap[0][0] if self._heap else NEVER

    def due(self, now: float) -> "Iterator[Transport]":
        """Take out and yield the connections whose deadline has come; `watch` them again."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            deadline, _, transport = heapq.heappop(heap)
            if transport.deadline == deadline:
                transport.deadline = NEVER
                yield transport
