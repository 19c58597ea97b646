"""Changes to a vhost while the router runs (3.5, 10.7)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import EntityIndex, keys_of
from routerd.management.agent.problems import NO_MAP, attribute_named, check_attribute_is_known, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing, ConfiguredEntity
from routerd.management.schema.model import Rights
from routerd.management.schema.security import VHOST
from routerd.management.schema.validation import check_entity


async def update_vhost(
    call: Call, entity: ConfiguredEntity, backing: Backing, index: EntityIndex
) -> ConfiguredEntity:
    """Change what holds for a vhost, and return its entity as it is then; null stands for the default."""
    keys = keys_of(entity)
    if any(map(index.is_under_change, keys)):
        raise BadRequest(f"{entity.identity} is being changed by another request; try again")
    changed = replace(entity, values={**entity.values, **_changes(call.body, entity)})
    with index.claimed(keys):
        await backing.update(entity, changed)
        index.replace(entity, changed)
    return changed


def _changes(body: object, entity: ConfiguredEntity) -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise BadRequest(NO_MAP)
    given: dict[str, Any] = {}
    for name, value in body.items():
        check_attribute_is_known(VHOST, name)
        attribute = attribute_named(VHOST, name)
        if attribute is not None and Rights.UPDATE in attribute.rights:
            given[name] = value
        elif value is not None and value not in _unchanged(name, entity):
            raise BadRequest(f"Cannot update attribute '{name}' in UPDATE")
    checked = check_entity(VHOST, {**given, "hostname": entity.values["hostname"]})
    if checked.problems:
        raise BadRequest(sentence(VHOST, checked.problems[0]))
    named = (attribute_named(VHOST, name) for name in given)
    return {one.name: checked.values[one.name] for one in named if one is not None}


def _unchanged(name: str, entity: ConfiguredEntity) -> tuple[object, ...]:
    """Return what an attribute that can't be changed may be given as."""
    match name:
        case "type":
            return VHOST.full_name, VHOST.name
        case "name" | "identity":
            return (entity.identity, entity.name)
    return (entity.values["hostname"],)
