"""Entity types and attributes as people type them: what they are called in full, and whether there are such.

A router may know more than this schema, so a name that is not in it is not wrong: it is sent as it is.
"""

from collections.abc import Iterable

from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.suggestions import did_you_mean
from routerd.management import ALL_TYPES, PREFIX, SECTIONS, EntityType, ValueType, find_entity_type

_SHORT = {"link": "router.link", "node": "router.node"}
_DOMAINS = ("org.apache.", "org.amqp.", "org.mobula.")
_NOT_IN_THE_SCHEMA = {
    "router": ("linksBlocked",),
    "connection": ("active",),
    "router.link": ("connectionId",),
    "router.config.address": ("fallback",),
    "router.config.autoLink": ("fallback",),
}
"""Attributes that routers answer with all the same, and take."""


def full_type(name: str) -> str:
    """Return the full name of an entity type from the short forms that people type."""
    if name.startswith(_DOMAINS):
        return name
    found = find_entity_type(_SHORT.get(name, name))
    if found is not None:
        return found.full_name
    return name if "." in name else PREFIX + name


def entity_type(name: str | None) -> EntityType | None:
    """Return the type that a full name names, if it is in the schema."""
    return None if name is None else find_entity_type(name)


def type_names() -> list[str]:
    """Return all that one can type for an entity type without its prefix."""
    return sorted({*SECTIONS, *_SHORT, *(one.name for one in ALL_TYPES)})


def attribute_names(kind: EntityType) -> list[str]:
    """Return the attributes of a type, those by their older names and those outside of the schema included."""
    return [*kind.attributes, *kind.old_names, *_NOT_IN_THE_SCHEMA.get(kind.name, ())]


def check_attributes(kind: EntityType | None, names: Iterable[str]) -> None:
    """Refuse an attribute that a type does not have: some routers would silently do without."""
    if kind is None:
        return
    known = attribute_names(kind)
    for name in names:
        if name not in known:
            raise WrongUse(f"{kind.name} has no attribute {name!r}{did_you_mean(name, known)}")


def value_type(kind: EntityType | None, name: str) -> ValueType | None:
    """Return what the values of an attribute are, if that is known."""
    if kind is None:
        return None
    attribute = kind.attributes.get(kind.old_names.get(name, name))
    return None if attribute is None else attribute.type
