"""The router as its management agent sees it: the reports of all workers, and changes that all of them make or none."""

import asyncio
import pickle
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from routerd.config import Reading, RouterConfig, check_named_files, configurable, effect_of, resolved
from routerd.core import RouterMode, RouterSettings
from routerd.io.backing.managed_worker import ManagedWorker, StaleConfiguration
from routerd.io.entities import Claim, running
from routerd.io.logs import module_log
from routerd.management import (
    CENTRAL_ACTORS,
    AddressRow,
    AutoLinkRow,
    BindingRow,
    Certificate,
    Change,
    Configuration,
    ConfiguredEntity,
    ConnectionRow,
    ConnectorRow,
    ExchangeRow,
    LinkRouteRow,
    LinkRow,
    LogRow,
    NodeRow,
    PolicyRow,
    PoolRow,
    PublisherRow,
    RouterFigures,
    SubscriptionRow,
    Tally,
    TopicRow,
    Unanswered,
    WorkerFigures,
    WorkerRow,
    file_entities,
    find_entity_type,
)

T = TypeVar("T")
R = TypeVar("R", bound=tuple[Any, ...])
"""A kind of row."""

LOG_MAX = 1000
"""Limit of the log lines in an answer."""
TELL_AGAIN_S = 0.5
FIGURES_S = 2.0
"""The time for a worker to report its figures; a scrape leaves it out then."""
CONFIGURATION_COPY = -1
"""Stands for the number of a worker."""
_LAST_OF_ONE_DIGIT = 9

_log = module_log("AGENT")


def configuration_of(config: RouterConfig) -> Configuration:
    """Return the configuration at the start of a router."""
    sections = ((find_entity_type(name), values) for name, values in config.sections)
    return Configuration(0, file_entities([(kind, values) for kind, values in sections if kind is not None]))


class MemberGone(Exception):
    """A worker has ended; when it is there again it needs the whole configuration."""


class Member(Protocol):
    """A worker, in any process."""

    async def ask(self, what: str, *arguments: Any) -> Any:
        """Do the same as `ManagedWorker.ask`; raises MemberGone, Unanswered."""


