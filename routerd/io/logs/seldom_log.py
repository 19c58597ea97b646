"""A log that says what goes on and on once in a while: a line for each cause, and not for each time."""

import logging
from collections.abc import Callable
from math import inf

AGAIN_S = 60.0
"""After which time a cause is named again."""
CAUSES_MAX = 100
"""Causes that are told apart: what peers write may be part of one."""


class SeldomLog:
    """Says each cause once a minute at most, with how often it was there since."""

    def __init__(self, log: "logging.Logger | logging.LoggerAdapter[logging.Logger]", now: Callable[[], float]) -> None:
        self._log = log
        self._now = now
        self._said: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}

    def say(self, level: int, cause: str, text: str) -> None:
        """Log a text about a cause, unless that was said already."""
        now = self._now()
        if now - self._said.get(cause, -inf) < AGAIN_S:
            self._unsaid[cause] = self._unsaid.get(cause, 0) + 1
            return
        if cause not in self._said and len(self._said) >= CAUSES_MAX:
            oldest = min(self._said, key=self._said.__getitem__)
            del self._said[oldest]
            self._unsaid.pop(oldest, None)
        self._said[cause] = now
        count = self._unsaid.pop(cause, 0)
        self._log.log(level, "%s%s", text, f" (and {count} times more since this was last said)" if count else "")
