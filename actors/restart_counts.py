"""How often Ray has started the actors again that have no connections."""

import asyncio
from collections.abc import Mapping

from actors.errors import CallFailed
from actors.peers import Restartable
from actors.plan import MANAGEMENT


class RestartCounts:
    """Counts for the management actor. Each actor learns its own from Ray when it starts: no death loses any."""

    def __init__(self, own: int, others: Mapping[str, Restartable]) -> None:
        self._own = own
        self._others = others

    async def told(self) -> Mapping[str, int]:
        """Return the counts by role, without those of actors that do not answer."""
        answers = await asyncio.gather(*(_answer(other) for other in self._others.values()))
        found = {role: count for role, count in zip(self._others, answers, strict=True) if count is not None}
        return {**found, MANAGEMENT: self._own}


async def _answer(actor: Restartable) -> int | None:
    try:
        return await actor.restarts()
    except CallFailed:
        return None
