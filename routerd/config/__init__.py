"""What can be configured and watched, and the configuration of a router: `load` reads a file into frozen classes.

`schema` declares all types of entities, `catalogue` finds them by name, `validation` holds attributes against them.

`file` finds the sections, in two forms (`conf_form`, `json_form`); `entities` holds them against the schema; one module
a section makes what the router works with: `router_config` (all of it), `listener`, `connector`, `log`; `effects` is
for what is configured at run time.
"""

from routerd.config.auth_service import AuthServiceConfig
from routerd.config.catalogue import ALL_TYPES, ENTITY_TYPES, OWN_TYPES, SECTIONS, find_entity_type
from routerd.config.change import Change, Configuration
from routerd.config.configured import ChangeForbidden, ChangeRefused, ConfiguredEntity
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
from routerd.config.schema.logs import LOG_LEVELS, LOG_MODULES
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
from routerd.config.validation import Checked, Problem, check_entity
from routerd.config.vhost_section import VhostNames

__all__ = [
    "ALL_TYPES",
    "DEFAULT_USER_FILE",
    "ENTITY_TYPES",
    "INTER_ROUTER_MAX",
    "LOG_LEVELS",
    "LOG_MODULES",
    "OWN_TYPES",
    "SCRAM_ITERATIONS",
    "SCRAM_ITERATIONS_LEAST",
    "SCRAM_ITERATIONS_MOST",
    "SECTIONS",
    "UID_LETTERS",
    "UID_LETTERS_MAX",
    "AuthServiceConfig",
    "Change",
    "ChangeForbidden",
    "ChangeRefused",
    "Checked",
    "ConfigError",
    "ConfigErrors",
    "ConfigRejected",
    "Configuration",
    "ConfiguredEntity",
    "ConnectorConfig",
    "Effect",
    "FailoverUrl",
    "LevelUnknown",
    "ListenerConfig",
    "LogConfig",
    "LogModuleConfig",
    "Problem",
    "RecordConfig",
    "RecordLevel",
    "Role",
    "RouterConfig",
    "SslProfileConfig",
    "UserFileError",
    "Users",
    "VhostNames",
    "check_entity",
    "check_named_files",
    "editing",
    "effect_of",
    "find_entity_type",
    "line_of",
    "load_config",
    "parse_config",
    "parse_enable",
    "read_users",
    "resolve_if_possible",
    "resolved",
    "with_directory",
]
