"""What a worker is made with."""

from dataclasses import dataclass, field

from routerd.config import ListenerConfig, LogConfig
from routerd.core import RouterSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """One connection worker: its place in the router, and where it listens."""

    router: RouterSettings
    listeners: tuple[ListenerConfig, ...] = ()
    """Their ports are numbers that the launcher keeps for the router."""
    index: int = 0
    incarnation: int = 0
    """Another one at each start."""
    fabric_folder: str | None = None
    """Where the Unix sockets of the workers are; None for a worker that is alone and stays so."""
    logs: LogConfig = field(default_factory=LogConfig)
    shares_ports: bool = True
    """Whether other workers listen on the same ports."""

    @property
    def fabric_endpoint(self) -> str:
        """The path of this worker's own socket; empty for a worker that is alone."""
        if self.fabric_folder is None:
            return ""
        return f"{self.fabric_folder}/{self.index}-{self.incarnation:x}"
