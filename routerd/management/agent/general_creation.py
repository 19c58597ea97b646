"""New entities of the types that have names rather than numbers (3.5, CREATE of the general agent)."""

from routerd.config import ConfiguredEntity
from routerd.config.schema import MANAGEMENT, EntityType, shown
from routerd.management.agent.call import Call, long_name
from routerd.management.agent.entity_index import IDENTITY, NAME, EntityIndex, keys_of
from routerd.management.agent.naming import general_identity, identity_of, shown_name
from routerd.management.agent.problems import checked_for_creation, name_and_body, sentence
from routerd.management.agent.refusals import BadRequest, not_implemented
from routerd.management.backing import Backing

SELF = "self"
"""Name and identity of the management node."""


async def create_entity(call: Call, backing: Backing, index: EntityIndex) -> ConfiguredEntity:
    """Have the router take a new entity, and return it."""
    entity = _new_entity(call)
    _check_is_alone(entity, index)
    with index.claimed(keys_of(entity)):
        await backing.create(entity)
    return entity


def _new_entity(call: Call) -> ConfiguredEntity:
    entity_type = call.type
    if entity_type is None:
        raise BadRequest(f"No 'type' attribute in {{'type': None, 'name': {shown(call.name)}}}")
    if "CREATE" not in entity_type.operations:
        raise not_implemented(call.operation, entity_type)
    name, body = name_and_body(call, may_lack_body=True)
    if "type" in body and long_name(str(body["type"])) != entity_type.full_name:
        raise BadRequest("Conflicting values for 'type'")
    checked = checked_for_creation(entity_type, body)
    if checked.problems:
        raise BadRequest(sentence(entity_type, checked.problems[0]))
    values = checked.values | {"name": name}
    identity = identity_of(entity_type, values, name)
    return ConfiguredEntity(type=entity_type, identity=identity, name=name, values=values)


def _check_is_alone(entity: ConfiguredEntity, index: EntityIndex) -> None:
    name, identity = shown_name(entity), entity.identity
    if name == SELF:
        raise BadRequest(_duplicates(entity, "name", f"{_class_of(MANAGEMENT)}(name={SELF}, identity={SELF})"))
    for kind, attribute, text in ((NAME, "name", name), (IDENTITY, "identity", identity)):
        found = index.find_of_any_type(kind, text or "")
        if found is not None:
            raise BadRequest(_duplicates(entity, attribute, _in_words(found)))
    if any(map(index.is_taken, keys_of(entity))):
        raise BadRequest(_duplicates(entity, "name", _in_words(entity)))


def _duplicates(entity: ConfiguredEntity, attribute: str, existing: str) -> str:
    return f"adding {_in_words(entity)} duplicates unique attribute '{attribute}' from existing {existing}"


def _in_words(entity: ConfiguredEntity) -> str:
    return f"{_class_of(entity.type)}(name={shown_name(entity)}, identity={general_identity(entity)})"


def _class_of(entity_type: EntityType) -> str:
    last = (entity_type.section or entity_type.name).rpartition(".")[2]
    return f"{last[0].upper()}{last[1:]}Entity"
