"""The end of a configured entity."""

from routerd.config import ConfiguredEntity
from routerd.management.agent.entity_index import EntityIndex, keys_of
from routerd.management.agent.refusals import NotFound
from routerd.management.backing import Backing


async def delete(entity: ConfiguredEntity, backing: Backing, index: EntityIndex) -> None:
    """Have the router do without an entity."""
    keys = keys_of(entity)
    if any(map(index.is_under_change, keys)):
        raise NotFound()
    with index.claimed(keys):
        await backing.delete(entity)
        index.forget(entity)
