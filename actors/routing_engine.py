"""The routing engine actor: the router's part in its network."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from actors.errors import CallFailed
from actors.network_feed import NetworkFeed
from actors.peers import NetworkMember, Table, TableNews, Version
from actors.process import Background, ProcessConfig, settle
from actors.watch import Watch
from routerd.core import RouterMode, RouterSettings, Sibling, TrunkEvent
from routerd.io import ConfigurationCopy, follow_log, module_log, new_instance
from routerd.management import Configuration, NodeRow

ASK_AGAIN_S = 0.5

_log = module_log("ROUTER")


class RoutingEngineActor:
    """Knows which workers the router consists of, and in an interior router the network: neighbours, paths, addresses.

    Owns what it has learned of other routers; a new one goes on from the copy that the workers keep, and neighbours do
    not notice. The settings are the launcher's, members and consumers the address table's, which tells of each change;
    after a restart it asks for them. Keeps a copy of the configuration for the management actor, and takes the settings
    of its log from it. Messages are forwarded without it. A call that failed can be made again.
    """

    def __init__(
        self,
        router: RouterSettings,
        started_at: float,
        process: ProcessConfig,
        table: Table,
        configuration: Configuration,
        workers: Mapping[int, NetworkMember],
        *,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        epoch: int,
    ) -> None:
        self._router = router
        self._started_at = started_at
        self._process = process
        self._table = table
        self._now = now
        self._configuration_copy = ConfigurationCopy(configuration, partial(follow_log, router.mode))
        self._background = Background()
        self._version: Version = (0, 0)
        self._members: tuple[Sibling, ...] = ()
        self._feed: NetworkFeed | None = None
        if router.mode is RouterMode.INTERIOR:
            self._feed = NetworkFeed(
                router,
                workers,
                self._background,
                epoch=epoch,
                instance=new_instance(now()),
                now=monotonic,
                wall_clock=now,
            )

    def begin(self) -> None:
        """Ask for the members, and watch the address table. It is called in the event loop."""
        pulse = settle(self._process)
        self._background.start("The watch", Watch(self._process, pulse).keep)
        self._background.run("Asking for the members", self._ask)

    async def ready(self) -> None:
        """Return once calls are answered."""

    async def learn(self, news: TableNews) -> None:
        """Take over the workers of the router, and the interests of their consumers."""
        if news.version >= self._version:
            self._version, self._members = news.version, news.members
            if self._feed is not None:
                self._feed.learn(news)

    async def take_trunk_events(self, worker: int, incarnation: int, events: list[TrunkEvent]) -> None:
        """Take the events of a worker's trunks, and the messages on them."""
        if self._feed is not None:
            self._feed.take(worker, incarnation, events)

    async def nodes(self) -> list[NodeRow]:
        """Return the routers of the network."""
        return [] if self._feed is None else self._feed.nodes()

    async def manage(self, what: str, *arguments: Any) -> Any:
        """Do a request of the management actor; see `routerd.io.ConfigurationCopy`."""
        return self._configuration_copy.ask(what, *arguments)

    async def describe(self) -> dict[str, Any]:
        """Return the role and state of the router."""
        return {
            "id": self._router.id,
            "mode": self._router.mode.value,
            "version": self._router.version,
            "metadata": self._router.metadata,
            "uptimeSeconds": int(self._now() - self._started_at),
            "membersVersion": self._version,
            "members": [(member.worker, member.incarnation) for member in self._members],
        }

    async def _ask(self) -> None:
        while True:
            try:
                await self.learn(await self._table.everything())
                return
            except CallFailed as error:
                _log.debug("The address table does not say who the members are: %s", error)
            await asyncio.sleep(ASK_AGAIN_S)
