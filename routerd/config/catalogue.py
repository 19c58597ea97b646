"""All entity types, and how they are found by the names that people and peers give them."""

from collections.abc import Mapping
from types import MappingProxyType

from routerd.config.schema.addresses import (
    ADDRESS,
    AUTO_LINK,
    BINDING,
    CONNECTION_LINK_ROUTE,
    EXCHANGE,
    LINK_ROUTE,
)
from routerd.config.schema.connections import CONNECTION, CONNECTOR, LISTENER
from routerd.config.schema.foundations import (
    AMQP_MANAGEMENT,
    CONFIGURATION_ENTITY,
    ENTITY,
    MANAGEMENT,
    OPERATIONAL_ENTITY,
)
from routerd.config.schema.logs import LOG, LOG_STATS
from routerd.config.schema.mobula import CONNECTION_ACTOR, FABRIC_LINK
from routerd.config.schema.model import OWN_PREFIX, PREFIX, EntityType
from routerd.config.schema.process import ALLOCATOR, CONSOLE, DUMMY
from routerd.config.schema.records import RECORD
from routerd.config.schema.router import ROUTER
from routerd.config.schema.security import (
    AUTH_SERVICE_PLUGIN,
    POLICY,
    SSL_PROFILE,
    VHOST,
    VHOST_STATS,
    VHOST_USER_GROUP_SETTINGS,
)
from routerd.config.schema.traffic import ROUTER_ADDRESS, ROUTER_LINK, ROUTER_NODE

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
"""By name, without PREFIX: those that routers of this kind have, and tools know."""

OWN_TYPES: Mapping[str, EntityType] = MappingProxyType(
    {one.name: one for one in (CONNECTION_ACTOR, FABRIC_LINK, RECORD)}
)
"""By name, without OWN_PREFIX: those that only this router has."""

ALL_TYPES: tuple[EntityType, ...] = (*ENTITY_TYPES.values(), *OWN_TYPES.values())

SECTIONS: Mapping[str, EntityType] = MappingProxyType({one.section: one for one in ALL_TYPES if one.section})
"""Those that a configuration file has sections for, by their names there."""


def find_entity_type(name: str) -> EntityType | None:
    """Return the type with this name: that of its section, its full name, or its full name without the prefix."""
    # Tools put PREFIX before any name without a dot, those of our own types too.
    name_of_tools = name.removeprefix(PREFIX)
    own_name = name_of_tools.removeprefix(OWN_PREFIX)
    return SECTIONS.get(name) or ENTITY_TYPES.get(name_of_tools) or OWN_TYPES.get(own_name)
