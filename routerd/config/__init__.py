"""The configuration of a router: `load` reads a file into the frozen classes that are declared here.

`file` finds the sections, in two forms (`conf_form`, `json_form`); `entities` holds them against the schema; one module
a section makes what the router works with: `router_config` (all of it), `listener`, `connector`, `log`; `effects` is
for what is configured at run time.
"""

from routerd.config.connector import INTER_ROUTER_MAX, ConnectorConfig
from routerd.config.effects import Effect, effect_of, resolved
from routerd.config.errors import ConfigError, ConfigErrors, ConfigRejected
from routerd.config.listener import FailoverUrl, ListenerConfig, Role
from routerd.config.load import load_config, parse_config
from routerd.config.log import LogConfig, LogModuleConfig
from routerd.config.log_levels import LevelUnknown, parse_enable
from routerd.config.router_config import RouterConfig
from routerd.management import LOG_LEVELS, LOG_MODULES

__all__ = [
    "INTER_ROUTER_MAX",
    "LOG_LEVELS",
    "LOG_MODULES",
    "ConfigError",
    "ConfigErrors",
    "ConfigRejected",
    "ConnectorConfig",
    "Effect",
    "FailoverUrl",
    "LevelUnknown",
    "ListenerConfig",
    "LogConfig",
    "LogModuleConfig",
    "Role",
    "RouterConfig",
    "effect_of",
    "load_config",
    "parse_config",
    "parse_enable",
    "resolved",
]
