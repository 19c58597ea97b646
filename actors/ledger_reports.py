"""What a connection actor tells the ledger of its connections: one report at a time, each with its answer."""

import asyncio
from collections import deque
from collections.abc import Callable

from actors.errors import CallFailed
from actors.peers import Table
from routerd.core import CoreError, Report
from routerd.io import Worker, module_log

TELL_AGAIN_S = 0.1

_log = module_log("POLICY")


class LedgerReports:
    """Carries reports to the ledger, and what it says back to the worker."""

    def __init__(self, index: int, table: Table, worker_now: Callable[[], Worker | None]) -> None:
        self._index = index
        self._table = table
        self._worker_now = worker_now
        self._waiting: deque[tuple[int, Report]] = deque()
        self._news = asyncio.Event()

    def take(self, incarnation: int, report: Report) -> None:
        """Have a report told; in the event loop."""
        self._waiting.append((incarnation, report))
        self._news.set()

    async def keep_telling(self) -> None:
        """Tell the ledger whatever comes, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                await self._tell(*self._waiting.popleft())

    async def _tell(self, incarnation: int, report: Report) -> None:
        while (worker := self._worker_now()) is None:
            await asyncio.sleep(TELL_AGAIN_S)
        if worker.config.incarnation != incarnation:
            # Of one that could not listen.
            return
        try:
            verdict = await self._table.report(self._index, incarnation, report)
        except (CallFailed, CoreError) as error:
            _log.debug("The ledger could not be told: %s", error)
            await asyncio.sleep(TELL_AGAIN_S)
            await asyncio.wrap_future(worker.report_failed())
        else:
            await asyncio.wrap_future(worker.take_verdict(verdict))
