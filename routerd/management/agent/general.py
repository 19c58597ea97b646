"""The general view: entities with names, each with all the attributes of its type (3.3, 3.5)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from routerd.config import ALL_TYPES, configurable
from routerd.config.kinds import ROUTER
from routerd.config.schema import MANAGEMENT, OWN_PREFIX, EntityType, shown
from routerd.management.agent.call import Call
from routerd.management.agent.entities import NODE, SOURCES, configured_entity, with_live_attributes
from routerd.management.agent.entity import Entity
from routerd.management.agent.entity_changes import update
from routerd.management.agent.entity_index import IDENTITY, NAME, EntityIndex
from routerd.management.agent.general_creation import SELF, create_entity
from routerd.management.agent.naming import general_identity
from routerd.management.agent.node_operations import NodeOperations
from routerd.management.agent.numbers import whole
from routerd.management.agent.query import Pages, result
from routerd.management.agent.refusals import BadRequest, NotFound, not_implemented
from routerd.management.agent.removal import delete
from routerd.management.backing import Backing
from routerd.management.messages import Answer

_EVERY_ATTRIBUTE = tuple(dict.fromkeys(name for one in ALL_TYPES for name in one.attributes))


class GeneralView:
    """Answers for the entities that have names."""

    def __init__(self, backing: Backing, index: EntityIndex, pages: Pages) -> None:
        self._backing = backing
        self._index = index
        self._pages = pages
        self._node = NodeOperations(backing)
        self._operations: Mapping[str, Callable[[Call, Entity], Awaitable[Answer]]] = {
            "QUERY": self._query,
            "READ": self._read,
            "UPDATE": self._update,
            "DELETE": self._delete,
            "CALLME": _repeat,
        }

    async def answer(self, call: Call) -> Answer:
        """Answer a request that is about no type of the live view."""
        if not call.operation:
            raise BadRequest(f"No 'operation' property: Message(address=None, properties={dict(call.properties)})")
        if call.operation == "CREATE":
            entity = await create_entity(call, self._backing, self._index)
            return Answer(201, "Created", configured_entity(entity).as_map)
        target = await self._target(call)
        if call.operation not in target.type.operations:
            raise not_implemented(call.operation, target.type)
        if call.operation in self._operations:
            return await self._operations[call.operation](call, target)
        return await self._node.answer(call)

    async def _query(self, call: Call, _target: Entity) -> Answer:
        wanted, names = call.filter, call.attribute_names
        known = _EVERY_ATTRIBUTE if wanted is None else tuple(wanted.attributes)
        unknown = [name for name in names if name not in known]
        if unknown:
            of_type = "" if wanted is None else f" for type {wanted.full_name}"
            raise NotFound(f"Unknown attributes {unknown}{of_type}.")
        names = names or list(known)
        view = f"general {'' if wanted is None else wanted.name}"
        return Answer(
            200, "OK", result(names, list(await self._pages.page(call, view, names, lambda: self._rows(wanted, names))))
        )

    async def _rows(self, wanted: EntityType | None, names: Sequence[str]) -> list[list[Any]]:
        rows = ([one.values.get(name) for name in names] for one in await self._entities(wanted))
        return [row for row in rows if any(cell is not None for cell in row)]

    async def _read(self, _call: Call, target: Entity) -> Answer:
        [found] = await with_live_attributes([target], self._backing)
        return Answer(200, "OK", found.as_map)

    async def _update(self, call: Call, target: Entity) -> Answer:
        kind = configurable(target.type)
        if kind is None or target.configured is None:
            raise not_implemented(call.operation, target.type)
        changed = await update(call, kind, target.configured, self._backing, self._index)
        return Answer(200, "OK", configured_entity(changed).as_map)

    async def _delete(self, call: Call, target: Entity) -> Answer:
        if target.configured is not None:
            await delete(target.configured, self._backing, self._index)
            return Answer(204, "No Content", {})
        end = next((source.end for source in SOURCES if source.type is target.type), None)
        if end is None:
            raise not_implemented(call.operation, target.type)
        await end(target, self._backing)
        return Answer(204, "No Content", {})

    async def _entities(self, wanted: EntityType | None) -> list[Entity]:
        """Return all entities of a type and of those built on it; without one, of the types that all routers have."""
        found = []
        for source in SOURCES:
            if _is_asked_for(source.type, wanted):
                found += await source.entities(self._backing)
        wanted_here = (one for one in self._backing.entities if _is_asked_for(one.type, wanted))
        configured = [configured_entity(one) for one in wanted_here if general_identity(one) is not None]
        shown = await with_live_attributes(configured, self._backing)
        return found + (list(map(_counting_what_is_listed, shown)) if wanted is None else shown)

    async def _target(self, call: Call) -> Entity:
        """Return the entity that a request is about; the management node if it names none."""
        wanted = call.type
        if call.name is None and call.identity is None:
            if wanted is None or _is_a(MANAGEMENT, wanted):
                return NODE
            raise BadRequest(f"{wanted.full_name}: No name or identity provided")
        found = await self._find(call, wanted)
        given = {"name": call.name, "identity": call.identity}
        if found is None:
            raise NotFound(f"No entity with {_in_words(given)}")
        if any(text is not None and found.values[attribute] != text for attribute, text in given.items()):
            raise BadRequest(f"Conflicting {_in_words(given)}")
        if not _is_a(found.type, wanted):
            requested = "" if wanted is None else wanted.full_name
            raise BadRequest(f"Entity type '{found.type.full_name}' does not extend requested type '{requested}'")
        return found

    async def _find(self, call: Call, wanted: EntityType | None) -> Entity | None:
        """Return the entity with this name or identity, one of the type that is wanted before others."""
        if SELF in (call.name, call.identity):
            return NODE
        found = None
        for kind, text in ((NAME, call.name), (IDENTITY, call.identity)):
            if text is None:
                continue
            if wanted is not None:
                found = self._index.find(kind, wanted.name, text)
            found = found or self._index.find_of_any_type(kind, text)
            if found is not None:
                return configured_entity(found)
        for source in SOURCES:
            if any(text is not None and text.startswith(source.name_prefix) for text in (call.name, call.identity)):
                for entity in await source.entities(self._backing):
                    if call.name == entity.values["name"] or call.identity == entity.values["identity"]:
                        return entity
        return None


def _counting_what_is_listed(entity: Entity) -> Entity:
    """Return an entity as it is in the list of all types. A router counts no links and addresses: there are none."""
    if entity.type is not ROUTER:
        return entity
    return replace(entity, values={**entity.values, "linkCount": whole(0), "addrCount": whole(0)})


async def _repeat(call: Call, _target: Entity) -> Answer:
    """Answer with what the request says, for those who try a tool."""
    return Answer(200, "OK", dict(call.properties))


def _is_a(entity_type: EntityType | None, wanted: EntityType | None) -> bool:
    while wanted is not None and entity_type is not None and entity_type is not wanted:
        entity_type = entity_type.base
    return entity_type is not None


def _is_asked_for(entity_type: EntityType, wanted: EntityType | None) -> bool:
    """Whether a query finds entities of a type. Tools may not know those that only this router has."""
    return entity_type.prefix != OWN_PREFIX if wanted is None else _is_a(entity_type, wanted)


def _in_words(given: Mapping[str, str | None]) -> str:
    return " ".join(f"{name}={shown_text(text)}" for name, text in given.items() if text is not None)


def shown_text(text: str) -> str:
    """Return a text as it is, or its beginning if it is long."""
    return text if len(shown(text)) == len(repr(text)) else f"{text[:100]}..."
