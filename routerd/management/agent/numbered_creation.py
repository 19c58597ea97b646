"""New entities of the types that have numbers, and two views (3.5, CREATE of the core)."""

from collections.abc import Callable
from typing import Any

from routerd.config import ConfiguredEntity
from routerd.config.schema import EntityType
from routerd.management.agent.call import Call
from routerd.management.agent.entity_index import LIVE_NAME, UNIQUE, EntityIndex, keys_of
from routerd.management.agent.problems import checked_for_creation, name_and_body, sentence
from routerd.management.agent.refusals import BadRequest
from routerd.management.backing import Backing

ReadValues = Callable[[dict[Any, Any], EntityIndex], dict[str, Any]]
"""Returns the values of all attributes of a request; raises BadRequest."""


async def create_numbered(
    call: Call,
    entity_type: EntityType,
    backing: Backing,
    index: EntityIndex,
    read: ReadValues | None = None,
    *,
    has_own_names: bool = True,
) -> ConfiguredEntity:
    """Have the router take a new entity, and return it; `read` says what is wrong in sentences that clients know.

    Without `has_own_names`, `read` sees to names.
    """
    if call.name is not None and has_own_names:
        _check_name(entity_type, call.name, index)
    name, body = name_and_body(call, may_lack_body=False)
    if name is not None and has_own_names:
        _check_name(entity_type, name, index)
    values = _values(entity_type, body) if read is None else read(body, index)
    number = str(backing.new_number())
    entity = ConfiguredEntity(type=entity_type, identity=number, name=name, values=values | {"name": name})
    keys = keys_of(entity)
    if any(index.is_taken(key) for key in keys if key[0] == UNIQUE):
        raise BadRequest("Already exists")
    with index.claimed(keys):
        await backing.create(entity)
    return entity


def _check_name(entity_type: EntityType, name: str, index: EntityIndex) -> None:
    if index.is_taken((LIVE_NAME, entity_type.name, name)):
        raise BadRequest("Name conflicts with an existing entity")


def _values(entity_type: EntityType, body: dict[Any, Any]) -> dict[str, Any]:
    checked = checked_for_creation(entity_type, body)
    for problem in checked.problems:
        raise BadRequest(sentence(entity_type, problem))
    return checked.values
