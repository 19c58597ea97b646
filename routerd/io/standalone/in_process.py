"""A router in one process, without Ray: a single worker, which needs no address table, and its management."""

import asyncio
import threading
import time
from concurrent.futures import Future

from routerd.config import RouterConfig
from routerd.core import RouterMode
from routerd.io.backing import LocalMember, ManagedWorker, RouterBacking, configuration_of
from routerd.io.management import ManagementMessages, Scrapes
from routerd.io.scheduling import SPAN_S
from routerd.io.settings import WorkerConfig
from routerd.io.standalone.routing_loop import RoutingLoop
from routerd.io.worker import Worker
from routerd.management import Agent, MetricsQuery, MetricsText


class InProcessRouter:
    """Starts and ends one worker."""

    def __init__(self, config: RouterConfig, *, busy_poll_s: float = SPAN_S, keeps_core: bool = True) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._manage, name="routerd-management", daemon=True)
        routing = RoutingLoop(config.router) if config.router.mode is RouterMode.INTERIOR else None
        self._worker = Worker(
            WorkerConfig(
                router=config.router,
                listeners=config.listeners,
                connectors=config.connectors,
                ssl_profiles=config.ssl_profiles,
                policy=config.policy,
                vhosts=config.vhosts,
                logs=config.logs,
                record=config.record,
                others=config.others,
                busy_poll_s=busy_poll_s,
                keeps_core=keeps_core,
            ),
            (lambda changes: None) if routing is None else routing.on_changes,
            self._ask,
            None if routing is None else routing.on_trunks,
            scrape=self._scrape,
        )
        if routing is not None:
            routing.serve(self._worker)
        configuration = configuration_of(config)
        member = LocalMember(ManagedWorker(self._worker, configuration))
        started_at = time.monotonic()
        backing = RouterBacking(
            config.router,
            {0: member},
            configuration,
            time.monotonic,
            started_at,
            nodes=None if routing is None else lambda: asyncio.wrap_future(routing.nodes()),
        )
        self._messages = ManagementMessages(Agent(backing))
        self._scrapes = Scrapes(backing, time.monotonic)

    def start(self) -> list[str]:
        """Return once everything listens: what listens. Raises ListenFailed."""
        self._thread.start()
        return self._worker.start()

    def wait(self) -> None:
        """Return when the worker has ended."""
        self._worker.wait()

    def drain(self, grace_s: float) -> None:
        """End in order."""
        self._worker.drain(grace_s).result()
        self._worker.take_leave().result()
        self.stop()

    def stop(self) -> None:
        """End now."""
        self._worker.stop()
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _ask(self, request: bytes) -> "Future[bytes | None]":
        return asyncio.run_coroutine_threadsafe(self._messages.answer(request), self._loop)

    def _scrape(self, query: MetricsQuery) -> "Future[MetricsText]":
        return asyncio.run_coroutine_threadsafe(self._scrapes.answer(query), self._loop)

    def _manage(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()
