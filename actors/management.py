"""The management actor: answers for the router as a whole."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from actors.peers import Engine
from actors.process import Background, ProcessConfig, settle, stand_back
from actors.ray_internals import token_files
from actors.restart_counts import RestartCounts
from actors.watch import Watch
from routerd.core import RouterMode, RouterSettings
from routerd.io import (
    ManagementMessages,
    Member,
    RouterBacking,
    Scrapes,
    YieldTimer,
    collect_seldom,
    follow_log,
    module_log,
    own_log_rows,
)
from routerd.management import Agent, Configuration, LogRow, MetricsQuery, MetricsText, Unanswered

RESTORE_AGAIN_S = 0.5

_log = module_log("AGENT")


class ManagementActor:
    """Hosts the management agent.

    It owns the present configuration. Every connection actor and the routing engine have a copy, and after a restart it
    takes the newest of these. It asks the connection actors for everything else. Messages are forwarded without it. A
    call that failed may have changed something; each can be repeated.
    """

    def __init__(
        self,
        router: RouterSettings,
        configuration: Configuration,
        started_at: float,
        process: ProcessConfig,
        members: Mapping[int, Member],
        configuration_copy: Member,
        engine: Engine,
        restart_counts: RestartCounts,
        launcher_lines: Sequence[LogRow] = (),
        *,
        now: Callable[[], float],
    ) -> None:
        self._process = process
        self._background = Background()
        self._backing = RouterBacking(
            router,
            members,
            configuration,
            now,
            started_at,
            configuration_copy=configuration_copy,
            own_logs=lambda: [*launcher_lines, *own_log_rows()],
            follow=partial(follow_log, router.mode),
            nodes=engine.nodes if router.mode is RouterMode.INTERIOR else None,
            restarts=restart_counts.told,
            kept_files=(process.folder, *token_files()),
        )
        self._messages = ManagementMessages(Agent(self._backing))
        self._scrapes = Scrapes(self._backing, now)
        self._is_restored = asyncio.Event()

    def begin(self) -> None:
        """Ask for the configuration of now. To be called in the event loop."""
        pulse = settle(self._process)
        # An answer of thousands of rows is much work, and messages are not to wait for it.
        stand_back()
        self._yield_timer = YieldTimer()
        collect_seldom()
        self._background.start("The watch", Watch(self._process, pulse).keep)
        self._background.run("Asking for the configuration", self._restore)

    async def ready(self) -> None:
        """Return once requests are answered."""
        await self._is_restored.wait()

    async def answer(self, request: bytes) -> bytes | None:
        """Return the answer to a request, both as messages; None for one that asks for none."""
        await self._is_restored.wait()
        with self._yield_timer:
            return await self._messages.answer(request)

    async def scrape(self, query: MetricsQuery) -> MetricsText:
        """Return the metrics of the router. Raises Unanswered."""
        await self._is_restored.wait()
        with self._yield_timer:
            return await self._scrapes.answer(query)

    async def current(self, worker: int) -> Configuration:
        """Return what is configured now, for a connection actor that has been started again."""
        await self._is_restored.wait()
        return await self._backing.current(worker)

    async def _restore(self) -> None:
        while True:
            try:
                await self._backing.restore()
                break
            except Unanswered as failure:
                _log.debug("The configuration of now is not known yet: %s", failure)
                await asyncio.sleep(RESTORE_AGAIN_S)
        self._is_restored.set()
