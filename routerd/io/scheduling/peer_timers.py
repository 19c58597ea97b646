"""Time limits of peers: no peer is judged before its socket has been read.

If a process was stopped, its loop calls due timers before it polls its sockets. Octets that peers have sent in time lie
there. So a timer that judges a peer waits until the loop has read them and the engine has taken them. A peer that still
has to do something also gets back the time in which the loop could not serve it.
"""

import asyncio
import math
import time
from collections.abc import Callable

LATE_S = 1.0
"""A timer that is later than this was delayed: the loop, or the whole process, has stood still."""
_ROUNDS = 3
"""Turns of the loop. One may end before the poll of the sockets, the next takes the octets, then they are passed on."""


def after_reading(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *arguments: object) -> None:
    """Make a call once the octets in the sockets have been read and taken."""

    def go_round(left: int) -> None:
        if left:
            loop.call_soon(go_round, left - 1)
        else:
            call(*arguments)

    go_round(_ROUNDS)


async def all_is_read() -> None:
    """Wait until the octets in the sockets have been read and taken."""
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)


class Standstill:
    """Notices that a loop has stood still, by a late timer. It is asked before any other work."""

    def __init__(self) -> None:
        self._due = math.inf

    def expect(self, due: float) -> None:
        """Note the due time of the timer that is set now."""
        self._due = due

    def seconds(self, now: float) -> float:
        """Return the time that the loop has stood still, once; 0 if it did not."""
        late_s = now - self._due
        if late_s <= LATE_S:
            return 0.0
        self._due = now
        return late_s


class PeerTimer:
    """Makes a call when a peer's time is over, unless it is cancelled before."""

    __slots__ = ("_arguments", "_call", "_due", "_handle", "_loop", "_now", "_seconds")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        seconds: float,
        call: Callable[..., object],
        *arguments: object,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loop = loop
        self._seconds = seconds
        self._call: Callable[..., object] | None = call
        self._arguments = arguments
        self._now = now
        self._wait(seconds)

    def cancel(self) -> None:
        """Cancel the call."""
        self._call = None
        self._arguments = ()
        self._handle.cancel()

    def _wait(self, seconds: float) -> None:
        self._due = self._now() + seconds
        self._handle = self._loop.call_later(seconds, self._ring)

    def _ring(self) -> None:
        late_s = self._now() - self._due
        if late_s > LATE_S:
            self._wait(min(late_s, self._seconds))
        else:
            after_reading(self._loop, self._end)

    def _end(self) -> None:
        if self._call is not None:
            self._call(*self._arguments)
