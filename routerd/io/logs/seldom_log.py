"""A log for repeated causes: each cause gets one line in a while, and not one each time."""

import logging
from collections.abc import Callable
from math import inf

AGAIN_S = 60.0
"""The time after which a cause is logged again."""
CAUSES_MAX = 100
"""Limit of the causes that are distinguished: text of peers may be part of them."""


class SeldomLog:
    """Logs each cause once in `again_s` at most, with the number of repetitions since."""

    def __init__(
        self,
        log: "logging.Logger | logging.LoggerAdapter[logging.Logger]",
        now: Callable[[], float],
        *,
        again_s: float = AGAIN_S,
    ) -> None:
        self._log = log
        self._now = now
        self._again_s = again_s
        self._said: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}

    def say(self, level: int, cause: str, text: str) -> None:
        """Log a text for a cause, unless the cause was logged just now."""
        now = self._now()
        if now - self._said.get(cause, -inf) < self._again_s:
            self._unsaid[cause] = self._unsaid.get(cause, 0) + 1
            return
        if cause not in self._said and len(self._said) >= CAUSES_MAX:
            oldest = min(self._said, key=self._said.__getitem__)
            del self._said[oldest]
            self._unsaid.pop(oldest, None)
        self._said[cause] = now
        count = self._unsaid.pop(cause, 0)
        self._log.log(level, "%s%s", text, f" (and {count} times more since this was last said)" if count else "")
