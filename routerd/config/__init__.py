"""The configuration of a router: `load` reads a file into the frozen classes that are declared here.

`file` finds the sections, in two forms (`conf_form`, `json_form`); `entities` holds them against the schema; one module
a section makes what the router works with: `router_config` (all of it), `listener`, `connector`, `log`; `effects` is
for what is configured at run time.
"""

from routerd.config.auth_service import AuthServiceConfig
from routerd.config.connector import INTER_ROUTER_MAX, ConnectorConfig
from routerd.config.effects import Effect, effect_of, resolved
from routerd.config.errors import ConfigError, ConfigErrors, ConfigRejected
from routerd.config.listener import FailoverUrl, ListenerConfig, Role
from routerd.config.load import line_of, load_config, parse_config
from routerd.config.log import LogConfig, LogModuleConfig
from routerd.config.log_levels import LevelUnknown, parse_enable
from routerd.config.named_files import check_named_files
from routerd.config.record import RecordConfig, RecordLevel
from routerd.config.record_section import with_directory
from routerd.config.remote_hosts import resolve_if_possible
from routerd.config.router_config import RouterConfig
from routerd.config.ssl_profile import UID_LETTERS, UID_LETTERS_MAX, SslProfileConfig
from routerd.config.user_file import (
    DEFAULT_USER_FILE,
    SCRAM_ITERATIONS,
    SCRAM_ITERATIONS_LEAST,
    SCRAM_ITERATIONS_MOST,
    UserFileError,
    Users,
    editing,
    read_users,
)
from routerd.config.vhost_section import VhostNames
from routerd.management import LOG_LEVELS, LOG_MODULES

__all__ = [
    "DEFAULT_USER_FILE",
    "INTER_ROUTER_MAX",
    "LOG_LEVELS",
    "LOG_MODULES",
    "SCRAM_ITERATIONS",
    "SCRAM_ITERATIONS_LEAST",
    "SCRAM_ITERATIONS_MOST",
    "UID_LETTERS",
    "UID_LETTERS_MAX",
    "AuthServiceConfig",
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
    "RecordConfig",
    "RecordLevel",
    "Role",
    "RouterConfig",
    "SslProfileConfig",
    "UserFileError",
    "Users",
    "VhostNames",
    "check_named_files",
    "editing",
    "effect_of",
    "line_of",
    "load_config",
    "parse_config",
    "parse_enable",
    "read_users",
    "resolve_if_possible",
    "resolved",
    "with_directory",
]
