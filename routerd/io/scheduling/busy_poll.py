"""Keeps a busy loop awake: if a thread sleeps, the next event has to wake it first.

On virtual machines that takes as long as forwarding fifty messages, and clients wait for it. So after some work a loop
polls for more during a moment, and lets other threads run in between. It does so only while work comes so quickly that
most of it is found in time. Otherwise it sleeps at once. It also sleeps at once while others want its core, and for a
moment after that. A polling thread is behind them in the queue for the core, and a thread that is woken is in front.
Besides, the system wakes no thread on a core where another one polls.
"""

from collections.abc import Callable
from os import sched_yield
from time import monotonic

SPAN_S = 200e-6
"""The longest time between two pieces of work for the loop to stay awake."""
PATIENCE = 2.5
"""The number of such spans before the loop sleeps: a loop that takes turns with others waits for all of them."""
CONTENDED_S = 4e-6
"""The least time that another thread takes if it runs; to find none takes a fraction of it."""
REST_S = 500e-6
"""The time without polls after another thread wanted its core."""
RECENT_S = 2e-3
"""The longest time since the last piece of work while the loop counts as busy."""

_CONTENDED_S = CONTENDED_S
_REST_S = REST_S
_RECENT_S = RECENT_S


class BusyPoll:
    """Keeps one event loop awake."""

    def __init__(self, call_soon: Callable[[Callable[[], None]], object], span_s: float = SPAN_S) -> None:
        self._call_soon = call_soon
        self._look = self.look
        self._span_s = span_s
        self._patience_s = PATIENCE * span_s
        self._worked_at = 0.0
        self._rest_until = 0.0
        self._is_awake = False

    def is_busy(self, now: float) -> bool:
        """Return whether there was work just now."""
        return now - self._worked_at < _RECENT_S

    def worked(self, now: float) -> None:
        """Note that there was work."""
        if now - self._worked_at < self._span_s and not self._is_awake and now >= self._rest_until:
            self._is_awake = True
            self._call_soon(self._look)
        self._worked_at = now

    def look(self) -> None:
        """Stay awake for one more poll of the sockets, if there was work lately and no other thread has any."""
        now = monotonic()
        self._is_awake = False
        if now - self._worked_at < self._patience_s:
            sched_yield()
            if monotonic() - now < _CONTENDED_S:
                self._is_awake = True
                # The next poll comes behind everything that is ready now.
                self._call_soon(self._look)
            else:
                self._rest_until = now + _REST_S
