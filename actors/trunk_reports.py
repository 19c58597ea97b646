"""What a connection actor tells the routing engine of its trunks: in their order, one call at a time."""

import asyncio
from collections.abc import Callable

from actors.errors import CallFailed
from actors.peers import Engine
from routerd.core import ControlArrived, TrunkEvent
from routerd.io import module_log

TELL_AGAIN_S = 0.1
CONTROLS_KEPT = 1000
"""Messages for a routing engine that is away: it passes on to others what it gets, and they ask for what they miss."""

_log = module_log("ROUTER")


class TrunkReports:
    """Keeps what could not be told: the trunks that opened and closed, and the last messages of the protocol."""

    def __init__(self, worker: int, engine: Engine, incarnation: Callable[[], int]) -> None:
        self._worker = worker
        self._engine = engine
        self._incarnation = incarnation
        self._waiting: list[TrunkEvent] = []
        self._news = asyncio.Event()

    def take(self, events: list[TrunkEvent]) -> None:
        """Have events told; in the event loop."""
        self._waiting.extend(events)
        self._news.set()

    async def keep_telling(self) -> None:
        """Tell the engine whatever comes, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                events, self._waiting = self._waiting, []
                try:
                    await self._engine.take_trunk_events(self._worker, self._incarnation(), events)
                except CallFailed as error:
                    _log.debug("The routing engine could not be told of trunks: %s", error)
                    self._waiting = _worth_keeping([*events, *self._waiting])
                    await asyncio.sleep(TELL_AGAIN_S)


def _worth_keeping(events: list[TrunkEvent]) -> list[TrunkEvent]:
    too_many = sum(isinstance(event, ControlArrived) for event in events) - CONTROLS_KEPT
    kept: list[TrunkEvent] = []
    for event in events:
        if isinstance(event, ControlArrived) and too_many > 0:
            too_many -= 1
        else:
            kept.append(event)
    return kept
