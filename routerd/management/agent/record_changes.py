"""Changes to what is recorded, and how recording fares."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import EntityIndex, keys_of
from routerd.management.agent.numbers import whole
from routerd.management.agent.problems import NO_MAP, attribute_named, check_attribute_is_known, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing, ConfiguredEntity
from routerd.management.rows import WorkerRow
from routerd.management.schema.model import Rights
from routerd.management.schema.records import RECORD, RECORD_COUNTERS
from routerd.management.schema.validation import check_entity

_QUIET = ("off", "recording")


async def update_record(
    call: Call, entity: ConfiguredEntity, backing: Backing, index: EntityIndex
) -> ConfiguredEntity:
    """Change what is recorded, and return the entity as it is then; null stands for the default."""
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
        check_attribute_is_known(RECORD, name)
        attribute = attribute_named(RECORD, name)
        if attribute is not None and Rights.UPDATE in attribute.rights:
            given[name] = value
        elif value is not None and value not in _unchanged(name, entity):
            raise BadRequest(f"Cannot update attribute '{name}' in UPDATE")
    checked = check_entity(RECORD, given)
    if checked.problems:
        raise BadRequest(sentence(RECORD, checked.problems[0]))
    named = (attribute_named(RECORD, name) for name in given)
    return {one.name: checked.values[one.name] for one in named if one is not None}


def _unchanged(name: str, entity: ConfiguredEntity) -> tuple[object, ...]:
    """Return what an attribute that can't be changed may be given as."""
    match name:
        case "type":
            return RECORD.full_name, RECORD.name
        case "name" | "identity":
            return (entity.identity, entity.name)
    return ()


def recording_values(workers: Iterable[WorkerRow]) -> dict[str, Any]:
    """Return how recording fares over all workers; a worker that does not write has the say on the status."""
    rows = sorted(workers, key=lambda row: row.worker)
    statuses = [row.recording_status for row in rows]
    found: dict[str, Any] = {
        name: whole(sum(row.recording.get(counter, 0) for row in rows)) for name, counter in RECORD_COUNTERS.items()
    }
    troubled = next((one for one in statuses if one not in _QUIET), None)
    found["status"] = troubled or next(iter(statuses), _QUIET[0])
    return found
