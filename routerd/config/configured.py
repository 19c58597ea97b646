"""What is configured, in the file or at run time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.config.catalogue import find_entity_type
from routerd.config.schema.model import EntityType


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredEntity:
    """Something that is configured, in the file or at run time."""

    type: EntityType
    identity: str
    name: str | None
    values: Mapping[str, Any] = field(repr=False)
    """Of all attributes of the type, by today's names; None for what has no value."""
    file_index: int | None = None
    """Which of its type it is in the file, counted from 0; None for one that was created at run time."""

    @property
    def label(self) -> str:
        """Its name in messages if it has none: its place in the file, or its number."""
        return self.identity if self.file_index is None else f"{self.type.section}/{self.file_index}"

    def __reduce__(self) -> tuple[Callable[..., "ConfiguredEntity"], tuple[Any, ...]]:
        return _configured, (self.type.name, self.identity, self.name, dict(self.values), self.file_index)


def _configured(
    type_name: str, identity: str, name: str | None, values: dict[str, Any], file_index: int | None
) -> ConfiguredEntity:
    entity_type = find_entity_type(type_name)
    assert entity_type is not None, "it was one when it was sent"
    return ConfiguredEntity(type=entity_type, identity=identity, name=name, values=values, file_index=file_index)
