"""The ledger of the router's connections, beside the address table: takes the reports of workers and answers them."""

import asyncio
from collections.abc import Mapping

from actors.errors import CallFailed
from actors.peers import Member
from routerd.core import CoreError, Ledger, Report, Verdict
from routerd.io import module_log

COMPLETE_WITHIN_S = 5.0
"""How long a new ledger waits for the reports of all workers; who has not reported by then has no connections."""

_log = module_log("POLICY")


class LedgerHost:
    """Hosts the ledger, in the event loop of its actor."""

    def __init__(self, max_connections: int, members: Mapping[int, Member]) -> None:
        self._ledger = Ledger(max_connections)
        self._members = members
        self._is_complete = asyncio.Event()

    def begin(self) -> None:
        """Wait for reports, and not for ever."""
        asyncio.get_running_loop().call_later(COMPLETE_WITHIN_S, self._is_complete.set)

    async def answer(self, worker: int, incarnation: int, report: Report) -> Verdict:
        """Return what the ledger says to a report, once everybody has reported. Raises MembershipError."""
        self._ledger.take(worker, incarnation, report)
        if self._ledger.workers >= self._members.keys():
            self._is_complete.set()
        await self._is_complete.wait()
        if self._ledger.lacks_sockets(worker):
            lenders = self._ledger.lenders(worker)
            await asyncio.gather(*(self._recall(other, of) for other, of in lenders))
        return self._ledger.decide(worker, incarnation, report)

    def lose(self, worker: int) -> None:
        """Do without a worker that has gone, and its connections."""
        self._ledger.forget(worker)

    async def _recall(self, worker: int, incarnation: int) -> None:
        try:
            kept = await self._members[worker].recall_sockets(incarnation)
        except (CallFailed, CoreError) as error:
            _log.debug("Worker %d does not give back what it may accept: %s", worker, error)
        else:
            self._ledger.recalled(worker, incarnation, kept)
