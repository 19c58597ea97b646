"""The TLS handshakes that a worker has under way. Their number is limited, and a turn takes one step of one of them.

A handshake takes as long as forwarding a thousand messages. Many clients that come at once must not hold up those that
are there, so between two steps all sockets have their turns.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

HANDSHAKES_MAX = 2048
"""Handshakes at a time; each takes some ten KiB until it is over."""


class Handshaking(Protocol):
    """A connection before the end of its handshake."""

    def step(self) -> None:
        """Continue with the octets that have come."""

    def give_up(self, reason: str) -> None:
        """End the connection."""


class Handshakes:
    """The handshakes of one worker, oldest first."""

    def __init__(self, call_soon: Callable[[Callable[[], None]], object], most: int = HANDSHAKES_MAX) -> None:
        self._call_soon = call_soon
        self._most = most
        self._under_way: dict[Handshaking, None] = {}
        self._waiting: deque[Handshaking] = deque()

    def begin(self, connection: Handshaking) -> None:
        """Add a connection; if there are too many, the oldest is ended, which has had its time."""
        self._under_way[connection] = None
        if len(self._under_way) > self._most:
            oldest = next(iter(self._under_way))
            self.end(oldest)
            oldest.give_up(f"more than {self._most} handshakes of TLS are under way")

    def end(self, connection: Handshaking) -> None:
        """Forget a connection, known or not."""
        self._under_way.pop(connection, None)

    def step_soon(self, connection: Handshaking) -> None:
        """Let a connection continue when it is its turn."""
        self._waiting.append(connection)
        if len(self._waiting) == 1:
            self._call_soon(self._step)

    def _step(self) -> None:
        connection = self._waiting.popleft()
        if self._waiting:
            self._call_soon(self._step)
        if connection in self._under_way:
            connection.step()
