"""Everything that a configuration file says."""

from dataclasses import dataclass, field

from routerd.config.listener import ListenerConfig
from routerd.config.log import LogConfig
from routerd.core import RouterSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterConfig:
    """A configuration that has been checked."""

    router: RouterSettings
    listeners: tuple[ListenerConfig, ...] = ()
    logs: LogConfig = field(default_factory=LogConfig)
    warnings: tuple[str, ...] = ()
    """What should be changed in the file, one line each."""
