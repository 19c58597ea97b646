"""All entity types, and how they are found by the names that people and peers give them."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from routerd.management.schema.addresses import (
    ADDRESS,
    AUTO_LINK,
    BINDING,
    CONNECTION_LINK_ROUTE,
    EXCHANGE,
    LINK_ROUTE,
)
from routerd.management.schema.connections import CONNECTION, CONNECTOR, LISTENER
from routerd.management.schema.foundations import (
    AMQP_MANAGEMENT,
    CONFIGURATION_ENTITY,
    ENTITY,
    MANAGEMENT,
    OPERATIONAL_ENTITY,
)
from routerd.management.schema.logs import LOG, LOG_STATS
from routerd.management.schema.model import PREFIX, EntityType
from routerd.management.schema.process import ALLOCATOR, CONSOLE, DUMMY
from routerd.management.schema.router import ROUTER
from routerd.management.schema.security import (
    AUTH_SERVICE_PLUGIN,
    POLICY,
    SSL_PROFILE,
    VHOST,
    VHOST_STATS,
    VHOST_USER_GROUP_SETTINGS,
)
from routerd.management.schema.traffic import ROUTER_ADDRESS, ROUTER_LINK, ROUTER_NODE

_ALL = (
    ENTITY,
    AMQP_MANAGEMENT,
    MANAGEMENT,
    CONFIGURATION_ENTITY,
    OPERATIONAL_ENTITY,
    ROUTER,
    SSL_PROFILE,
    AUTH_SERVICE_PLUGIN,
    LISTENER,
    CONNECTOR,
    LOG,
    LOG_STATS,
    ADDRESS,
    LINK_ROUTE,
    AUTO_LINK,
    EXCHANGE,
    BINDING,
    ROUTER_LINK,
    ROUTER_ADDRESS,
    ROUTER_NODE,
    CONNECTION,
    ALLOCATOR,
    CONSOLE,
    POLICY,
    VHOST,
    VHOST_USER_GROUP_SETTINGS,
    VHOST_STATS,
    DUMMY,
    CONNECTION_LINK_ROUTE,
)

ENTITY_TYPES: Mapping[str, EntityType] = MappingProxyType({one.name: one for one in _ALL})
"""By name, without PREFIX."""

SECTIONS: Mapping[str, EntityType] = MappingProxyType({one.section: one for one in _ALL if one.section})
"""Those that a configuration file has sections for, by their names there."""


def find_entity_type(name: str) -> EntityType | None:
    """Return the type with this name: that of its section, its full name, or its full name without PREFIX."""
    return SECTIONS.get(name) or ENTITY_TYPES.get(name.removeprefix(PREFIX))


def closest(name: str, names: tuple[str, ...]) -> str | None:
    """Return which of the names was probably meant, if any is close."""
    folded = {one.casefold(): one for one in names}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None
