"""The names of configured entities (4.1), and the entities of a configuration file.

Some types have two views. The special view knows their entities by a number, one sequence for all these types. The
general view knows those of the file by `address/0` and so on.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from routerd.config import CONFIGURABLES, ConfiguredEntity, configurable
from routerd.config.schema import EntityType


def file_entities(given: Sequence[tuple[EntityType, Mapping[str, Any]]]) -> tuple[ConfiguredEntity, ...]:
    """Return the entities of a configuration file: types and checked attributes of its sections in their order.

    Entities that a router has without a section follow: first the types with one entity, then the modules of the log.
    """
    sections = list(given)
    for kind in sorted(CONFIGURABLES, key=lambda one: not one.type.is_singleton):
        present = [values for entity_type, values in given if entity_type is kind.type]
        sections += [(kind.type, values) for values in kind.implied(present)]
    entities: list[ConfiguredEntity] = []
    indices: dict[str, int] = {}
    number = 0
    for entity_type, values in sections:
        index = indices.get(entity_type.name, 0)
        indices[entity_type.name] = index + 1
        full = {name: attribute.default for name, attribute in entity_type.attributes.items()} | dict(values)
        if entity_type.is_numbered:
            number += 1
            identity = str(number)
        else:
            identity = identity_of(entity_type, full, full["name"])
        entities.append(
            ConfiguredEntity(type=entity_type, identity=identity, name=full["name"], values=full, file_index=index)
        )
    return tuple(entities)


def last_number(entities: Iterable[ConfiguredEntity]) -> int:
    """Return the greatest number that is taken by one of these entities, 0 if none is."""
    return max((int(one.identity) for one in entities if one.type.is_numbered), default=0)


def identity_of(entity_type: EntityType, values: Mapping[str, Any], name: str | None) -> str:
    """Return what an entity that has no number is known by."""
    kind = configurable(entity_type)
    return f"{entity_type.name}/{name}" if kind is None else kind.identity(values, name)


def general_identity(entity: ConfiguredEntity) -> str | None:
    """Return by what the general view has an entity, None if it has it not."""
    if not entity.type.is_numbered:
        return entity.identity
    return None if entity.file_index is None else f"{entity.type.section}/{entity.file_index}"


def shown_name(entity: ConfiguredEntity) -> str | None:
    """Return the name that an entity is shown with."""
    return entity.name if entity.name is not None else general_identity(entity)
