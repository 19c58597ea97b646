"""What can be configured and watched, and by which names: the management schema; and the agent that answers for it."""

from routerd.management.agent.agent import Agent
from routerd.management.agent.naming import file_entities, last_number
from routerd.management.agent.refusals import changes_refused
from routerd.management.backing import Backing, ChangeForbidden, ChangeRefused, ConfiguredEntity, Unanswered
from routerd.management.change import Change, Configuration
from routerd.management.messages import Answer, Request
from routerd.management.rows import (
    AddressRow,
    ConnectionRow,
    ConnectorRow,
    LinkRow,
    LogRow,
    NodeRow,
    PolicyRow,
    PoolRow,
    VhostRow,
    WorkerRow,
)
from routerd.management.schema.catalogue import ALL_TYPES, ENTITY_TYPES, OWN_TYPES, SECTIONS, closest, find_entity_type
from routerd.management.schema.logs import LOG_LEVELS, LOG_MODULES
from routerd.management.schema.model import OWN_PREFIX, PREFIX, Attribute, EntityType, Kind, Rights, ValueType
from routerd.management.schema.records import RECORD_COUNTERS
from routerd.management.schema.validation import Checked, Problem, check_entity
from routerd.management.schema.values import SHOWN_MAX, ValueRefused, convert, shown

__all__ = [
    "ALL_TYPES",
    "ENTITY_TYPES",
    "LOG_LEVELS",
    "LOG_MODULES",
    "OWN_PREFIX",
    "OWN_TYPES",
    "PREFIX",
    "RECORD_COUNTERS",
    "SECTIONS",
    "SHOWN_MAX",
    "AddressRow",
    "Agent",
    "Answer",
    "Attribute",
    "Backing",
    "Change",
    "ChangeForbidden",
    "ChangeRefused",
    "Checked",
    "Configuration",
    "ConfiguredEntity",
    "ConnectionRow",
    "ConnectorRow",
    "EntityType",
    "Kind",
    "LinkRow",
    "LogRow",
    "NodeRow",
    "PolicyRow",
    "PoolRow",
    "Problem",
    "Request",
    "Rights",
    "Unanswered",
    "ValueRefused",
    "ValueType",
    "VhostRow",
    "WorkerRow",
    "changes_refused",
    "check_entity",
    "closest",
    "convert",
    "file_entities",
    "find_entity_type",
    "last_number",
    "shown",
]
