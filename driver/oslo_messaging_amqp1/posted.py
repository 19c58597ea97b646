"""Messages that no thread waits for: replies. Each has a limit of time, all together one of number and size."""

import collections
import time
from collections.abc import Callable
from typing import Protocol

from .connection import Connection
from .outgoing import Outgoing
from .timers import Timer

Complain = Callable[[BaseException], None]

MESSAGES_LIMIT = 10_000
"""Messages that may wait at once; beyond, the oldest is given up."""
CHARACTERS_LIMIT = 64 * 1024 * 1024
"""Size of the bodies that may wait at once; beyond, the oldest is given up. One message may be larger."""


class Bus(Protocol):
    """Sends the messages."""

    def give_up(self, outgoing: Outgoing, why: str) -> None:
        """Fail a message, with how far it came."""

    def is_getting_on(self, outgoing: Outgoing) -> bool:
        """Return whether more of a large message was sent since the last call."""


class Posted:
    """Everything here is called with the lock of the connection held."""

    def __init__(self, connection: Connection, bus: Bus) -> None:
        self._connection = connection
        self._bus = bus
        # By limit: messages with the same limit are due in the order in which they came.
        self._waiting: dict[float, collections.OrderedDict[Outgoing, float]] = {}
        self._timer: Timer | None = None
        self._count = self._characters = 0
        self._when_empty: list[Callable[[], None]] = []

    def add(self, outgoing: Outgoing, limit_s: float, complain: Complain) -> None:
        """Keep a message that was just given to its sender, until it is done or its limit is over."""
        if outgoing.is_done:
            if outgoing.error is not None:
                complain(outgoing.error)
            return
        outgoing.when_done = lambda: self._done(outgoing, limit_s, complain)
        self._waiting.setdefault(limit_s, collections.OrderedDict())[outgoing] = time.monotonic() + limit_s
        self._count += 1
        self._characters += outgoing.size
        self._make_room(outgoing)
        if self._timer is None or time.monotonic() + limit_s < self._timer.due_s:
            self._set_timer()

    def _make_room(self, newest: Outgoing) -> None:
        while self._count > MESSAGES_LIMIT or (self._characters > CHARACTERS_LIMIT and self._count > 1):
            oldest, _ = min((next(iter(queue.items())) for queue in self._waiting.values()), key=lambda one: one[1])
            if oldest is newest:
                return
            limits = f"{MESSAGES_LIMIT} messages or {CHARACTERS_LIMIT >> 20} Mi characters"
            self._bus.give_up(oldest, f" is given up since more than {limits} wait to be sent")

    def _done(self, outgoing: Outgoing, limit_s: float, complain: Complain) -> None:
        queue = self._waiting[limit_s]
        del queue[outgoing]
        if not queue:
            del self._waiting[limit_s]
        self._count -= 1
        self._characters -= outgoing.size
        if outgoing.error is not None:
            complain(outgoing.error)
        if not self._count:
            told, self._when_empty = self._when_empty, []
            for tell in told:
                tell()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._count

    def when_empty(self, tell: Callable[[], None]) -> None:
        """Call a function as soon as nothing waits."""
        if self._count:
            self._when_empty.append(tell)
        else:
            tell()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due_s = min((next(iter(queue.values())) for queue in self._waiting.values()), default=None)
        self._timer = None if due_s is None else self._connection.later(due_s - time.monotonic(), self._expire)

    def _expire(self) -> None:
        now_s = time.monotonic()
        for limit_s, queue in list(self._waiting.items()):
            while queue:
                outgoing, due_s = next(iter(queue.items()))
                if due_s > now_s:
                    break
                if self._bus.is_getting_on(outgoing):
                    queue[outgoing] = now_s + limit_s
                    queue.move_to_end(outgoing)
                    continue
                self._bus.give_up(outgoing, f" was not over within {limit_s:g} s")
        self._set_timer()
