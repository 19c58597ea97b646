"""What an attribute and an entity type are; the modules beside this one declare them with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, Flag, auto
from types import MappingProxyType

PREFIX = "org.apache.qpid.dispatch."
"""What the full names of entity types begin with."""
OWN_PREFIX = "org.mobula."
"""What those begin with that only this router has."""

Scalar = str | int | bool


class ValueType(Enum):
    """The types of attributes, by the names that the schema gives them."""

    STRING = "string"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    ENUM = "enum"
    PATH = "path"
    PROPERTIES = "properties"
    MAP = "map"
    LIST = "list"
    ENTITY_ID = "entityId"


STRING = ValueType.STRING
INTEGER = ValueType.INTEGER
BOOLEAN = ValueType.BOOLEAN
ENUM = ValueType.ENUM
PATH = ValueType.PATH
PROPERTIES = ValueType.PROPERTIES
MAP = ValueType.MAP
LIST = ValueType.LIST
ENTITY_ID = ValueType.ENTITY_ID


class Rights(Flag):
    """Which operations may set an attribute."""

    NONE = 0
    CREATE = auto()
    UPDATE = auto()


NONE = Rights.NONE
CREATE = Rights.CREATE
UPDATE = Rights.UPDATE


class Purpose(Enum):
    """The purpose of the entities of a type."""

    BASE = "base"
    CONFIGURATION = "configuration"
    OPERATIONAL = "operational"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an entity type."""

    name: str
    type: ValueType
    description: str
    rights: Rights = NONE
    default: Scalar | None = None
    tags: tuple[str, ...] = field(default=(), kw_only=True)
    """The values of an enumeration, in the order of their indices."""
    is_required: bool = field(default=False, kw_only=True)
    is_unique: bool = field(default=False, kw_only=True)
    is_graph: bool = field(default=False, kw_only=True)
    """A number worth plotting."""
    is_hidden: bool = field(default=False, kw_only=True)
    """A secret: its value is never shown."""
    is_deprecated: bool = field(default=False, kw_only=True)
    old_name: str | None = field(default=None, kw_only=True)
    """Another name, still understood."""
    unit: str | None = field(default=None, kw_only=True)
    least: int | None = field(default=None, kw_only=True)
    most: int | None = field(default=None, kw_only=True)
    separator: str | None = field(default=None, kw_only=True)
    """What stands between the members when the string is a list of them: `,`, or a blank for any white space."""
    is_supported: bool = field(default=True, kw_only=True)
    """False: only the default is taken so far."""
    unsupported_tags: tuple[str, ...] = field(default=(), kw_only=True)
    """Values that are known, but not taken so far."""

    @property
    def is_settable(self) -> bool:
        """Whether anybody but the router itself gives it a value."""
        return self.is_required or self.rights is not NONE

    @property
    def allowed(self) -> tuple[str, ...]:
        """What is right as a value, in words; empty if anything is."""
        match self.type:
            case ValueType.ENUM:
                return tuple(tag for tag in self.tags if tag not in self.unsupported_tags)
            case ValueType.BOOLEAN:
                return ("yes", "no", "true", "false", "on", "off")
            case ValueType.INTEGER:
                return (self._range,)
            case ValueType.PROPERTIES | ValueType.MAP:
                return ("a map",)
            case ValueType.LIST:
                return ("a list",)
        return ()

    @property
    def _range(self) -> str:
        if self.least is None:
            return "a whole number"
        return f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """One type of entity; it has the attributes and operations of its base as well."""

    name: str
    """The full name without its prefix."""
    description: str
    purpose: Purpose
    prefix: str = PREFIX
    own_attributes: tuple[Attribute, ...] = ()
    own_operations: tuple[str, ...] = ()
    base: "EntityType | None" = None
    section: str | None = None
    """Its name in a configuration file, if it has one there."""
    is_configurable: bool = True
    """Whether a section makes an entity, where there is one."""
    is_singleton: bool = False
    is_deprecated: bool = False
    is_experimental: bool = False
    is_referential: bool = False
    """Entities of other types name entities of this one."""
    is_supported: bool = False
    """Whether this router has what it configures."""
    is_numbered: bool = False
    """Whether the identities of its entities are numbers, counted over all such types; these have two views."""
    attributes: Mapping[str, Attribute] = field(init=False, repr=False, compare=False)
    """By name: its own first, then those of its base."""
    old_names: Mapping[str, str] = field(init=False, repr=False, compare=False)
    """From old names of attributes to those of today."""

    def __post_init__(self) -> None:
        inherited = self.base.attributes.values() if self.base else ()
        attributes = {
            one.name: replace(one, default=self.full_name) if one.name == "type" else one
            for one in (*self.own_attributes, *inherited)
        }
        old_names = {one.old_name: name for name, one in attributes.items() if one.old_name}
        object.__setattr__(self, "attributes", MappingProxyType(attributes))
        object.__setattr__(self, "old_names", MappingProxyType(old_names))

    @property
    def full_name(self) -> str:
        """The name as the management protocol has it."""
        return self.prefix + self.name

    @property
    def operations(self) -> tuple[str, ...]:
        """All its operations, its own first."""
        inherited = self.base.operations if self.base else ()
        return (*self.own_operations, *(one for one in inherited if one not in self.own_operations))
