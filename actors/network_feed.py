"""Between the routing engine and the connection actors: trunk events come in, news and control messages go out."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from actors.errors import CallFailed
from actors.peers import NetworkMember, TableNews
from actors.process import Background
from routerd.core import CoreError, Interest, NetworkNews, RouterSettings, Sibling, TrunkEvent, TrunkOpened
from routerd.io import NetworkView, RoutingHost, Standstill, module_log
from routerd.management import NodeRow
from routerd.mesh import Checkpoint, ForeignCheckpoint

TELL_AGAIN_S = 0.1
VIEW_S = 1.0
"""The time that a new engine waits for a worker's knowledge before it begins without."""
EARLY_MAX = 10_000
"""Events of a worker that are kept until the worker is known."""

_log = module_log("ROUTER")


class _Reader:
    """A worker that gets news of the network, one call at a time."""

    def __init__(self, sibling: Sibling) -> None:
        self.sibling = sibling
        self.is_introduced = False
        self.trunks: set[int] = set()
        self.is_full_due = True
        self.news: list[NetworkNews] = []
        self.controls: list[tuple[int, bytes]] = []
        self.is_being_told = False


class NetworkFeed:
    """Hosts the routing engine of a router whose workers are actors; to be used in one event loop.

    Reports of a worker count once it is introduced, which means that it has been asked for its trunks.
    """

    def __init__(
        self,
        settings: RouterSettings,
        workers: Mapping[int, NetworkMember],
        background: Background,
        *,
        epoch: int,
        instance: int,
        now: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._workers = workers
        self._background = background
        self._epoch = epoch
        self._instance = instance
        self._now = now
        self._wall_clock = wall_clock
        self._host: RoutingHost | None = None
        self._is_beginning = False
        self._readers: dict[int, _Reader] = {}
        self._early: dict[tuple[int, int], list[TrunkEvent]] = {}
        self._interests: dict[str, Interest] = {}
        """Events that came before there was an engine."""
        self._timer: asyncio.TimerHandle | None = None
        self._standstill = Standstill()

    # --- for the actor

    def learn(self, news: TableNews) -> None:
        """Take the workers, and the interests of their consumers."""
        self._heed_standstill()
        self._take_members(news.members)
        if self._host is not None:
            if news.is_full:
                self._host.set_interests(news.interests, self._now())
            else:
                self._host.take_interests(news.interests, self._now())
            self._go_on()
            return
        if news.is_full:
            self._interests.clear()
        self._interests.update((interest.key, interest) for interest in news.interests)
        if self._readers and not self._is_beginning:
            self._is_beginning = True
            self._background.run("Beginning with the network", self._begin)

    def take(self, worker: int, incarnation: int, events: list[TrunkEvent]) -> None:
        """Take a worker's report of its trunks."""
        self._heed_standstill()
        reader = self._readers.get(worker)
        if self._host is None or reader is None or reader.sibling.incarnation != incarnation:
            early = self._early.setdefault((worker, incarnation), [])
            if len(early) < EARLY_MAX:
                early.extend(events)
        elif not reader.is_introduced:
            self._early.setdefault((worker, incarnation), []).extend(events)
        else:
            self._take_events(reader, events)
            self._go_on()

    def nodes(self) -> list[NodeRow]:
        """Return the routers of the network; none before the engine has begun."""
        return [] if self._host is None else self._host.nodes()

    # --- the engine

    async def _begin(self) -> None:
        """Make the engine, from the earlier engine's data at the workers if there are any."""
        readers = list(self._readers.values())
        views = await asyncio.gather(*map(self._view_of, readers))
        now = self._now()
        known = [view for view in views if view is not None and isinstance(view.checkpoint, Checkpoint)]
        best = max(known, key=lambda view: view.version, default=None)
        self._host = self._new_host(best, now)
        # Trunks come first: an engine that continues another reports nothing before it has its own addresses.
        for reader, view in zip(readers, views, strict=True):
            if view is not None:
                self._introduced(reader, view)
        self._host.set_interests(self._interests.values(), now)
        self._interests.clear()
        for reader in self._readers.values():
            if not reader.is_introduced:
                self._introduce(reader)
        self._go_on()

    def _new_host(self, best: NetworkView | None, now: float) -> RoutingHost:
        make = partial(
            RoutingHost,
            self._settings,
            epoch=self._epoch,
            instance=self._instance,
            now=now,
            wall_clock=self._wall_clock(),
        )
        if best is not None and isinstance(best.checkpoint, Checkpoint):
            try:
                host = make(resumed=best.checkpoint, mapping=best.mapping)
                _log.info("The routing engine goes on from where the one before ended")
                return host
            except ForeignCheckpoint as error:
                _log.warning("What the workers have of an earlier routing engine is of no use: %s", error)
        return make()

    def _go_on(self) -> None:
        host = self._host
        if host is None:
            return
        now = self._now()
        outputs = host.outputs(now)
        for trunk, octets in outputs.controls:
            reader = self._owner_of(trunk)
            if reader is not None:
                reader.controls.append((trunk, octets))
                self._tell(reader)
        if outputs.news is not None:
            for reader in self._readers.values():
                if not reader.is_full_due:
                    reader.news.append(outputs.news)
                self._tell(reader)
        if self._timer is not None:
            self._timer.cancel()
        due = max(now, host.next_deadline())
        self._standstill.expect(due)
        self._timer = asyncio.get_running_loop().call_later(due - now, self._tick)

    def _heed_standstill(self) -> None:
        """Give neighbours back the time in which this process stood still, before any other work."""
        standstill_s = self._standstill.seconds(self._now())
        if self._host is not None:
            self._host.forgive(standstill_s)

    def _tick(self) -> None:
        self._timer = None
        self._heed_standstill()
        if self._host is not None:
            self._host.tick(self._now())
            self._go_on()

    # --- the workers

    def _take_members(self, members: tuple[Sibling, ...]) -> None:
        incarnations = {member.worker: member for member in members}
        for worker, reader in list(self._readers.items()):
            if incarnations.get(worker) != reader.sibling:
                del self._readers[worker]
                if self._host is not None:
                    self._host.lose_trunks(reader.trunks, self._now())
        for worker, member in incarnations.items():
            if worker not in self._readers and worker in self._workers:
                reader = self._readers[worker] = _Reader(member)
                if self._host is not None:
                    self._introduce(reader)
        self._early = {
            (worker, incarnation): events
            for (worker, incarnation), events in self._early.items()
            if worker not in incarnations or incarnations[worker].incarnation <= incarnation
        }

    def _introduce(self, reader: _Reader) -> None:
        self._background.run("Asking a worker for its trunks", partial(self._keep_introducing, reader))

    async def _keep_introducing(self, reader: _Reader) -> None:
        while self._is_current(reader) and not reader.is_introduced:
            view = await self._view_of(reader)
            if view is not None and self._is_current(reader):
                self._introduced(reader, view)
                self._go_on()
                return
            await asyncio.sleep(TELL_AGAIN_S)

    def _introduced(self, reader: _Reader, view: NetworkView) -> None:
        reader.is_introduced = True
        self._take_events(reader, list(view.trunks))
        early = self._early.pop((reader.sibling.worker, reader.sibling.incarnation), [])
        self._take_events(reader, early)
        self._tell(reader)

    def _take_events(self, reader: _Reader, events: list[TrunkEvent]) -> None:
        assert self._host is not None
        for event in events:
            if isinstance(event, TrunkOpened):
                reader.trunks.add(event.trunk)
        self._host.take_events(events, self._now())

    async def _view_of(self, reader: _Reader) -> NetworkView | None:
        worker, incarnation = reader.sibling.worker, reader.sibling.incarnation
        try:
            return await self._workers[worker].network_view(incarnation)
        except (CallFailed, CoreError) as error:
            _log.debug("Worker %d does not say which trunks it has: %s", worker, error)
            return None

    def _owner_of(self, trunk: int) -> _Reader | None:
        return next((reader for reader in self._readers.values() if trunk in reader.trunks), None)

    def _is_current(self, reader: _Reader) -> bool:
        return self._readers.get(reader.sibling.worker) is reader

    def _tell(self, reader: _Reader) -> None:
        if not reader.is_being_told:
            reader.is_being_told = True
            self._background.run("Telling a worker of the network", partial(self._keep_telling, reader))

    async def _keep_telling(self, reader: _Reader) -> None:
        try:
            while self._is_current(reader) and self._host is not None:
                news, reader.news = reader.news, []
                controls, reader.controls = reader.controls, []
                if reader.is_full_due:
                    reader.is_full_due = False
                    news = [self._host.full_news()]
                if not news and not controls:
                    return
                await self._deliver(reader, news, controls)
        finally:
            reader.is_being_told = False

    async def _deliver(self, reader: _Reader, news: list[NetworkNews], controls: list[tuple[int, bytes]]) -> None:
        worker, incarnation = reader.sibling.worker, reader.sibling.incarnation
        try:
            await self._workers[worker].learn_network(incarnation, news, controls)
        except (CallFailed, CoreError) as error:
            # The protocol itself repeats control messages.
            _log.debug("Worker %d may not have been told of the network: %s", worker, error)
            reader.is_full_due = True
            await asyncio.sleep(TELL_AGAIN_S)