class RouterBacking:
    """Asks all workers, and keeps the present configuration. See `routerd.management.Backing`."""

    def __init__(
        self,
        settings: RouterSettings,
        members: Mapping[int, Member],
        configuration: Configuration,
        now: Callable[[], float],
        started_at: float,
        *,
        configuration_copy: Member | None = None,
        own_logs: Callable[[], list[LogRow]] = list,
        follow: Callable[[Configuration, Configuration], None] | None = None,
        nodes: Callable[[], Awaitable[Sequence[NodeRow]]] | None = None,
        restarts: Callable[[], Awaitable[Mapping[str, int]]] | None = None,
        kept_files: Sequence[str] = (),
    ) -> None:
        """`configuration_copy` has the configuration beside the workers. `own_logs` has the lines of this process, if
        no worker has them. `follow` is called with the former configuration and each new one, for what this process
        takes of it then.

        `nodes` returns the routers of the network, this one first; without it there is no other. `restarts` returns how
        often each of `CENTRAL_ACTORS` was started again, as far as they answer. Requests must not name a file of
        `kept_files`, or one below such a folder: they belong to the router.
        """
        self.settings = settings
        self.configuration = configuration
        self._members = members
        self._holders = dict(members)
        if configuration_copy is not None:
            self._holders[CONFIGURATION_COPY] = configuration_copy
        """The holders of the configuration."""
        self._now = now
        self._started_at = started_at
        self._own_logs = own_logs
        self._follow = follow
        self._nodes = nodes or self._own_node
        self._restarts = restarts or _no_restarts
        self._kept_files = tuple(kept_files)
        self._changing = asyncio.Lock()
        self._behind: set[int] = set()
        """Workers that have, or may have, another version of the configuration."""
        self._catching_up: asyncio.Task[None] | None = None
        self._claims: dict[str, Claim] = {}
        """The claims of the whole router for entities that were created at run time."""
        self._at_start = configuration.entities
        self._last_number = 0

    @property
    def entities(self) -> Sequence[ConfiguredEntity]:
        """All configured entities."""
        return self.configuration.entities

    def uptime_s(self) -> float:
        """Return the time since the start of the router."""
        return self._now() - self._started_at

    def new_number(self) -> int:
        """Return a number that no entity has."""
        if not self._last_number:
            # In each version since the start, an entity may have been deleted that had a number.
            known = max((int(one.identity) for one in self.entities if one.identity.isdecimal()), default=0)
            # In qdrouterd links count too, so that new numbers have two digits. Scripts cut these out of its answers.
            self._last_number = max(known + self.configuration.version, _LAST_OF_ONE_DIGIT)
        self._last_number += 1
        return self._last_number

    # --- what there is

    async def workers(self) -> list[WorkerRow]:
        """Return a row for each worker."""
        return sorted(await self._all("report"), key=lambda row: row.worker)

    async def connections(self) -> list[ConnectionRow]:
        """Return all connections, in the order in which they were opened."""
        # Numbers of different workers say nothing about that.
        rows = _unpacked(ConnectionRow, await self._all("connections"))
        return sorted(rows, key=lambda row: (-row.uptime_s, row.connection))

    async def links(self) -> list[LinkRow]:
        """Return all links."""
        return sorted(_unpacked(LinkRow, await self._all("links")), key=attrgetter("link"))

    async def connectors(self) -> list[ConnectorRow]:
        """Return the states of the connectors; each worker is asked for its own."""
        if not self._entities("connector"):
            return []
        return [
            ConnectorRow(
                identity=state.identity,
                status=state.status,
                message=state.message,
                failover_urls=state.failover_urls,
            )
            for states in await self._all("connectors")
            for state in states
        ]

    async def certificates(self) -> list[Mapping[str, Certificate]]:
        """Return the certificates of TLS profiles in use, by profile, for each worker."""
        return await self._all("certificates") if self._entities("sslProfile") else []

    async def nodes(self) -> list[NodeRow]:
        """Return the routers of the network."""
        return list(await self._nodes())

    async def addresses(self) -> list[AddressRow]:
        """Return the addresses of all workers."""
        return _unpacked(AddressRow, await self._all("addresses"))

    async def link_routes(self) -> list[LinkRouteRow]:
        """Return the link routes of all workers."""
        return _unpacked(LinkRouteRow, await self._all("link_routes"))

    async def auto_links(self) -> list[AutoLinkRow]:
        """Return the auto-links of all workers."""
        return _unpacked(AutoLinkRow, await self._all("auto_links"))

    async def exchanges(self) -> list[ExchangeRow]:
        """Return the exchanges of all workers."""
        return _unpacked(ExchangeRow, await self._all("exchanges"))

    async def bindings(self) -> list[BindingRow]:
        """Return the bindings of all workers."""
        return _unpacked(BindingRow, await self._all("bindings"))

    async def topics(self) -> list[TopicRow]:
        """Return the topics."""
        return sorted(_unpacked(TopicRow, await self._all("topics")), key=attrgetter("topic"))

    async def publishers(self) -> list[PublisherRow]:
        """Return the publishers of topics."""
        by_name = attrgetter("topic", "container", "link")
        return sorted(_unpacked(PublisherRow, await self._all("publishers")), key=by_name)

    async def subscriptions(self) -> list[SubscriptionRow]:
        """Return the subscriptions of topics."""
        by_name = attrgetter("topic", "container", "link")
        return sorted(_unpacked(SubscriptionRow, await self._all("subscriptions")), key=by_name)

    async def log(self) -> list[LogRow]:
        """Return the last log lines of all processes."""
        lines = [line for some in await self._all("log") for line in some]
        return sorted([*lines, *self._own_logs()], key=lambda line: line.time)[-LOG_MAX:]

    async def log_counts(self) -> Mapping[str, Mapping[str, int]]:
        """Return the numbers of log lines."""
        sums: dict[str, dict[str, int]] = {}
        for counts in await self._all("log_counts"):
            for module, by_level in counts.items():
                known = sums.setdefault(module, dict.fromkeys(by_level, 0))
                for level, count in by_level.items():
                    known[level] += count
        return sums

    async def pools(self) -> list[PoolRow]:
        """Return the pools of all workers."""
        sums: dict[str, PoolRow] = {}
        for pool in (pool for some in await self._all("pools") for pool in some):
            other = sums.get(pool.name)
            sums[pool.name] = pool if other is None else PoolRow(
                name=pool.name,
                object_octets=pool.object_octets,
                in_use=pool.in_use + other.in_use,
                allocated=pool.allocated + other.allocated,
            )
        return list(sums.values())

    async def figures(self) -> RouterFigures:
        """Return the counters of the workers that answer soon."""
        answers, restarts = await asyncio.gather(self._soon_all("figures"), self._restarts())
        found = {worker: one for worker, one in zip(self._members, answers, strict=True) if one is not None}
        workers = [found[worker] for worker in sorted(found)]
        return RouterFigures(
            workers=workers,
            absent=sorted(set(self._members) - set(found)),
            addresses=await self._count_addresses(workers),
            restarts=restarts,
        )

    async def keep_tally(self, tally: Tally) -> None:
        """Have the workers keep a tally."""
        await self._soon_all("keep_tally", tally)

    async def kept_tally(self) -> Tally | None:
        """Return the newest tally at the workers."""
        answers: list[Tally | None] = await self._soon_all("tally")
        return max((one for one in answers if one is not None), key=attrgetter("number"), default=None)

    async def _count_addresses(self, workers: Sequence[WorkerFigures]) -> int:
        if len(self._members) == 1:
            return sum(one.counters.addresses for one in workers)
        # Several workers may use an address.
        packed = await self._soon_all("address_keys")
        return len({key for chunks in packed if chunks for chunk in chunks for key in pickle.loads(chunk)})

    async def policy(self) -> list[PolicyRow]:
        """Return the counters of policy, over all workers."""
        return await self._all("policy")

    # --- what can be done

    async def create(self, entity: ConfiguredEntity) -> None:
        """Create an entity at all workers."""
        async with self._changing:
            check_named_files(entity, None, self.settings.management_file_dir, self._kept_files)
            # Environment variables are not expanded: requests may name none.
            entity = resolved(entity, self.settings.mode, {})
            self._admit(entity)
            self._claim(entity)
            try:
                await self._change(Change(self.configuration.version, added=(entity,)))
            except BaseException:
                self._let_go(entity.identity)
                raise

    async def update(self, old: ConfiguredEntity, new: ConfiguredEntity) -> None:
        """Replace an entity by another."""
        async with self._changing:
            check_named_files(new, old, self.settings.management_file_dir, self._kept_files)
            self._admit(new)
            await self._change(Change(self.configuration.version, added=(new,), removed=(old.identity,)))

    async def delete(self, entity: ConfiguredEntity) -> None:
        """Delete an entity at all workers."""
        async with self._changing:
            removed = (entity.identity, *(one.identity for one in self.entities if _goes_with(one, entity)))
            await self._change(Change(self.configuration.version, removed=removed))
            self._let_go(entity.identity)

    async def close_connection(self, connection: int) -> bool:
        """Close a connection."""
        return any(await self._all("close_connection", connection))

    async def end_subscription(self, topic: str, container: str, link: str) -> bool:
        """End a subscription."""
        return any(await self._all("end_subscription", topic, container, link))

    async def set_trace(self, connection: int, is_on: bool) -> bool:
        """Switch the trace of a connection."""
        return any(await self._all("set_trace", connection, is_on))

    async def current(self, worker: int) -> Configuration:
        """Return the configuration, for a worker that has just been started."""
        async with self._changing:
            self._behind.discard(worker)
            return self.configuration

    async def restore(self) -> None:
        """Take over the newest configuration of the workers, as this process may be younger than they are."""
        async with self._changing:
            for found in await self._all("configuration", of=self._holders):
                if found.version > self.configuration.version:
                    self._take(found)
                    # The numbers of entities that were deleted since are not known any more.
                    self._last_number = 0
            self._fall_behind(self._holders)

    # --- all workers

    async def _all(self, what: str, *arguments: Any, of: Mapping[int, Member] | None = None) -> list[Any]:
        members = (self._members if of is None else of).values()
        answers = await asyncio.gather(*(_present(member.ask(what, *arguments)) for member in members))
        return [answer for was_there, answer in answers if was_there]

    async def _soon_all(self, what: str, *arguments: Any) -> list[Any]:
        """Return the answers of all workers; None for each that does not answer soon."""
        answers = (_soon(member.ask(what, *arguments)) for member in self._members.values())
        found: list[Any] = await asyncio.gather(*answers)
        return found

    async def _change(self, change: Change) -> None:
        """Make a change at all workers, or at none. Workers that need the whole configuration anyway do not count."""
        prepared: list[int] = []
        try:
            for worker, member in self._holders.items():
                if worker in self._behind:
                    continue
                # A worker without an answer may have prepared it, and has to be told as well.
                prepared.append(worker)
                try:
                    await member.ask("prepare", change)
                except (MemberGone, StaleConfiguration):
                    prepared.pop()
                    self._fall_behind([worker])
        except BaseException:
            for worker in prepared:
                with suppress(MemberGone, Unanswered):
                    await self._holders[worker].ask("give_up")
            raise
        self._take(self.configuration.changed(change))
        for worker in prepared:
            try:
                await self._holders[worker].ask("commit")
            except (MemberGone, Unanswered, StaleConfiguration) as error:
                _log.warning("Worker %d has to be told of a change again: %s", worker, error)
                self._fall_behind([worker])

    def _take(self, configuration: Configuration) -> None:
        before, self.configuration = self.configuration, configuration
        if self._follow is not None:
            self._follow(before, configuration)

    def _fall_behind(self, workers: Iterable[int]) -> None:
        self._behind.update(workers)
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = asyncio.ensure_future(self._catch_up())

    async def _catch_up(self) -> None:
        """Send the whole configuration to workers that may not have it."""
        while self._behind:
            async with self._changing:
                for worker in list(self._behind):
                    try:
                        await self._holders[worker].ask("configure", self.configuration)
                        self._behind.discard(worker)
                    except (MemberGone, Unanswered) as error:
                        _log.debug("Worker %d is not told of the configuration: %s", worker, error)
            if self._behind:
                await asyncio.sleep(TELL_AGAIN_S)

    def _admit(self, entity: ConfiguredEntity) -> None:
        """Check an entity against the others of its kind."""
        kind = configurable(entity.type)
        if kind is None:
            return
        policy = next((one.values for one in self._entities("policy")), {})
        beside = (
            (one.identity, one.values)
            for one in self.entities
            if one.type is kind.type and one.identity != entity.identity
        )
        kind.admit(entity.identity, entity.values, beside, Reading(mode=self.settings.mode, policy=policy))

    def _claim(self, entity: ConfiguredEntity) -> None:
        """Claim for a new entity what the whole router has once."""
        kind = configurable(entity.type)
        if kind is None:
            return
        config = effect_of(entity, self.settings.mode)
        # There may be very many entities, and few kinds ask for them.
        at_start, now = (
            (effect_of(one, self.settings.mode) for one in entities if one.type is kind.type)
            for entities in (self._at_start, self.entities)
        )
        claim = running(kind).claim(config, at_start, now)
        if claim is not None:
            self._claims[entity.identity] = claim

    def _entities(self, section: str) -> list[ConfiguredEntity]:
        return [one for one in self.configuration.entities if one.type.section == section]

    async def _own_node(self) -> Sequence[NodeRow]:
        if self.settings.mode is not RouterMode.INTERIOR:
            return ()
        started = round(time.time() - self.uptime_s())
        return (NodeRow(id=self.settings.id, is_own=True, instance=started, last_topology_change=started, index=0),)

    def _let_go(self, identity: str) -> None:
        claim = self._claims.pop(identity, None)
        if claim is not None:
            claim.close()


