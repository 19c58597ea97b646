"""A worker as management sees it: what it reports, and changes of its configuration that it makes or does not make."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from routerd.config import (
    AuthServiceConfig,
    ConnectorConfig,
    ListenerConfig,
    LogModuleConfig,
    RecordConfig,
    RecordLevel,
    SslProfileConfig,
    effect_of,
)
from routerd.core import AddressSettings, VhostSettings
from routerd.io.logs import LogEntry, change_log, log_counts, module_log, recent_log_entries
from routerd.io.reports import policy_row
from routerd.io.sockets import bind, endpoints_of
from routerd.io.tls import TlsProfile, TlsProfileBroken, check_use
from routerd.io.worker import Worker
from routerd.management import Change, ChangeRefused, Configuration, ConfiguredEntity, LogRow, shown

_log = module_log("AGENT")

_STREAMS = (None, "stderr", "stdout", "syslog")


class StaleConfiguration(Exception):
    """A change that is for another version of the configuration than the worker has."""


@dataclass(slots=True)
class _Prepared:
    """A change that can be made now."""

    change: Change
    addresses: list[AddressSettings] = field(default_factory=list)
    logs: list[LogModuleConfig] = field(default_factory=list)
    listeners: list[tuple[ListenerConfig, list[socket.socket]]] = field(default_factory=list)
    connectors: list[ConnectorConfig] = field(default_factory=list)
    profiles: list[TlsProfile] = field(default_factory=list)
    services: list[AuthServiceConfig] = field(default_factory=list)
    vhosts: list[VhostSettings] = field(default_factory=list)
    records: list[RecordConfig] = field(default_factory=list)

    def give_up(self) -> None:
        """Close what was opened for it."""
        for _, sockets in self.listeners:
            for one in sockets:
                one.close()


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
            self._check_profiles(change)
            self._check_services(change)
            for entity in change.added:
                self._prepare(prepared, entity)
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
        replaced = {one.identity for one in prepared.change.added if one.type.section == "vhost"}
        # A vhost is put in the place of another in one step: in between, connections would be for the default one.
        steps = [self._remove(identity) for identity in prepared.change.removed if identity not in replaced]
        # None begins before those ahead of it are done: what is replaced goes first.
        steps += [_done(self._worker.add_profile, profile) for profile in prepared.profiles]
        steps += [_done(self._worker.add_auth_service, service) for service in prepared.services]
        steps += [_done(self._worker.configure_vhost, settings) for settings in prepared.vhosts]
        steps += [_done(self._worker.configure_address, settings) for settings in prepared.addresses]
        steps += [_done(self._worker.listen, *listening) for listening in prepared.listeners]
        steps += [_done(self._worker.connect, connector) for connector in prepared.connectors]
        steps += [asyncio.to_thread(change_log, module) for module in prepared.logs]
        steps += [_done(self._worker.record, record) for record in prepared.records]
        for step in steps:
            try:
                await step
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
                self._prepare(prepared, entity)
            except ChangeRefused as refusal:
                _log.error("%s is not as at the other workers: %s", entity.identity, refusal)
        await self.commit()
        self.configuration = configuration

    def _prepare(self, prepared: _Prepared, entity: ConfiguredEntity) -> None:
        effect = effect_of(entity, self._mode)
        match effect:
            case AddressSettings():
                prepared.addresses.append(effect)
            case LogModuleConfig():
                _check_file(effect.output_file)
                prepared.logs.append(effect)
            case RecordConfig():
                check_record_directory(effect)
                prepared.records.append(effect)
            case SslProfileConfig():
                with _refusing_broken_profiles():
                    prepared.profiles.append(TlsProfile(effect))
            case AuthServiceConfig():
                prepared.services.append(effect)
            case VhostSettings():
                prepared.vhosts.append(effect)
            case ListenerConfig() if self._worker.serves(effect):
                sockets: list[socket.socket] = []
                try:
                    host = self._worker.config.node.host_of(effect.host, effect.family)
                    for endpoint in endpoints_of(host, effect.port, effect.family):
                        sockets.append(bind(endpoint, shared=self._worker.config.shares_ports))
                except OSError as error:
                    for one in sockets:
                        one.close()
                    reason = error.strerror or str(error)
                    raise ChangeRefused(f"listener {effect.address} cannot be opened: {reason}") from error
                prepared.listeners.append((effect, sockets))
            case ConnectorConfig() if self._worker.config.owns(effect):
                prepared.connectors.append(effect)

    def _check_profiles(self, change: Change) -> None:
        """See to it that what is to be there has profiles that can be used for it."""
        after = self.configuration.changed(change).entities
        profiles = {one.name: one for one in after if one.type.section == "sslProfile"}
        added = {one.identity for one in change.added}
        for entity in after:
            named = entity.values.get("sslProfile")
            if named is None or (named in profiles and entity.identity not in added):
                continue
            if named not in profiles and entity.identity in added:
                raise ChangeRefused(f"sslProfile: there is no sslProfile with the name {shown(named)}")
            if named not in profiles:
                raise ChangeRefused(f"sslProfile {shown(named)} is in use by {entity.identity}")
            config, user = effect_of(profiles[named], self._mode), effect_of(entity, self._mode)
            if isinstance(config, SslProfileConfig) and isinstance(user, ListenerConfig | ConnectorConfig):
                with _refusing_broken_profiles():
                    check_use(TlsProfile(config), user)

    def _check_services(self, change: Change) -> None:
        """See to it that the services that listeners name are there."""
        after = self.configuration.changed(change).entities
        services = {one.name for one in after if one.type.section == "authServicePlugin"}
        added = {one.identity for one in change.added}
        for entity in after:
            named = entity.values.get("saslPlugin")
            if named is None or named in services:
                continue
            if entity.identity in added:
                raise ChangeRefused(f"saslPlugin: there is no authServicePlugin with the name {shown(named)}")
            raise ChangeRefused(f"authServicePlugin {shown(named)} is in use by {entity.identity}")

    async def _remove(self, identity: str) -> None:
        entity = next(one for one in self.configuration.entities if one.identity == identity)
        if entity.type.section == "vhost":
            await _done(self._worker.forget_vhost, entity.values["hostname"])
            return
        effect = effect_of(entity, self._mode)
        match effect:
            case AddressSettings():
                await _done(self._worker.forget_pattern, effect.pattern)
            case ListenerConfig():
                await _done(self._worker.stop_listening, effect.identity)
            case ConnectorConfig():
                await _done(self._worker.stop_connecting, effect.identity)
            case SslProfileConfig():
                await _done(self._worker.remove_profile, effect.name)
            case AuthServiceConfig():
                await _done(self._worker.remove_auth_service, effect.name)


async def _done(begin: Callable[..., Future[None]], *arguments: Any) -> None:
    await asyncio.wrap_future(begin(*arguments))


@contextlib.contextmanager
def _refusing_broken_profiles() -> Iterator[None]:
    try:
        yield
    except TlsProfileBroken as error:
        raise ChangeRefused(str(error)) from error


def check_record_directory(record: RecordConfig) -> None:
    """See to it that there is a folder for record files; raises ChangeRefused."""
    if record.level is RecordLevel.OFF:
        return
    if record.directory is None:
        raise ChangeRefused("directory: say in which folder decisions are to be recorded")
    if not os.path.isabs(record.directory):
        # The processes of a router have folders of their own.
        raise ChangeRefused(f"directory: '{record.directory}' has to begin with a slash")
    try:
        os.makedirs(record.directory, exist_ok=True)
    except OSError as error:
        raise ChangeRefused(f"directory: '{record.directory}' cannot be made: {error.strerror}") from error
    if not os.access(record.directory, os.W_OK | os.X_OK):
        raise ChangeRefused(f"directory: '{record.directory}' cannot be written to: Permission denied")


def _check_file(name: str | None) -> None:
    if name in _STREAMS:
        return
    try:
        with contextlib.closing(open(str(name), "ab")):
            pass
    except OSError as error:
        raise ChangeRefused(f"Failed to open log file '{name}': {error.strerror}") from error


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
