"""Everything that a configuration file says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.config.kinds.connector import ConnectorConfig
from routerd.config.kinds.listener import ListenerConfig
from routerd.config.kinds.log import LogConfig
from routerd.config.kinds.record import RecordConfig
from routerd.config.kinds.ssl_profile import SslProfileConfig
from routerd.core import PolicySettings, RouterSettings, VhostSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterConfig:
    """A configuration that has been checked."""

    router: RouterSettings
    listeners: tuple[ListenerConfig, ...] = ()
    connectors: tuple[ConnectorConfig, ...] = ()
    ssl_profiles: tuple[SslProfileConfig, ...] = ()
    policy: PolicySettings = field(default_factory=PolicySettings)
    vhosts: tuple[VhostSettings, ...] = ()
    logs: LogConfig = field(default_factory=LogConfig)
    record: RecordConfig = field(default_factory=RecordConfig)
    others: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What no field above is for, by section."""
    sections: tuple[tuple[str, Mapping[str, Any]], ...] = field(default=(), compare=False, repr=False)
    """What all else was made of, in the order of the file: names of entity types, and values of attributes.

    Passwords are as `pass:TEXT`, wherever the file has them.
    """
    warnings: tuple[str, ...] = ()
    """What should be changed in the file, one line each."""
    faults: frozenset[str] = frozenset()
    """Those of the warnings without whose cause certain connections could be made."""
