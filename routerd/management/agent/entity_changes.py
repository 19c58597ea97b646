"""Changes to what is configured while the router runs (3.5).

What a request wants is held against the schema; then all workers take the new entity in the place of the old one, or
none does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from routerd.config import ConfiguredEntity, check_entity
from routerd.config.kinds import LOG, RECORD, VHOST
from routerd.config.schema import EntityType, Rights
from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import EntityIndex, keys_of
from routerd.management.agent.log_settings import check_log
from routerd.management.agent.problems import NO_MAP, attribute_named, check_attribute_is_known, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing


@dataclass(frozen=True, slots=True)
class Changeable:
    """A type whose entities can be changed."""

    type: EntityType
    fixed: tuple[str, ...] = ()
    """Attributes that the entities are told apart by: they stay as they are, and may be given like that."""
    check: Callable[[Mapping[str, Any]], None] | None = None
    """Refuses values that the schema does not."""


CHANGEABLE = {
    one.type.name: one
    for one in (Changeable(LOG, ("module",), check_log), Changeable(RECORD), Changeable(VHOST, ("hostname",)))
}


async def update(
    call: Call, changeable: Changeable, entity: ConfiguredEntity, backing: Backing, index: EntityIndex
) -> ConfiguredEntity:
    """Change an entity, and return it as it is then; null stands for the default."""
    keys = keys_of(entity)
    if any(map(index.is_under_change, keys)):
        raise BadRequest(f"{entity.identity} is being changed by another request; try again")
    changed = replace(entity, values={**entity.values, **_changes(call.body, changeable, entity)})
    with index.claimed(keys):
        await backing.update(entity, changed)
        index.replace(entity, changed)
    return changed


def _changes(body: object, changeable: Changeable, entity: ConfiguredEntity) -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise BadRequest(NO_MAP)
    given: dict[str, Any] = {}
    for name, value in body.items():
        check_attribute_is_known(entity.type, name)
        attribute = attribute_named(entity.type, name)
        assert attribute is not None, "it is known"
        if Rights.UPDATE in attribute.rights:
            given[name] = value
        elif value is not None and value not in _as_it_is(attribute.name, changeable, entity):
            raise BadRequest(f"Cannot update attribute '{name}' in UPDATE")
    checked = check_entity(entity.type, {**given, **{name: entity.values[name] for name in changeable.fixed}})
    if checked.problems:
        raise BadRequest(sentence(entity.type, checked.problems[0]))
    named = (attribute_named(entity.type, name) for name in given)
    changes = {one.name: checked.values[one.name] for one in named if one is not None}
    if changeable.check is not None:
        changeable.check(changes)
    return changes


def _as_it_is(name: str, changeable: Changeable, entity: ConfiguredEntity) -> tuple[object, ...]:
    """Return what an attribute that can't be changed may be given as."""
    match name:
        case "type":
            return entity.type.full_name, entity.type.name
        case "name" | "identity":
            return entity.identity, entity.name
    return (entity.values[name],) if name in changeable.fixed else ()
