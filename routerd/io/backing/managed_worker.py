"""A worker as management sees it: its reports, and the changes of its configuration."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from routerd.config import Configurable, check_references, configurable, effect_of, named_by
from routerd.io.entities import Step, running
from routerd.io.logs import Level, LogEntry, log_counts, module_log, recent_log_entries
from routerd.io.reports import policy_row, topic_figures, trunk_rows
from routerd.io.worker import Worker
from routerd.management import Change, ChangeRefused, Configuration, ConfiguredEntity, LogRow, Tally, WorkerFigures

_log = module_log("AGENT")

_NOBODY = "::"
"""Stands for the address of a host."""
_CONNECTED = "SUCCESS"


class StaleConfiguration(Exception):
    """A change for another version of the configuration than that of the worker."""


@dataclass(slots=True)
class _Prepared:
    """A change that is prepared."""

    change: Change
    steps: list[tuple[Configurable[Any], Step]] = field(default_factory=list)

    def in_order(self) -> list[Step]:
        """Return the steps: those that let connections in come last."""
        return [step for _, step in sorted(self.steps, key=lambda one: one[0].lets_in)]

    def give_up(self) -> None:
        """Close everything that was opened for it."""
        for _, step in reversed(self.steps):
            step.undo()


class ManagedWorker:
    """Answers for a worker. It is used in one event loop, which is not the worker's."""

    def __init__(self, worker: Worker, configuration: Configuration) -> None:
        self.configuration = configuration
        self._worker = worker
        self._mode = worker.config.router.mode
        self._prepared: _Prepared | None = None
        self._tally: Tally | None = None
        """The counts of the whole router, for a management actor that is started again."""
        self._asked: dict[str, Callable[..., Future[Any]]] = {
            "report": worker.reports.counters,
            "connections": worker.reports.packed_connections,
            "links": worker.reports.packed_links,
            "addresses": worker.reports.packed_addresses,
            "address_keys": worker.reports.packed_address_keys,
            "link_routes": worker.reports.packed_link_routes,
            "auto_links": worker.reports.packed_auto_links,
            "exchanges": worker.reports.packed_exchanges,
            "bindings": worker.reports.packed_bindings,
            "topics": worker.reports.packed_topics,
            "publishers": worker.reports.packed_publishers,
            "subscriptions": worker.reports.packed_subscriptions,
            "pools": worker.reports.pools,
            "certificates": lambda: worker.call(worker.profiles.certificates),
            "policy": lambda: worker.call(policy_row, worker.router),
            "set_trace": worker.set_trace,
            "close_connection": worker.close_connection,
            "end_subscription": worker.end_subscription,
        }

    async def ask(self, what: str, *arguments: Any) -> Any:
        """Return the asked report of the worker, or do the asked change."""
        match what:
            case "log":
                return own_log_rows()
            case "log_counts":
                return {
                    module: {level.name.lower(): count for level, count in counts.items()}
                    for module, counts in log_counts().items()
                }
            case "connectors":
                return await asyncio.wrap_future(self._worker.connector_states())
            case "figures":
                return await self._figures()
            case "keep_tally":
                return self._keep_tally(*arguments)
            case "tally":
                return self._tally
            case "configuration":
                return self.configuration
            case "prepare":
                return self.prepare(*arguments)
            case "commit":
                return await self.commit()
            case "give_up":
                return self.give_up()
            case "configure":
                return await self.configure(*arguments)
        return await asyncio.wrap_future(self._asked[what](*arguments))

    def _keep_tally(self, tally: Tally) -> None:
        if self._tally is None or tally.number > self._tally.number:
            self._tally = tally

    async def _figures(self) -> WorkerFigures:
        """Return the counters of the worker."""
        worker = self._worker
        counters = await asyncio.wrap_future(worker.reports.counters())
        trunks, edges = await asyncio.wrap_future(worker.call(trunk_rows, worker.router))
        return WorkerFigures(
            counters=counters,
            policy=await asyncio.wrap_future(worker.call(policy_row, worker.router)),
            trunks=trunks,
            edges=edges,
            connectors={
                state.identity: state.status == _CONNECTED
                for state in await asyncio.wrap_future(worker.connector_states())
            },
            certificates=await asyncio.wrap_future(worker.call(worker.profiles.certificates)),
            log_lines=_by_level(log_counts()),
            topics=await asyncio.wrap_future(
                worker.call(lambda: topic_figures(worker.topics.node, worker.router.now))
            ),
        )

    def prepare(self, change: Change) -> None:
        """Prepare a change; raises ChangeRefused, StaleConfiguration."""
        self.give_up()
        if change.base != self.configuration.version:
            raise StaleConfiguration(f"the worker has version {self.configuration.version}, not {change.base}")
        prepared = _Prepared(change)
        try:
            after = self.configuration.changed(change)
            check_references(change, after)
            for entity in change.added:
                self._prepare(prepared, entity, named_by(entity, after.entities, self._mode))
        except BaseException:
            prepared.give_up()
            raise
        self._prepared = prepared

    async def commit(self) -> None:
        """Make the prepared change."""
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            raise StaleConfiguration("no change has been prepared")
        # From here on the change is done as far as possible, since the other workers do it as well.
        replaced = {one.identity for one in prepared.change.added if _is_replaced_at_once(one)}
        removed = set(prepared.change.removed) - replaced
        gone = [one for one in self.configuration.entities if one.identity in removed]
        # Each step waits for those before it: a replaced entity goes first.
        actions: list[Callable[[], Awaitable[None]]] = [partial(self._remove, one) for one in gone]
        actions += [step.commit for step in prepared.in_order()]
        for act in actions:
            try:
                await act()
            except Exception:
                _log.exception("A change that had been prepared is not complete")
        self.configuration = self.configuration.changed(prepared.change)

    def give_up(self) -> None:
        """Drop the prepared change."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            prepared.give_up()

    async def configure(self, configuration: Configuration) -> None:
        """Take over a whole configuration, as far as that is possible here: the other workers have it already."""
        if configuration.version <= self.configuration.version:
            return
        self.give_up()
        change = self.configuration.change_to(configuration)
        self._prepared = prepared = _Prepared(change)
        for entity in change.added:
            try:
                # Named entities may be missing for a moment. Connections fail then, and later ones do not.
                self._prepare(prepared, entity, {})
            except ChangeRefused as refusal:
                _log.error("%s is not as at the other workers: %s", entity.identity, refusal)
        await self.commit()
        self.configuration = configuration

    def _prepare(self, prepared: _Prepared, entity: ConfiguredEntity, named: Mapping[str, Any]) -> None:
        kind, config = configurable(entity.type), effect_of(entity, self._mode)
        if kind is None or config is None:
            return
        step = running(kind).prepare(config, self._worker, named)
        if step is not None:
            prepared.steps.append((kind, step))

    async def _remove(self, entity: ConfiguredEntity) -> None:
        # The removal of a host needs no look-up of its name.
        kind, config = configurable(entity.type), effect_of(entity, self._mode, resolve=lambda name: [_NOBODY])
        if kind is not None and config is not None:
            await running(kind).remove(config, self._worker)


def _by_level(counts: Mapping[str, Mapping[Level, int]]) -> dict[str, int]:
    """Return the number of logged lines by level, over all modules."""
    sums: dict[str, int] = {}
    for of_module in counts.values():
        for level, count in of_module.items():
            sums[level.name.lower()] = sums.get(level.name.lower(), 0) + count
    return sums


def _is_replaced_at_once(entity: ConfiguredEntity) -> bool:
    """Whether the step replaces another entity at once: in between, connections would be for another vhost."""
    kind = configurable(entity.type)
    return kind is not None and kind.is_replaced_at_once


def own_log_rows() -> list[LogRow]:
    """Return the last log lines of this process."""
    return [_log_row(entry) for entry in recent_log_entries()]


def _log_row(entry: LogEntry) -> LogRow:
    return LogRow(
        module=entry.module,
        level=entry.level.name.lower(),
        text=entry.text,
        file=entry.file,
        line=entry.line,
        time=entry.time_s,
    )
