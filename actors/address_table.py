"""The address table actor: hosts the authority on who wants which address, and tells each worker of the others."""

import asyncio
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

from actors.away_log import LogSink
from actors.errors import CallFailed, PeerGone
from actors.ledger_host import LedgerHost
from actors.peers import Engine, Member, TableNews, Version
from actors.plan import connection_role
from actors.process import Background, ProcessConfig, pulse_path, settle
from actors.watch import Watch, watch_far
from routerd.core import (
    AddressTable,
    Changes,
    CoreError,
    Delta,
    Interest,
    PolicySettings,
    Report,
    Sibling,
    StaleMember,
    Verdict,
)
from routerd.io import module_log

TELL_AGAIN_S = 0.1
INVITE_AGAIN_S = 0.5
INVITE_AGAIN_AT_MOST_S = 4.0
AWAIT_S = 5.0
"""How long a table that replaces another waits for all workers, before it tells those that have joined."""

_log = module_log("ROUTER_CORE")


class AddressTableActor:
    """Hosts the address table of the router, and the ledger of its connections.

    Owns which worker wants which address, who is a member, and how many connections count against limits. Nothing
    survives a restart: the new table has a higher epoch and invites all workers, who join with all that they have; they
    forward on meanwhile, by what they know, and learn of nobody's absence before all had the time to join. A call that
    failed may have been carried out. A worker repeats it, or joins when the table asks for that.
    """

    def __init__(
        self,
        epoch: int,
        process: ProcessConfig,
        members: Mapping[int, Member],
        engine: Engine,
        *,
        is_restart: bool = False,
        has_network: bool = False,
        max_connections: int = PolicySettings().max_connections,
    ) -> None:
        """`is_restart`: there has been a table before, by which the workers go on.

        `has_network`: other routers have to learn of the addresses of this one. `max_connections` is how many all
        workers may have accepted at a time.
        """
        self._table = AddressTable(epoch, awaited=members if is_restart else ())
        self._process = process
        self._reachable = members
        self._ledger_host = LedgerHost(max_connections, members)
        self._engine = engine
        self._background = Background()
        self._log_outlet = LogSink(process.log_socket)
        self._incarnations: dict[int, int] = {}
        self._told: set[tuple[int, int]] = set()
        """Workers and incarnations that are being told of a delta."""
        self._invited: set[int] = set()
        self._waiting: deque[tuple[Version, asyncio.Future[None]]] = deque()
        self._has_network = has_network
        self._engine_news = asyncio.Event()
        self._is_engine_behind = is_restart
        self._is_whole = asyncio.Event()
        """Nobody is awaited any more."""
        if not self._table.awaited:
            self._is_whole.set()

    def begin(self) -> None:
        """Invite the workers, and watch over the other actors. To be called in the event loop."""
        pulse = settle(self._process)
        self._ledger_host.begin()
        self._background.start("The watch", Watch(self._process, pulse).keep)
        self._background.start("Telling the routing engine", self._tell_engine)
        for worker in self._reachable:
            self._watch_far(worker)
            self._invite(worker)
        if self._table.awaited:
            self._background.run("Awaiting the workers", self._await)

    async def ready(self) -> None:
        """Return once calls are answered."""

    async def join(self, sibling: Sibling, everything: Changes) -> Version:
        """Make a worker a member; returns once every member knows its interests."""
        version = self._table.join(sibling, everything)
        if not self._table.awaited:
            self._is_whole.set()
        self._incarnations[sibling.worker] = sibling.incarnation
        _log.debug("Worker %d, incarnation %d, has joined", sibling.worker, sibling.incarnation)
        self._engine_news.set()
        return await self._known_by_all(version)

    async def update(self, worker: int, incarnation: int, batch: tuple[Changes, ...]) -> Version:
        """Take changes of a member, in their order; returns once every member knows them."""
        version = self._table.version
        try:
            for changes in batch:
                version = self._table.update(worker, incarnation, changes)
        finally:
            self._spread()
        if self._has_network:
            self._engine_news.set()
        return await self._known_by_all(version)

    async def report(self, worker: int, incarnation: int, report: Report) -> Verdict:
        """Take what a worker reports of the connections that count against limits, and answer what it asks."""
        return await self._ledger_host.answer(worker, incarnation, report)

    async def everything(self) -> TableNews:
        """Return the state for a routing engine that has just started; it gets changes from then on."""
        await self._is_whole.wait()
        self._is_engine_behind = False
        return self._news(True)

    async def take_log(self, role: str, octets: bytes) -> bool:
        """Pass on to the launcher what an actor on another node logs; whether there is a launcher."""
        return await self._log_outlet.write(role, octets)

    async def snapshot(self) -> Delta:
        """Return all that the table has."""
        return self._table.snapshot()

    async def describe(self) -> dict[str, Any]:
        """Return what the table is and how it is."""
        return {
            "version": self._table.version,
            "knownByAll": self._table.known_by_all(),
            "workers": sorted(self._reachable),
            "members": sorted(self._incarnations),
            "folder": self._process.folder,
        }

    def _spread(self) -> None:
        """Tell every member what it has not been told, unless that is being done."""
        for worker, incarnation in self._incarnations.items():
            if (worker, incarnation) not in self._told:
                self._told.add((worker, incarnation))
                self._background.run("Telling a worker", partial(self._tell, worker, incarnation))
        self._wake()

    async def _tell(self, worker: int, incarnation: int) -> None:
        try:
            while self._is_member(worker, incarnation):
                delta = self._table.delta_for(worker)
                if delta is None:
                    return
                await self._deliver(worker, incarnation, delta)
                self._wake()
        finally:
            self._told.discard((worker, incarnation))

    async def _deliver(self, worker: int, incarnation: int, delta: Delta) -> None:
        try:
            await self._reachable[worker].apply(incarnation, delta)
        except (PeerGone, StaleMember) as error:
            self._lose(worker, incarnation, error)
        except (CallFailed, CoreError) as error:
            _log.warning("Worker %d may not have been told of version %s: %s", worker, delta.version, error)
            await asyncio.sleep(TELL_AGAIN_S)
            if self._is_member(worker, incarnation):
                self._table.undelivered(worker, incarnation, delta.version)
        else:
            if self._is_member(worker, incarnation):
                self._table.acknowledge(worker, incarnation, delta.version)

    def _is_member(self, worker: int, incarnation: int) -> bool:
        return self._incarnations.get(worker) == incarnation

    def _lose(self, worker: int, incarnation: int, error: Exception) -> None:
        """End the membership of a worker that has gone, so that nobody waits for it any more."""
        if not self._is_member(worker, incarnation):
            return
        _log.warning("Worker %d has left: %s", worker, error)
        del self._incarnations[worker]
        self._ledger_host.lose(worker)
        self._table.leave(worker, incarnation)
        self._engine_news.set()
        self._invite(worker)
        self._spread()

    async def _known_by_all(self, version: Version) -> Version:
        self._spread()
        if self._table.known_by_all() < version:
            known = asyncio.get_running_loop().create_future()
            self._waiting.append((version, known))
            await known
        return version

    def _wake(self) -> None:
        known = self._table.known_by_all()
        while self._waiting and self._waiting[0][0] <= known:
            future = self._waiting.popleft()[1]
            if not future.done():
                future.set_result(None)

    def _invite(self, worker: int) -> None:
        if worker not in self._invited:
            self._invited.add(worker)
            self._background.run("Inviting a worker", partial(self._keep_inviting, worker))

    async def _keep_inviting(self, worker: int) -> None:
        pause_s = INVITE_AGAIN_S
        try:
            while worker not in self._incarnations:
                try:
                    await self._reachable[worker].invite()
                except CallFailed as error:
                    _log.debug("Worker %d cannot be invited: %s", worker, error)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, INVITE_AGAIN_AT_MOST_S)
        finally:
            self._invited.discard(worker)

    async def _await(self) -> None:
        """Tell members of each other once all workers have joined, or should have."""
        try:
            await asyncio.wait_for(self._is_whole.wait(), AWAIT_S)
        except TimeoutError:
            late = ", ".join(map(str, sorted(self._table.awaited)))
            _log.warning("The router goes on without workers that have not joined in %g s: %s", AWAIT_S, late)
            self._table.await_no_more()
            self._is_whole.set()
            self._spread()

    async def _tell_engine(self) -> None:
        # An engine that was told of some workers only would take the trunks of the others for lost.
        await self._is_whole.wait()
        while True:
            await self._engine_news.wait()
            self._engine_news.clear()
            try:
                await self._engine.learn(self._news(self._is_engine_behind))
                self._is_engine_behind = False
            except CallFailed as error:
                _log.debug("The routing engine could not be told of the router's addresses: %s", error)
                self._is_engine_behind = True
                await asyncio.sleep(TELL_AGAIN_S)
                self._engine_news.set()

    def _news(self, is_full: bool) -> TableNews:
        interests: tuple[Interest, ...] = ()
        if self._has_network:
            interests = self._table.totals() if is_full else self._table.take_totals()
        return TableNews(self._table.version, self._table.siblings, is_full, interests)

    def _watch_far(self, worker: int) -> None:
        role, member = connection_role(worker), self._reachable[worker]
        path = pulse_path(self._process.folder, role)

        def is_member() -> bool:
            return worker in self._incarnations

        def lose(failure: Exception) -> None:
            if worker in self._incarnations:
                self._lose(worker, self._incarnations[worker], failure)

        self._background.start("The watch over another host", partial(watch_far, role, member, path, is_member, lose))
