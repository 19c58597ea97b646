"""What can be configured and watched, and by which names: the management schema."""

from routerd.management.schema.catalogue import ENTITY_TYPES, SECTIONS, closest, find_entity_type
from routerd.management.schema.logs import LOG_LEVELS, LOG_MODULES
from routerd.management.schema.model import PREFIX, Attribute, EntityType, Kind, Rights, ValueType
from routerd.management.schema.validation import Checked, Problem, check_entity
from routerd.management.schema.values import SHOWN_MAX, ValueRefused, convert, shown

__all__ = [
    "ENTITY_TYPES",
    "LOG_LEVELS",
    "LOG_MODULES",
    "PREFIX",
    "SECTIONS",
    "SHOWN_MAX",
    "Attribute",
    "Checked",
    "EntityType",
    "Kind",
    "Problem",
    "Rights",
    "ValueRefused",
    "ValueType",
    "check_entity",
    "closest",
    "convert",
    "find_entity_type",
    "shown",
]
