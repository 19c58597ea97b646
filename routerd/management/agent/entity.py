"""An entity of the general view."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from routerd.config import ConfiguredEntity
from routerd.config.schema import EntityType


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the general view."""

    type: EntityType
    values: Mapping[str, Any]
    """Name, identity and type too."""
    configured: ConfiguredEntity | None = None

    @property
    def as_map(self) -> dict[str, Any]:
        """All that it has a value of."""
        return {name: value for name, value in self.values.items() if value is not None}


def entity_of(entity_type: EntityType, identity: str, name: str, values: Mapping[str, Any]) -> Entity:
    """Return an entity that nobody configured."""
    return Entity(entity_type, {**values, "name": name, "identity": identity, "type": entity_type.full_name})
