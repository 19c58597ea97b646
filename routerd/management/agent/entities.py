"""The entities of the general view, type by type: what is configured, and what is shown beside it (4.1, 5.6, 5.7)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from routerd.config import ConfiguredEntity, configurable
from routerd.config.kinds import AUTO_LINK, CONNECTOR, LINK_ROUTE, POLICY, RECORD, ROUTER, VHOST
from routerd.config.schema import (
    ALLOCATOR,
    CERTIFICATE,
    CONNECTION_ACTOR,
    DELIVERY_TOPIC,
    FABRIC_LINK,
    LOG_LEVELS,
    LOG_MODULES,
    LOG_STATS,
    MANAGEMENT,
    PUBLISHER,
    ROUTER_NODE,
    SUBSCRIPTION,
    VHOST_STATS,
    EntityType,
)
from routerd.management.agent.container_uses import use_rows
from routerd.management.agent.entity import Entity, entity_of
from routerd.management.agent.general_creation import SELF
from routerd.management.agent.naming import general_identity, shown_name
from routerd.management.agent.network import NODE_COLUMNS, UNKNOWN_STATE, connector_states
from routerd.management.agent.numbers import as_general, whole
from routerd.management.agent.own_columns import ACTOR_COLUMNS, FABRIC_LINK_COLUMNS, fabric_ends
from routerd.management.agent.policy_columns import policy_values, vhost_values
from routerd.management.agent.recording_columns import recording_values
from routerd.management.agent.router_columns import AREA, ROUTER_COLUMNS, router_row
from routerd.management.agent.topics import (
    PUBLISHER_PREFIX,
    SUBSCRIPTION_PREFIX,
    TOPIC_PREFIX,
    end_subscription,
    publisher_entities,
    subscription_entities,
    topic_entities,
)
from routerd.management.backing import Backing
from routerd.management.certificates import first_to_expire
from routerd.management.rows import PoolRow

CERTIFICATE_PREFIX = "certificate/"
"""What the names and identities of certificates begin with."""

NODE = entity_of(MANAGEMENT, SELF, SELF, {})


def configured_entity(configured: ConfiguredEntity) -> Entity:
    """Return an entity that was configured, and is one of the general view."""
    kind = configurable(configured.type)
    values = configured.values if kind is None else kind.shown(configured.values)
    shown = {name: as_general(value) for name, value in values.items()}
    for name, attribute in configured.type.attributes.items():
        if attribute.is_hidden:
            shown[name] = None
    shown |= {
        "name": shown_name(configured),
        "identity": general_identity(configured),
        "type": configured.type.full_name,
    }
    return Entity(configured.type, shown, configured)


Beside = Callable[[Sequence[Entity], Backing], Awaitable[Sequence[Mapping[str, Any]]]]
"""Returns what there is to tell of each entity of a type beside what is configured."""


async def with_live_attributes(entities: Sequence[Entity], backing: Backing) -> list[Entity]:
    """Return entities with what there is to tell of them beside what is configured."""
    by_type: dict[str, list[Entity]] = {}
    for entity in entities:
        by_type.setdefault(entity.type.name, []).append(entity)
    beside = {
        name: iter(await _BESIDE[name](some, backing)) for name, some in by_type.items() if name in _BESIDE
    }
    return [
        replace(one, values={**one.values, **next(beside[one.type.name])}) if one.type.name in beside else one
        for one in entities
    ]


async def _router_counters(entities: Sequence[Entity], backing: Backing) -> Sequence[Mapping[str, Any]]:
    row = await router_row(backing, ROUTER_COLUMNS)
    counted = {
        name: as_general(read(row))
        for name, read in ROUTER_COLUMNS.items()
        if name in ROUTER.attributes and name not in ("name", "identity", "type")
    }
    counted |= {"area": AREA, "blockedLinkCount": as_general(ROUTER_COLUMNS["linksBlocked"](row))}
    return [counted] * len(entities)


async def _policy_counters(entities: Sequence[Entity], backing: Backing) -> Sequence[Mapping[str, Any]]:
    return [policy_values(await backing.policy())] * len(entities)


async def _record_counters(entities: Sequence[Entity], backing: Backing) -> Sequence[Mapping[str, Any]]:
    return [recording_values(await backing.workers())] * len(entities)


async def _vhost_groups(entities: Sequence[Entity], _backing: Backing) -> Sequence[Mapping[str, Any]]:
    # Tools look into the map without asking whether there is one.
    return [{"groups": entity.values["groups"] or {}} for entity in entities]


async def _connector_states(entities: Sequence[Entity], backing: Backing) -> Sequence[Mapping[str, Any]]:
    states = connector_states(await backing.connectors())
    return [states.get(entity.values["identity"], UNKNOWN_STATE) for entity in entities]


async def _uses(entities: Sequence[Entity], backing: Backing) -> Sequence[Mapping[str, Any]]:
    configured = [entity.configured for entity in entities if entity.configured is not None]
    return [row.live for row in await use_rows(configured, backing)]


_BESIDE: Mapping[str, Beside] = {
    ROUTER.name: _router_counters,
    POLICY.name: _policy_counters,
    RECORD.name: _record_counters,
    VHOST.name: _vhost_groups,
    CONNECTOR.name: _connector_states,
    LINK_ROUTE.name: _uses,
    AUTO_LINK.name: _uses,
}
"""By type; others have nothing beside what is configured."""


async def _management_nodes(_backing: Backing) -> list[Entity]:
    return [NODE]


async def _routers(backing: Backing) -> list[Entity]:
    found = []
    for row in await backing.nodes():
        identity = f"router.node/{row.id}"
        values = {name: read(row) for name, read in NODE_COLUMNS.items()}
        found.append(entity_of(ROUTER_NODE, identity, identity, values))
    return found


async def _log_stats(backing: Backing) -> list[Entity]:
    counts = await backing.log_counts()
    modules = [*LOG_MODULES, *sorted(counts.keys() - set(LOG_MODULES))]
    found = []
    for module in modules:
        of_module = counts.get(module, {})
        values = {f"{level}Count": whole(of_module.get(level, 0)) for level in LOG_LEVELS}
        found.append(entity_of(LOG_STATS, f"logStats/{module}", module, values))
    return found


async def _allocators(backing: Backing) -> list[Entity]:
    return [
        entity_of(ALLOCATOR, f"allocator/{row.name}", f"allocator/{row.name}", _allocator(row))
        for row in await backing.pools()
    ]


def _allocator(row: PoolRow) -> dict[str, Any]:
    # Objects move one by one, and there is one pool for all: there are no batches to count.
    return {
        "typeName": row.name,
        "typeSize": whole(row.object_octets),
        "transferBatchSize": whole(1),
        "localFreeListMax": whole(0),
        "globalFreeListMax": whole(0),
        "totalAllocFromHeap": whole(row.allocated),
        "totalFreeToHeap": whole(0),
        "heldByThreads": whole(row.in_use),
        "batchesRebalancedToThreads": whole(0),
        "batchesRebalancedToGlobal": whole(0),
    }


async def _vhost_stats(backing: Backing) -> list[Entity]:
    configured = [one.values["hostname"] for one in backing.entities if one.type is VHOST]
    return [
        entity_of(VHOST_STATS, f"vhostStats/{hostname}", f"vhostStats/{hostname}", values)
        for hostname, values in vhost_values(configured, await backing.policy()).items()
    ]


async def _actors(backing: Backing) -> list[Entity]:
    return [
        entity_of(
            CONNECTION_ACTOR,
            f"connectionActor/{row.worker}",
            row.role,
            {name: read(row) for name, read in ACTOR_COLUMNS.items()},
        )
        for row in await backing.workers()
    ]


async def _fabric_links(backing: Backing) -> list[Entity]:
    found = []
    for end in fabric_ends(await backing.links(), await backing.connections()):
        identity = f"fabricLink/{end.link.link}"
        values = {name: read(end) for name, read in FABRIC_LINK_COLUMNS.items()}
        found.append(entity_of(FABRIC_LINK, identity, identity, values))
    return found


async def _certificates(backing: Backing) -> list[Entity]:
    found = []
    for profile, certificate in first_to_expire(await backing.certificates()).items():
        identity = CERTIFICATE_PREFIX + profile
        values = {"profile": profile, "subject": certificate.subject, "expiry": whole(certificate.expires_at)}
        found.append(entity_of(CERTIFICATE, identity, identity, values))
    return found


@dataclass(frozen=True, slots=True)
class Source:
    """Where entities of one type come from that are not configured."""

    type: EntityType
    entities: Callable[[Backing], Awaitable[list[Entity]]]
    name_prefix: str = ""
    """What all their names and identities begin with."""
    end: Callable[[Entity, Backing], Awaitable[None]] | None = None
    """Ends one of them, if that can be done; raises NotFound."""


SOURCES = (
    Source(MANAGEMENT, _management_nodes, SELF),
    Source(ROUTER_NODE, _routers, "router.node/"),
    Source(LOG_STATS, _log_stats),
    Source(ALLOCATOR, _allocators, "allocator/"),
    Source(VHOST_STATS, _vhost_stats, "vhostStats/"),
    Source(CONNECTION_ACTOR, _actors),
    Source(FABRIC_LINK, _fabric_links, "fabricLink/"),
    Source(CERTIFICATE, _certificates, CERTIFICATE_PREFIX),
    Source(DELIVERY_TOPIC, topic_entities, TOPIC_PREFIX),
    Source(PUBLISHER, publisher_entities, PUBLISHER_PREFIX),
    Source(SUBSCRIPTION, subscription_entities, SUBSCRIPTION_PREFIX, end_subscription),
)
