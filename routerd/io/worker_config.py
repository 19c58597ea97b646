"""What a worker is made with."""

from dataclasses import dataclass, field, replace

from routerd.config import ListenerConfig, LogConfig, LogModuleConfig, effect_of
from routerd.core import AddressSettings, RouterSettings
from routerd.io.busy_poll import SPAN_S
from routerd.management import Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """One connection worker: its place in the router, and where it listens."""

    router: RouterSettings
    listeners: tuple[ListenerConfig, ...] = ()
    """Their ports are numbers that the launcher keeps for the router."""
    index: int = 0
    workers: int = 1
    """How many of them the router has."""
    role: str = "router"
    """What the actor is called in its router."""
    restarts: int = 0
    """How often it has been started again."""
    incarnation: int = 0
    """Another one at each start."""
    fabric_folder: str | None = None
    """Where the Unix sockets of the workers are; None for a worker that is alone and stays so."""
    logs: LogConfig = field(default_factory=LogConfig)
    busy_poll_s: float = SPAN_S
    """For how long the loop looks for more work before it sleeps."""
    shares_ports: bool = True
    """Whether other workers listen on the same ports."""

    @property
    def is_dedicated(self) -> bool:
        """Whether this worker serves one listener, and none that others share."""
        return any(listener.dedicated_actor for listener in self.listeners)

    def configured(self, configuration: Configuration) -> "WorkerConfig":
        """Return the same with the listeners, addresses and log settings of a configuration."""
        effects = [effect_of(entity, self.router.mode) for entity in configuration.entities]
        listeners = {one.identity: one for one in effects if isinstance(one, ListenerConfig)}
        own = tuple(one for one in self.listeners if one.identity in listeners)
        known = {one.identity for one in self.listeners}
        others = (one for one in listeners.values() if not (one.dedicated_actor or one.identity in known))
        return replace(
            self,
            listeners=own if self.is_dedicated else (*own, *others),
            router=replace(self.router, addresses=tuple(one for one in effects if isinstance(one, AddressSettings))),
            logs=replace(self.logs, modules=tuple(one for one in effects if isinstance(one, LogModuleConfig))),
        )

    @property
    def fabric_endpoint(self) -> str:
        """The path of this worker's own socket; empty for a worker that is alone."""
        if self.fabric_folder is None:
            return ""
        return f"{self.fabric_folder}/{self.index}-{self.incarnation:x}"
