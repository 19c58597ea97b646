"""What can be configured and watched, and the configuration of a router.

`catalogue` has the table of all entity types. A kind that can be configured is a `Configurable` in a module of `kinds`.
`schema` has the other types. `load` reads a file into a `RouterConfig`: `file` finds the sections, in two forms
(`conf_form`, `json_form`), `entities` holds them against the schema (`validation`), and each kind reads its own.
`effects` does the same for what is configured at run time.
"""

from routerd.config.catalogue import (
    ALL_TYPES,
    CONFIGURABLES,
    ENTITY_TYPES,
    OWN_TYPES,
    SECTIONS,
    configurable,
    find_entity_type,
)
from routerd.config.change import Change, Configuration
from routerd.config.configurable import CHANGES, Configurable, Reading
from routerd.config.configurations import Configurations
from routerd.config.configured import ConfiguredEntity
from routerd.config.differences import Difference, differences
from routerd.config.effects import effect_of, effects_of, resolved
from routerd.config.errors import (
    ChangeForbidden,
    ChangeRefused,
    ConfigError,
    ConfigErrors,
    ConfigRejected,
    PolicyRefused,
)
from routerd.config.kinds.auth_service_plugin import AuthServiceConfig
from routerd.config.kinds.connection_attributes import Role
from routerd.config.kinds.connector import INTER_ROUTER_MAX, ConnectorConfig
from routerd.config.kinds.listener import ListenerConfig
from routerd.config.kinds.log import LogConfig, LogModuleConfig
from routerd.config.kinds.record import RecordConfig, RecordLevel, with_directory
from routerd.config.kinds.ssl_profile import UID_LETTERS, UID_LETTERS_MAX, SslProfileConfig
from routerd.config.kinds.vhost import VhostNames
from routerd.config.load import line_of, load_config, parse_config
from routerd.config.log_levels import LevelUnknown, parse_enable
from routerd.config.named_files import check_named_files
from routerd.config.references import check_references, named_by
from routerd.config.remote_hosts import resolve_if_possible
from routerd.config.router_config import RouterConfig
from routerd.config.schema.logs import LOG_LEVELS, LOG_MODULES
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
from routerd.config.values import FailoverUrl

__all__ = [
    "ALL_TYPES",
    "CHANGES",
    "CONFIGURABLES",
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
    "Configurable",
    "Configuration",
    "Configurations",
    "ConfiguredEntity",
    "ConnectorConfig",
    "Difference",
    "FailoverUrl",
    "LevelUnknown",
    "ListenerConfig",
    "LogConfig",
    "LogModuleConfig",
    "PolicyRefused",
    "Problem",
    "Reading",
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
    "check_references",
    "configurable",
    "differences",
    "editing",
    "effect_of",
    "effects_of",
    "find_entity_type",
    "line_of",
    "load_config",
    "named_by",
    "parse_config",
    "parse_enable",
    "read_users",
    "resolve_if_possible",
    "resolved",
    "with_directory",
]
