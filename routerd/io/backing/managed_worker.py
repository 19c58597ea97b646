"""A worker as management sees it: what it reports, and changes of its configuration that it makes or does not make."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from routerd.config import Configurable, check_references, configurable, effect_of, named_by
from routerd.io.entities import Step, running
from routerd.io.logs import LogEntry, log_counts, module_log, recent_log_entries
from routerd.io.reports import policy_row
from routerd.io.worker import Worker
from routerd.management import Change, ChangeRefused, Configuration, ConfiguredEntity, LogRow

_log = module_log("AGENT")

_NOBODY = "::"
"""Stands in for the address of a host."""


class StaleConfiguration(Exception):
    """A change that is for another version of the configuration than the worker has."""


@dataclass(slots=True)
class _Prepared:
    """A change that can be made now."""

    change: Change
    steps: list[tuple[Configurable[Any], Step]] = field(default_factory=list)

    def in_order(self) -> list[Step]:
        """Return the steps: what lets connections in comes last."""
        return [step for _, step in sorted(self.steps, key=lambda one: one[0].lets_in)]

    def give_up(self) -> None:
        """Close what was opened for it."""
        for _, step in reversed(self.steps):
            step.undo()


class ManagedWorker:
    """Answers for a worker. To be called in one event loop, which is not the worker's."""

    def __init__(self, worker: Worker, configuration: Configuration) -> None:
        self.configuration = configuration
        self._worker = worker
        self._mode = worker.config.router.mode
        self._prepared: _Prepared | None = None
        self._asked: dict[str, Callable[..., Future[Any]]] = {
            "report": worker.reports.counters,
            "connections": worker.reports.packed_connections,
            "links": worker.reports.packed_links,
            "addresses": worker.reports.packed_addresses,
            "link_routes": worker.reports.packed_link_routes,
            "auto_links": worker.reports.packed_auto_links,
            "exchanges": worker.reports.packed_exchanges,
            "bindings": worker.reports.packed_bindings,
            "pools": worker.reports.pools,
            "policy": lambda: worker.call(policy_row, worker.router),
            "set_trace": worker.set_trace,
            "close_connection": worker.close_connection,
        }

    async def ask(self, what: str, *arguments: Any) -> Any:
        """Return what management wants to know of the worker, or have it do something."""
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

    def prepare(self, change: Change) -> None:
        """See to it that a change can be made. Raises ChangeRefused, StaleConfiguration."""
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
        """Make the change that has been prepared."""
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            raise StaleConfiguration("no change has been prepared")
        # From here on it is done, as far as it can be: the others do it, too.
        replaced = {one.identity for one in prepared.change.added if _is_replaced_at_once(one)}
        removed = set(prepared.change.removed) - replaced
        gone = [one for one in self.configuration.entities if one.identity in removed]
        # None begins before those ahead of it are done: what is replaced goes first.
        actions: list[Callable[[], Awaitable[None]]] = [partial(self._remove, one) for one in gone]
        actions += [step.commit for step in prepared.in_order()]
        for act in actions:
            try:
                await act()
            except Exception:
                _log.exception("A change that had been prepared is not complete")
        self.configuration = self.configuration.changed(prepared.change)

    def give_up(self) -> None:
        """Forget the change that has been prepared."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            prepared.give_up()

    async def configure(self, configuration: Configuration) -> None:
        """Take over a configuration as a whole, as far as that is possible here: the others have it already."""
        if configuration.version <= self.configuration.version:
            return
        self.give_up()
        change = self.configuration.change_to(configuration)
        self._prepared = prepared = _Prepared(change)
        for entity in change.added:
            try:
                # What it names may be out of order for a moment; then connections fail, and later ones do not.
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
        # Nobody has to find a host to do without it.
        kind, config = configurable(entity.type), effect_of(entity, self._mode, resolve=lambda name: [_NOBODY])
        if kind is not None and config is not None:
            await running(kind).remove(config, self._worker)


def _is_replaced_at_once(entity: ConfiguredEntity) -> bool:
    """Whether it takes the place of another in one step: in between, connections would be for another vhost."""
    kind = configurable(entity.type)
    return kind is not None and kind.is_replaced_at_once


def own_log_rows() -> list[LogRow]:
    """Return the last lines of this process."""
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
