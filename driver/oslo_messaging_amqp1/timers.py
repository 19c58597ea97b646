"""What is to happen later, on the I/O thread."""

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(order=True, slots=True)
class Timer:
    """One thing to do at a time; it can be called off."""

    due_s: float
    number: int
    act: Callable[[], None] | None = field(compare=False)

    def cancel(self) -> None:
        """Call it off; nothing happens if it has been done already."""
        self.act = None


class Timers:
    """The timers of one connection."""

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._numbers = itertools.count()

    def at(self, due_s: float, act: Callable[[], None]) -> Timer:
        """Do something at a time of the monotonic clock."""
        timer = Timer(due_s, next(self._numbers), act)
        heapq.heappush(self._heap, timer)
        return timer

    def next_due_s(self) -> float | None:
        """Return when the next one is due."""
        while self._heap and self._heap[0].act is None:
            heapq.heappop(self._heap)
        return self._heap[0].due_s if self._heap else None

    def run(self, now_s: float) -> None:
        """Do everything that is due."""
        while self._heap and self._heap[0].due_s <= now_s:
            timer = heapq.heappop(self._heap)
            if timer.act is not None:
                timer.act()
