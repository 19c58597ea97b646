"""Answers to scrapes of a router's metrics.

They are made one after the other, in the process of management, where no messages pass. Figures gathered within
`FRESH_S` answer the next scrape, too. So many scrapers cost the router no more than one.
"""

import asyncio
import gzip
from collections.abc import Callable
from dataclasses import replace

from routerd.management import Backing, Metrics, MetricsQuery, MetricsText, Samples, Unanswered, metrics_text

FRESH_S = 0.5
WAITING_MAX = 8
"""Scrapes that may wait for the one under way; further ones are refused."""
_LEVEL = 1


class Scrapes:
    """Answers scrapes, in one event loop."""

    def __init__(self, backing: Backing, now: Callable[[], float]) -> None:
        self._metrics = Metrics(backing)
        self._now = now
        self._lock = asyncio.Lock()
        self._waiting = 0
        self._last: Samples = {}
        self._last_at = float("-inf")

    async def answer(self, query: MetricsQuery) -> MetricsText:
        """Return the text for a scrape; raises Unanswered."""
        if self._waiting > WAITING_MAX:
            raise Unanswered(f"{WAITING_MAX} scrapes wait already")
        self._waiting += 1
        try:
            async with self._lock:
                text = metrics_text(query, await self._gathered(query))
        finally:
            self._waiting -= 1
        return replace(text, body=gzip.compress(text.body, _LEVEL, mtime=0), is_gzip=True) if query.takes_gzip else text

    async def _gathered(self, query: MetricsQuery) -> Samples:
        if query.families:
            return await self._metrics.gather(query)
        if self._now() >= self._last_at + FRESH_S:
            self._last = await self._metrics.gather(query)
            self._last_at = self._now()
        return self._last
