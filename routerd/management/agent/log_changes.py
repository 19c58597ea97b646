"""Changes to what is logged (2.5, 3.5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import EntityIndex, keys_of
from routerd.management.agent.problems import NO_MAP, attribute_named, check_attribute_is_known, sentence
from routerd.management.agent.refusals import BadRequest, Failed
from routerd.management.backing import Backing, ConfiguredEntity
from routerd.management.schema.logs import LOG, LOG_LEVELS
from routerd.management.schema.model import Rights
from routerd.management.schema.validation import check_entity

_WORDS = ("default", "none", *LOG_LEVELS)
_SEPARATORS = str.maketrans(",;:", "   ")


async def update_log(call: Call, entity: ConfiguredEntity, backing: Backing, index: EntityIndex) -> ConfiguredEntity:
    """Change what a module logs, and return its entity as it is then; null stands for what DEFAULT has."""
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
        check_attribute_is_known(LOG, name)
        attribute = attribute_named(LOG, name)
        if attribute is not None and Rights.UPDATE in attribute.rights:
            given[name] = value
        elif value is not None and value not in _unchanged(name, entity):
            raise BadRequest(f"Cannot update attribute '{name}' in UPDATE")
    checked = check_entity(LOG, {**given, "module": entity.values["module"]})
    if checked.problems:
        raise BadRequest(sentence(LOG, checked.problems[0]))
    named = (attribute_named(LOG, name) for name in given)
    changes = {one.name: checked.values[one.name] for one in named if one is not None}
    _check_levels(changes.get("enable"))
    if changes.get("outputFile") == "":
        raise BadRequest(f"{LOG.full_name}: 'outputFile' is empty; allowed: stderr, stdout, syslog, a file's name")
    return changes


def _unchanged(name: str, entity: ConfiguredEntity) -> tuple[object, ...]:
    """Return what an attribute that can't be changed may be given as."""
    match name:
        case "type":
            return LOG.full_name, LOG.name
        case "name" | "identity":
            return (entity.identity, entity.name)
    return (entity.values[name],)


def _check_levels(enable: str | None) -> None:
    if enable is None:
        return
    words = enable.translate(_SEPARATORS).split()
    for word in words or [enable]:
        name = word.lower().removesuffix("+")
        if not name or not any(one.startswith(name) for one in _WORDS):
            choices = ", ".join(_WORDS[1:])
            # The status is that of the routers these clients know, where it is C code that reads the levels.
            raise Failed(f"CError: Configuration: '{word}' is not a valid log level. Should be one of {{{choices}}}.")
