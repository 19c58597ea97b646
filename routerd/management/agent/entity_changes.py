"""Changes to what is configured while the router runs (3.5).

A request is checked against the schema. Then either all workers replace the old entity by the new one, or none does.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from routerd.config import Configurable, ConfiguredEntity, check_entity
from routerd.config.kinds import LOG
from routerd.config.schema import Rights
from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import EntityIndex, keys_of
from routerd.management.agent.log_settings import check_log
from routerd.management.agent.problems import NO_MAP, attribute_named, check_attribute_is_known, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing

_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], None]] = {LOG.name: check_log}
"""By type, what refuses values in sentences that its clients know; what else is wrong, the kind itself says."""


async def update(
    call: Call, kind: Configurable[Any], entity: ConfiguredEntity, backing: Backing, index: EntityIndex
) -> ConfiguredEntity:
    """Change an entity, and return it as it is then; null stands for the default."""
    keys = keys_of(entity)
    if any(map(index.is_under_change, keys)):
        raise BadRequest(f"{entity.identity} is being changed by another request; try again")
    changed = replace(entity, values={**entity.values, **_changes(call.body, kind, entity)})
    with index.claimed(keys):
        await backing.update(entity, changed)
        index.replace(entity, changed)
    return changed


def _changes(body: object, kind: Configurable[Any], entity: ConfiguredEntity) -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise BadRequest(NO_MAP)
    given: dict[str, Any] = {}
    shown = kind.shown(entity.values)
    for name, value in body.items():
        check_attribute_is_known(entity.type, name)
        attribute = attribute_named(entity.type, name)
        assert attribute is not None, "it is known"
        if Rights.UPDATE in attribute.rights:
            # Tools give back what they have read.
            given[name] = entity.values[attribute.name] if value == shown[attribute.name] else value
        elif value is not None and value not in _as_it_is(attribute.name, kind, entity):
            raise BadRequest(f"Cannot update attribute '{name}' in UPDATE")
    checked = check_entity(entity.type, {**given, **{name: entity.values[name] for name in kind.fixed}})
    if checked.problems:
        raise BadRequest(sentence(entity.type, checked.problems[0]))
    named = (attribute_named(entity.type, name) for name in given)
    changes = {one.name: checked.values[one.name] for one in named if one is not None}
    if entity.type.name in _CHECKS:
        _CHECKS[entity.type.name](changes)
    return changes


def _as_it_is(name: str, kind: Configurable[Any], entity: ConfiguredEntity) -> tuple[object, ...]:
    """Return what an attribute that can't be changed may be given as."""
    match name:
        case "type":
            return entity.type.full_name, entity.type.name
        case "name" | "identity":
            return entity.identity, entity.name
    return (entity.values[name],) if name in kind.fixed else ()
