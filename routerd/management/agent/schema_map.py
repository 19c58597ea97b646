"""The schema as GET-SCHEMA gives it."""

from typing import Any

from routerd.config import ALL_TYPES
from routerd.config.schema import PREFIX, Attribute, EntityType
from routerd.management.agent.numbers import as_general


def ancestors(entity_type: EntityType) -> list[EntityType]:
    """Return the types that a type is built on, the nearest first."""
    found = []
    base = entity_type.base
    while base is not None:
        found.append(base)
        base = base.base
    return found


def schema_map() -> dict[str, Any]:
    """Return all types by their short names, those of sections where they have some; what is empty is left out."""
    return {
        "prefix": PREFIX.removesuffix("."),
        "entityTypes": {one.section or one.name: _type_map(one) for one in ALL_TYPES},
    }


def _type_map(entity_type: EntityType) -> dict[str, Any]:
    found: dict[str, Any] = {
        "attributes": {name: _attribute_map(one) for name, one in entity_type.attributes.items() if name != "type"},
        "operations": list(entity_type.operations),
        "description": entity_type.description,
        "fullyQualifiedType": entity_type.full_name,
        "deprecated": entity_type.is_deprecated,
        "singleton": entity_type.is_singleton,
    }
    return _without_empty(found)


def _attribute_map(attribute: Attribute) -> dict[str, Any]:
    return _without_empty(
        {
            "type": list(attribute.tags) or attribute.type.value,
            "default": as_general(attribute.default),
            "required": attribute.is_required,
            "unique": attribute.is_unique,
            "deprecated": attribute.is_deprecated,
            "description": attribute.description,
            "graph": attribute.is_graph,
        }
    )


def _without_empty(members: dict[str, Any]) -> dict[str, Any]:
    # As the routers that these clients know do it: a default of false or 0 is left out too.
    return {name: value for name, value in members.items() if value}
