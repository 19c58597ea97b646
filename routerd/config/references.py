"""Entities that name entities of other kinds, as `Configurable.references` says: what they name has to be there."""

from collections.abc import Iterable, Mapping
from typing import Any

from routerd.config.catalogue import configurable
from routerd.config.change import Change, Configuration
from routerd.config.configured import ConfiguredEntity
from routerd.config.effects import effect_of
from routerd.config.errors import ChangeRefused
from routerd.config.schema.values import shown
from routerd.core import RouterMode


def check_references(change: Change, after: Configuration) -> None:
    """See to it that all that is named is there after a change. Raises ChangeRefused."""
    there = {(one.type.section, one.name) for one in after.entities}
    added = {one.identity for one in change.added}
    for entity in after.entities:
        for attribute, section, name in _names(entity):
            if (section, name) in there:
                continue
            if entity.identity in added:
                raise ChangeRefused(f"{attribute}: there is no {section} with the name {shown(name)}")
            raise ChangeRefused(f"{section} {shown(name)} is in use by {entity.identity}")


def named_by(entity: ConfiguredEntity, entities: Iterable[ConfiguredEntity], mode: RouterMode) -> Mapping[str, Any]:
    """Return the configurations of what an entity names, by attribute. Raises ChangeRefused."""
    names = _names(entity)
    there = {(one.type.section, one.name): one for one in entities} if names else {}
    found = ((attribute, there.get((section, name))) for attribute, section, name in names)
    return {attribute: effect_of(one, mode) for attribute, one in found if one is not None}


def _names(entity: ConfiguredEntity) -> list[tuple[str, str, str]]:
    """Return the attributes that name others, their sections, and the names."""
    kind = configurable(entity.type)
    references = {} if kind is None else kind.references
    return [
        (attribute, section, entity.values[attribute])
        for attribute, section in references.items()
        if entity.values.get(attribute) is not None
    ]