def _goes_with(one: ConfiguredEntity, other: ConfiguredEntity) -> bool:
    """Whether an entity is deleted together with another."""
    kind = configurable(one.type)
    return kind is not None and any(
        kind.references[attribute] == other.type.section and one.values[attribute] == other.name
        for attribute in kind.goes_with
    )


class LocalMember:
    """The worker of a router in one process."""

    def __init__(self, worker: ManagedWorker) -> None:
        self._worker = worker

    async def ask(self, what: str, *arguments: Any) -> Any:
        """Ask it."""
        return await self._worker.ask(what, *arguments)


async def _no_restarts() -> Mapping[str, int]:
    """Return the restarts where all is one process."""
    return dict.fromkeys(CENTRAL_ACTORS, 0)


async def _present(answer: Awaitable[T]) -> tuple[bool, T | None]:
    """Return an answer. Without one the worker is gone, and so are its connections."""
    try:
        return True, await answer
    except MemberGone:
        return False, None


async def _soon(answer: Awaitable[T]) -> T | None:
    """Return an answer, or None if there is none within `FIGURES_S`."""
    try:
        return await asyncio.wait_for(answer, FIGURES_S)
    except (MemberGone, Unanswered, TimeoutError):
        return None


def _unpacked(kind: type[R], packed: Iterable[list[bytes]]) -> list[R]:
    """Return packed rows as plain tuples, a few at a time."""
    new = tuple.__new__
    return [new(kind, row) for chunks in packed for chunk in chunks for row in pickle.loads(chunk)]
