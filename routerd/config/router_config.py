"""Everything that a configuration file says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.config.connector import ConnectorConfig
from routerd.config.listener import ListenerConfig
from routerd.config.log import LogConfig
from routerd.core import RouterSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterConfig:
    """A configuration that has been checked."""

    router: RouterSettings
    listeners: tuple[ListenerConfig, ...] = ()
    connectors: tuple[ConnectorConfig, ...] = ()
    logs: LogConfig = field(default_factory=LogConfig)
    sections: tuple[tuple[str, Mapping[str, Any]], ...] = field(default=(), compare=False, repr=False)
    """What all else was made of, in the order of the file: names of entity types, and values of attributes.

    Passwords are as `pass:TEXT`, wherever the file has them.
    """
    warnings: tuple[str, ...] = ()
    """What should be changed in the file, one line each."""
