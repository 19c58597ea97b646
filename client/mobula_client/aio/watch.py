"""Waiting for what a link becomes."""

import asyncio
from collections.abc import Callable

from mobula_client.links import RecoverableLink


class Watch:
    """Wakes those who wait whenever a link changes."""

    def __init__(self, link: RecoverableLink) -> None:
        self._waiters: set[asyncio.Future[None]] = set()
        link.on_change = self.wake

    def wake(self) -> None:
        """Have all who wait look again."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def until(self, claim: Callable[[], bool]) -> None:
        """Wait until a claim holds."""
        while not claim():
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
