"""Staying awake while there is much to do: where a thread sleeps, what comes next has to wake it first.

On virtual machines that takes as long as forwarding fifty messages, and clients wait for it. So after some work a loop
polls for more during a moment, and lets other threads run in between. It does so only while work comes so quickly that
it is mostly found in time. Otherwise it sleeps at once. It also sleeps at once while others want its core, and for a
moment after. A thread that polls is behind them in the queue for the core, and one that is woken is in front. Besides,
the system wakes no thread on a core where another one polls.
"""

from collections.abc import Callable
from os import sched_yield
from time import monotonic

SPAN_S = 200e-6
"""How soon one piece of work has to follow another for the loop to stay awake."""
PATIENCE = 2.5
"""For how many such spans it looks before it sleeps: whoever works in turns with others waits for all of them."""
CONTENDED_S = 4e-6
"""How long it takes at least to let another thread run; to find that there is none takes a fraction of that."""
REST_S = 500e-6
"""For how long it does not look again where another thread wanted its core."""
RECENT_S = 2e-3
"""How long ago there was work, at the most, where there is work all the time."""

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
        """Note that there was work to do."""
        if now - self._worked_at < self._span_s and not self._is_awake and now >= self._rest_until:
            self._is_awake = True
            self._call_soon(self._look)
        self._worked_at = now

    def look(self) -> None:
        """Stay awake for one more look of the loop at its sockets, if there was work lately and nobody else has any."""
        now = monotonic()
        self._is_awake = False
        if now - self._worked_at < self._patience_s:
            sched_yield()
            if monotonic() - now < _CONTENDED_S:
                self._is_awake = True
                # Behind what the loop finds ready now.
                self._call_soon(self._look)
            else:
                self._rest_until = now + _REST_S
