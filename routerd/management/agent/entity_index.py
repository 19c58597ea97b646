"""Which configured entities there are, by all that they are called and by what no two may have.

The router owns the entities; the index follows what it finds there. It takes a step for each change, not one for each
entity, as long as the changes are the agent's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from routerd.config import ConfiguredEntity, configurable
from routerd.management.agent.naming import general_identity, shown_name
from routerd.management.backing import Backing

Key = tuple[str, str, str]
"""What kind of thing it is, the type of the entity, and the text."""

NAME, IDENTITY, NUMBER, LIVE_NAME, UNIQUE = ("name", "identity", "number", "live name", "unique text")


def keys_of(entity: ConfiguredEntity) -> list[Key]:
    """Return by what an entity is found."""
    kind = entity.type.name
    keys: list[Key] = []
    identity, name = general_identity(entity), shown_name(entity)
    if identity is not None and name is not None:
        keys += [(NAME, kind, name), (IDENTITY, kind, identity)]
    if entity.type.is_numbered:
        keys.append((NUMBER, kind, entity.identity))
        if name is not None:
            keys.append((LIVE_NAME, kind, name))
    configured = configurable(entity.type)
    unique = None if configured is None else configured.unique_text(entity.values)
    if unique is not None:
        keys.append((UNIQUE, kind, unique))
    return keys


class EntityIndex:
    """The configured entities of a router."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing
        self._found: dict[Key, ConfiguredEntity] = {}
        self._types: dict[str, None] = {}
        self._claimed: set[Key] = set()
        self._count = 0
        self._last: ConfiguredEntity | None = None

    def find(self, kind: str, entity_type: str, text: str) -> ConfiguredEntity | None:
        """Return the entity of a type that is called this."""
        self._follow()
        return self._found.get((kind, entity_type, text))

    def find_of_any_type(self, kind: str, text: str) -> ConfiguredEntity | None:
        """Return the first entity that is called this."""
        self._follow()
        found = (self._found.get((kind, name, text)) for name in self._types)
        return next((one for one in found if one is not None), None)

    def is_taken(self, key: Key) -> bool:
        """Whether an entity has this, or is about to."""
        self._follow()
        return key in self._found or key in self._claimed

    def is_under_change(self, key: Key) -> bool:
        """Whether another request is about what this belongs to."""
        return key in self._claimed

    @contextmanager
    def claimed(self, keys: list[Key]) -> Iterator[None]:
        """Let no other request have these meanwhile."""
        self._claimed.update(keys)
        try:
            yield
        finally:
            self._claimed.difference_update(keys)

    def forget(self, entity: ConfiguredEntity) -> None:
        """Follow the router in that it has no such entity any more."""
        for key in keys_of(entity):
            if self._found.get(key) is entity:
                del self._found[key]
        entities = self._backing.entities
        if len(entities) == self._count - 1:
            self._count -= 1
            self._last = entities[-1] if entities else None
        else:
            self._start_again()

    def replace(self, old: ConfiguredEntity, new: ConfiguredEntity) -> None:
        """Follow the router in that it has a new entity in the place of an old one."""
        self._found.update(dict.fromkeys(keys_of(new), new))
        if self._last is old:
            self._last = new

    def _follow(self) -> None:
        entities = self._backing.entities
        count = len(entities)
        if count < self._count or (self._count and entities[self._count - 1] is not self._last):
            self._start_again()
        for entity in entities[self._count :]:
            self._types.setdefault(entity.type.name)
            for key in keys_of(entity):
                self._found.setdefault(key, entity)
        if count > self._count:
            self._last = entities[-1]
        self._count = count

    def _start_again(self) -> None:
        self._found.clear()
        self._types.clear()
        self._count = 0
        self._last = None
