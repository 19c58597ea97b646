"""Exchanges and bindings as clients see them: what is configured, and what has been counted (4.2)."""

from collections.abc import Sequence

from routerd.config import ConfiguredEntity
from routerd.config.kinds import BINDING
from routerd.management.agent.container_uses import UseRow
from routerd.management.agent.numbers import uint, ulong
from routerd.management.backing import Backing


async def exchange_rows(entities: Sequence[ConfiguredEntity], backing: Backing) -> list[UseRow]:
    """Return exchanges with their counters."""
    if not entities:
        return []
    rows = {row.name: row for row in await backing.exchanges()}
    bindings = [one.values["exchangeName"] for one in backing.entities if one.type is BINDING]
    found = []
    for entity in entities:
        name = entity.name or ""
        row = rows.get(name)
        live = {
            "bindingCount": uint(bindings.count(name)),
            "receivedCount": ulong(0 if row is None else row.received),
            "droppedCount": ulong(0 if row is None else row.dropped),
            "forwardedCount": ulong(0 if row is None else row.forwarded),
            "divertedCount": ulong(0 if row is None else row.diverted),
        }
        found.append(UseRow(entity, live))
    return found


async def binding_rows(entities: Sequence[ConfiguredEntity], backing: Backing) -> list[UseRow]:
    """Return bindings with their counters."""
    if not entities:
        return []
    matched = {(row.exchange, row.name): row.matched for row in await backing.bindings()}
    return [
        UseRow(one, {"matchedCount": ulong(matched.get((one.values["exchangeName"], one.name or one.label), 0))})
        for one in entities
    ]
