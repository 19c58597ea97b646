"""Link routes and auto-links as clients see them: what is configured, and how it fares at the workers (4.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routerd.config import ConfiguredEntity
from routerd.config.kinds import AUTO_LINK, LINK_ROUTE
from routerd.management.backing import Backing
from routerd.management.rows import AutoLinkRow

INACTIVE, ACTIVE = ("inactive", "active")
_BY_MERIT = (ACTIVE, "attaching", "failed", "quiescing", INACTIVE)
"""What an auto-link is at several workers is the first of these that it is at one."""


@dataclass(frozen=True, slots=True)
class UseRow:
    """An entity such as a link route, and what there is to tell of it beside what is configured."""

    entity: ConfiguredEntity
    live: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """That of the entity."""
        return self.entity.identity

    @property
    def name(self) -> str | None:
        """That of the entity."""
        return self.entity.name


async def use_rows(entities: Sequence[ConfiguredEntity], backing: Backing) -> list[UseRow]:
    """Return entities of one of the two types with how they fare."""
    if not entities:
        return []
    is_route = entities[0].type is LINK_ROUTE
    states = await link_route_states(backing) if is_route else await auto_link_states(backing)
    unknown = NO_CONTAINER if is_route else NO_LINK
    return [UseRow(one, states.get(one.name or one.label, unknown)) for one in entities]


async def link_route_states(backing: Backing) -> Mapping[str, Mapping[str, Any]]:
    """Return what there is to tell of each link route, by its name or what stands in for it."""
    active = {row.name for row in await backing.link_routes() if row.connections}
    return {name: {"operStatus": ACTIVE} for name in active}


async def auto_link_states(backing: Backing) -> Mapping[str, Mapping[str, Any]]:
    """Return what there is to tell of each auto-link, by its name or what stands in for it."""
    by_name: dict[str, list[AutoLinkRow]] = {}
    for row in await backing.auto_links():
        by_name.setdefault(row.name, []).append(row)
    return {name: _together(rows) for name, rows in by_name.items()}


def _together(rows: Iterable[AutoLinkRow]) -> Mapping[str, Any]:
    ordered = sorted(rows, key=lambda row: _BY_MERIT.index(row.status))
    link = next((row.link for row in ordered if row.link is not None), None)
    return {
        "operStatus": ordered[0].status,
        "linkRef": None if link is None else str(link),
        "lastError": next((row.last_error for row in ordered if row.last_error is not None), None),
    }


NO_CONTAINER: Mapping[str, Any] = {"operStatus": INACTIVE}
NO_LINK: Mapping[str, Any] = {"operStatus": INACTIVE, "linkRef": None, "lastError": None}

USES = (LINK_ROUTE, AUTO_LINK)
