"""The configuration of a worker."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

from routerd.config import (
    ConnectorConfig,
    ListenerConfig,
    LogConfig,
    RecordConfig,
    SslProfileConfig,
    effects_of,
    resolve_if_possible,
)
from routerd.config.kinds import (
    AddressKind,
    ConnectorKind,
    ListenerKind,
    LogKind,
    RecordKind,
    SslProfileKind,
    VhostKind,
)
from routerd.core import PolicySettings, RouterSettings, VhostSettings
from routerd.io.scheduling import SPAN_S
from routerd.io.settings.fabric_keys import FabricKeys
from routerd.io.settings.node import Node
from routerd.management import Configuration


def owner_of(identity: str, workers: int) -> int:
    """Return the index of the worker for the connector or exchange with this identity: the same in every process."""
    return crc32(identity.encode(errors="surrogatepass")) % workers


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """The configuration of one worker: its place in the router, its listeners and connectors."""

    router: RouterSettings
    listeners: tuple[ListenerConfig, ...] = ()
    """Their ports are numbers that the launcher keeps for the router."""
    connectors: tuple[ConnectorConfig, ...] = ()
    """The connectors that the workers share, each owning some; or the one of a dedicated worker."""
    ssl_profiles: tuple[SslProfileConfig, ...] = ()
    """All profiles: entities that are created at run time may name any of them."""
    policy: PolicySettings = field(default_factory=PolicySettings)
    vhosts: tuple[VhostSettings, ...] = ()
    index: int = 0
    workers: int = 1
    """The number of workers in the router."""
    dedicated_workers: int = 0
    """The number of workers that serve one listener or connector each; they have the highest indices."""
    role: str = "router"
    """The name of the actor in its router."""
    restarts: int = 0
    """The number of restarts."""
    incarnation: int = 0
    """A different number at each start."""
    fabric_folder: str | None = None
    """The folder of the workers' Unix sockets; None for a worker that is, and stays, alone."""
    fabric_keys: FabricKeys | None = None
    """The keys by which siblings authenticate; None if the folder alone keeps strangers away."""
    node: Node = field(default_factory=Node)
    logs: LogConfig = field(default_factory=LogConfig)
    record: RecordConfig = field(default_factory=RecordConfig)
    others: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Other configured entities, by section."""
    busy_poll_s: float = SPAN_S
    """The time that the loop looks for more work before it sleeps."""
    keeps_core: bool = True
    """Whether the loop moves to another core when it has to wait for its own, and keeps to a core."""
    shares_ports: bool = True
    """Whether other workers listen at the same ports."""

    @property
    def is_dedicated(self) -> bool:
        """Whether this worker serves one listener or connector, and none that others share."""
        if self.dedicated_workers and self.index >= self.workers - self.dedicated_workers:
            return True
        # A worker that is alone serves all of them.
        if self.workers == 1:
            return False
        return any(one.dedicated_actor for one in self.listeners) or any(
            one.dedicated_actor for one in self.connectors
        )

    @property
    def own_connectors(self) -> tuple[ConnectorConfig, ...]:
        """The connectors of this worker."""
        return tuple(one for one in self.connectors if self.owns(one))

    def owns(self, connector: ConnectorConfig) -> bool:
        """Return whether this worker makes the connection of a connector."""
        if connector.dedicated_actor:
            return any(one.identity == connector.identity for one in self.connectors)
        return self._shares(connector.identity)

    def hosts(self, exchange: str) -> bool:
        """Return whether this worker hosts an exchange."""
        return self._shares(exchange)

    def _shares(self, identity: str) -> bool:
        sharers = max(1, self.workers - self.dedicated_workers)
        return not self.is_dedicated and owner_of(identity, sharers) == self.index

    def configured(self, configuration: Configuration) -> "WorkerConfig":
        """Return a copy with the listeners, connectors, addresses and log settings of a configuration."""
        effects = effects_of(configuration.entities, self.router.mode, resolve_if_possible)
        listeners = {one.identity: one for one in effects.take(ListenerKind)}
        own = tuple(one for one in self.listeners if one.identity in listeners)
        known = {one.identity for one in self.listeners}
        others = (one for one in listeners.values() if not (one.dedicated_actor or one.identity in known))
        return replace(
            self,
            listeners=own if self.is_dedicated else (*own, *others),
            connectors=self._connectors_among(effects.take(ConnectorKind)),
            router=replace(self.router, addresses=effects.take(AddressKind)),
            vhosts=effects.take(VhostKind),
            ssl_profiles=effects.take(SslProfileKind),
            record=next(iter(effects.take(RecordKind)), self.record),
            logs=replace(self.logs, modules=effects.take(LogKind)),
            others=effects.left,
        )

    def _connectors_among(self, configured: tuple[ConnectorConfig, ...]) -> tuple[ConnectorConfig, ...]:
        if not self.is_dedicated:
            return tuple(one for one in configured if not one.dedicated_actor)
        known = {one.identity for one in self.connectors}
        return tuple(one for one in configured if one.dedicated_actor and one.identity in known)

    @property
    def fabric_path(self) -> str:
        """The path of this worker's own socket; empty for a worker that is alone."""
        if self.fabric_folder is None:
            return ""
        return f"{self.fabric_folder}/{self.index}-{self.incarnation:x}"
