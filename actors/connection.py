"""The connection actor: a worker with its connections, in a separate process."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from actors.away_log import AwayLog
from actors.errors import CallFailed
from actors.ledger_reports import LedgerReports
from actors.management_requests import ManagementRequests
from actors.peers import Engine, Management, Table, Version
from actors.process import Background, ProcessConfig, clear_sockets, settle
from actors.trunk_reports import TrunkReports
from actors.watch import Watch
from routerd.core import Changes, CoreError, Delta, NetworkNews, Report, StaleMember, TrunkEvent
from routerd.io import ListenFailed, ManagedWorker, MemberGone, NetworkView, Worker, WorkerConfig, module_log
from routerd.management import Configuration, MetricsQuery, MetricsText, Unanswered

LISTEN_AGAIN_S = 1.0
CONFIGURATION_S = 2.0
"""The time to wait for the present configuration, before clients are served by that of the start."""
TELL_AGAIN_S = 0.25
PENDING_MAX = 1000
"""Sets of changes that are kept for an absent table; beyond that, joining it again costs less."""

_log = module_log("SERVER")


class ConnectionActor:
    """Hosts one worker of the router.

    It owns the worker's connections, links and deliveries. It also owns changes that some workers may not have learned
    yet. Only the ports survive a restart, as the launcher keeps them. Clients connect again, and a new incarnation
    joins the table with their links. A call that failed may have been carried out; each can be made again.
    """

    def __init__(
        self,
        config: WorkerConfig,
        process: ProcessConfig,
        table: Table,
        management: Management,
        engine: Engine,
        configuration: Configuration,
        *,
        new_incarnation: Callable[[], int],
        leave: Callable[[], None],
    ) -> None:
        self._config = config
        self._process = process
        self._table = table
        self._management = management
        self._requests = ManagementRequests(management)
        self._trunk_reports = TrunkReports(config.index, engine, lambda: self._running().config.incarnation)
        self._ledger_reports = LedgerReports(config.index, table, lambda: self._worker)
        self._configuration = configuration
        """The configuration at the start of the router; the worker has the present one."""
        self._managed: ManagedWorker | None = None
        self._new_incarnation = new_incarnation
        self._leave = leave
        self._background = Background()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Worker | None = None
        self._listening: list[str] = []
        self._failure: ListenFailed | None = None
        self._has_tried = asyncio.Event()
        self._has_joined = asyncio.Event()
        self._news = asyncio.Event()
        self._pending: deque[Changes] = deque()
        self._is_join_due = True
        self._is_outdated = False
        self._known: Version = (0, 0)

    def begin(self) -> None:
        """Start to listen and to take part. It is called in the event loop, where both go on for ever."""
        if self._process.is_away and self._process.log_socket is not None:
            self._background.run("Passing on the log", AwayLog(self._process, self._table).forward)
        pulse = settle(self._process)
        self._loop = asyncio.get_running_loop()
        self._background.start("The watch", Watch(self._process, pulse, lambda: self._worker).keep)
        self._config = replace(self._config, role=self._process.role)
        self._background.start("The worker", self._work)
        self._background.start("Telling the routing engine", self._trunk_reports.keep_telling)
        self._background.start("Telling the ledger", self._ledger_reports.keep_telling)

    async def ready(self) -> list[str]:
        """Return the addresses of the listeners, once all workers know of this one; raises ListenFailed."""
        await self._has_tried.wait()
        if self._failure is not None:
            raise self._failure
        await self._has_joined.wait()
        return self._listening

    async def apply(self, incarnation: int, delta: Delta) -> Version:
        """Take news of the siblings; returns once messages are forwarded by them."""
        worker = self._incarnation(incarnation)
        if delta.version >= self._known:
            # Otherwise it was overtaken on its way by news of a table that was restarted since.
            self._known = delta.version
            await asyncio.wrap_future(worker.apply(delta))
        return delta.version

    async def invite(self) -> None:
        """Join the table, even if this worker believes that it is a member."""
        self._is_join_due = True
        self._news.set()

    async def recall_sockets(self, incarnation: int) -> int:
        """Give back the worker's unused allowance of sockets; return the number of sockets that it keeps."""
        return await asyncio.wrap_future(self._incarnation(incarnation).recall_sockets())

    async def network_view(self, incarnation: int) -> NetworkView:
        """Return the worker's knowledge of the network, and its trunks."""
        return await asyncio.wrap_future(self._incarnation(incarnation).network_view())

    async def learn_network(
        self, incarnation: int, news: list[NetworkNews], controls: list[tuple[int, bytes]]
    ) -> None:
        """Take news of the network, and messages to be sent on trunks."""
        await asyncio.wrap_future(self._incarnation(incarnation).learn_network(news, controls))

    async def ping(self) -> float:
        """Return the lag of the worker's loop in seconds."""
        return await asyncio.wrap_future(self._running().ping())

    async def manage(self, what: str, *arguments: Any) -> Any:
        """Do a request of the management actor; see `routerd.io.ManagedWorker`."""
        if self._managed is None:
            raise MemberGone(f"worker {self._config.index} does not run yet")
        return await self._managed.ask(what, *arguments)

    async def drain(self, grace_s: float) -> None:
        """Take nothing more, and wait for what is under way."""
        await asyncio.wrap_future(self._running().drain(grace_s))

    async def take_leave(self) -> None:
        """End the connections in order, once all actors have drained: their consumers serve the producers of others."""
        await asyncio.wrap_future(self._running().take_leave())

    def _running(self) -> Worker:
        if self._worker is None:
            raise CallFailed(f"worker {self._config.index}", "does not run yet")
        return self._worker

    def _incarnation(self, incarnation: int) -> Worker:
        worker = self._running()
        if worker.config.incarnation != incarnation:
            raise StaleMember(self._config.index, incarnation)
        return worker

    async def _work(self) -> None:
        """Run a worker, and report its changes to the table: one call at a time, with all changes since the last."""
        while self._worker is None:
            await self._listen()
        self._is_join_due = True
        self._news.set()
        while True:
            await self._news.wait()
            self._news.clear()
            while self._is_join_due or self._pending:
                await self._tell(self._worker)

    async def _listen(self) -> None:
        if self._config.fabric_folder is not None:
            clear_sockets(self._config.fabric_folder, self._config.index)
        configuration = await self._current_configuration()
        config = replace(self._config, incarnation=self._new_incarnation())
        if configuration.version > 0:
            config = config.configured(configuration)
        on_report = partial(self._on_report, config.incarnation) if config.workers > 1 else None
        worker = Worker(config, self._on_changes, self._ask, self._on_trunks, on_report, self._scrape)
        try:
            self._listening = await asyncio.to_thread(worker.start)
        except ListenFailed as failure:
            _log.error("Listener error on %s", failure)
            self._failure = failure
            self._has_tried.set()
            await asyncio.sleep(LISTEN_AGAIN_S)
        else:
            self._worker, self._failure = worker, None
            self._managed = ManagedWorker(worker, configuration)
            if self._is_outdated:
                self._background.run("Asking for the configuration", self._catch_up)
            self._has_tried.set()

    def _ask(self, request: bytes) -> "Future[bytes | None]":
        """Called in the worker's thread."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(self._requests.answer(request), self._loop)

    def _scrape(self, query: MetricsQuery) -> "Future[MetricsText]":
        """Called in the worker's thread."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(self._scraped(query), self._loop)

    async def _scraped(self, query: MetricsQuery) -> MetricsText:
        try:
            return await self._management.scrape(query)
        except CallFailed as failure:
            raise Unanswered(str(failure)) from failure

    async def _current_configuration(self) -> Configuration:
        """Return the present configuration; that of the start of the router, if there is no answer in time."""
        if not self._config.restarts:
            return self._configuration
        try:
            return await asyncio.wait_for(self._management.current(self._config.index), CONFIGURATION_S)
        except (CallFailed, TimeoutError) as failure:
            _log.warning("Starting with the configuration of the file: management does not answer: %s", failure)
            self._is_outdated = True
            return self._configuration

    async def _catch_up(self) -> None:
        """Take over the present configuration as soon as it can be had."""
        assert self._managed is not None
        while True:
            try:
                await self._managed.configure(await self._management.current(self._config.index))
                return
            except CallFailed as failure:
                _log.debug("Management does not say what is configured: %s", failure)
                await asyncio.sleep(TELL_AGAIN_S)

    async def _tell(self, worker: Worker) -> None:
        try:
            if self._is_join_due:
                await self._join(worker)
            else:
                await self._update(worker)
        except StaleMember as error:
            _log.critical("%s: this process ends", error)
            self._leave()
        except (CallFailed, CoreError) as error:
            # Attaches wait meanwhile; forwarding does not.
            self._is_join_due = self._is_join_due or not isinstance(error, CallFailed)
            _log.debug("The address table could not be told: %s", error)
            await asyncio.sleep(TELL_AGAIN_S)

    async def _join(self, worker: Worker) -> None:
        everything = await asyncio.wrap_future(worker.interests())
        self._is_join_due = False
        try:
            await self._table.join(worker.sibling(), everything)
        except BaseException:
            self._is_join_due = True
            raise
        self._confirmed(worker, everything.sequence)
        worker.renew_account()
        self._has_joined.set()

    async def _update(self, worker: Worker) -> None:
        batch = tuple(self._pending)
        await self._table.update(self._config.index, worker.config.incarnation, batch)
        self._confirmed(worker, batch[-1].sequence)

    def _confirmed(self, worker: Worker, sequence: int) -> None:
        while self._pending and self._pending[0].sequence <= sequence:
            self._pending.popleft()
        worker.confirm(sequence)

    def _on_changes(self, changes: Changes) -> None:
        """Called in the worker's thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._take, changes)

    def _on_trunks(self, events: list[TrunkEvent]) -> None:
        """Called in the worker's thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._trunk_reports.take, events)

    def _on_report(self, incarnation: int, report: Report) -> None:
        """Called in the worker's thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._ledger_reports.take, incarnation, report)

    def _take(self, changes: Changes) -> None:
        if len(self._pending) >= PENDING_MAX:
            self._pending.clear()
            self._is_join_due = True
        self._pending.append(changes)
        self._news.set()
