"""Virtual time: what is to happen and when, one source of randomness, and the record of what has happened."""

import heapq
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

TRACE_KEPT = 400
EVENTS_MAX = 2_000_000
"""More in one run means that something goes round in circles."""


class Broken(AssertionError):
    """Something that must always hold does not."""


class World:
    """The clock, and the events that are due."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 100.0
        self.trace: deque[str] = deque(maxlen=TRACE_KEPT)
        self.digest = 0
        self.events = 0
        self._queue: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0

    def note(self, text: str) -> None:
        """Record what happens."""
        line = f"{self.now:.4f} {text}"
        self.trace.append(line)
        for octet in line.encode():
            self.digest = (self.digest * 131 + octet) & 0xFFFFFFFF

    def chance(self, probability: float) -> bool:
        """Return True that often."""
        return self.random.random() < probability

    def later(self, seconds: float, call: Callable[..., None], *arguments: Any) -> float:
        """Have something happen; return when."""
        return self.at(self.now + seconds, call, *arguments)

    def at(self, time: float, call: Callable[..., None], *arguments: Any) -> float:
        """Have something happen at a time; what has the same time happens in the order of these calls."""
        self._count += 1
        heapq.heappush(self._queue, (time, self._count, call, arguments))
        return time

    def run_for(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self._queue and self._queue[0][0] <= end:
            self._next()
        self.now = end

    def run_until_quiet(self, seconds: float) -> None:
        """Let everything happen that is to happen; it has to come to an end in that time."""
        end = self.now + seconds
        while self._queue:
            if self._queue[0][0] > end:
                raise Broken(f"there is no quiet after {seconds:g} s: {self._queue[0][2]} is still due")
            self._next()

    def _next(self) -> None:
        self.now, _, call, arguments = heapq.heappop(self._queue)
        self.events += 1
        if self.events > EVENTS_MAX:
            raise Broken(f"there is no end to the events; the next is {call}")
        call(*arguments)


class Channel:
    """Calls from one actor to another: each takes its time, and none overtakes another."""

    def __init__(self, world: World, longest: float = 0.02) -> None:
        self._world = world
        self._longest = longest
        self._last = 0.0
        self.is_closed = False

    def send(self, call: Callable[..., None], *arguments: Any) -> None:
        """Have a call arrive, unless the channel is closed before."""
        world = self._world
        self._last = max(self._last, world.now + world.random.uniform(0.0002, self._longest))
        world.at(self._last, self._arrive, call, arguments)

    def _arrive(self, call: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if not self.is_closed:
            call(*arguments)
