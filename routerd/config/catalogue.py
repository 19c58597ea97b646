"""The table of all entity types, and how they are found by the names that people and peers give them.

A row that is a `Configurable` can be configured; others can be watched, are built on, or are not supported yet.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from routerd.config.configurable import Configurable
from routerd.config.kinds.address import AddressKind
from routerd.config.kinds.auth_service_plugin import AuthServiceKind
from routerd.config.kinds.auto_link import AutoLinkKind
from routerd.config.kinds.binding import BindingKind
from routerd.config.kinds.connector import ConnectorKind
from routerd.config.kinds.dummy import DummyKind
from routerd.config.kinds.exchange import ExchangeKind
from routerd.config.kinds.link_route import LinkRouteKind
from routerd.config.kinds.listener import ListenerKind
from routerd.config.kinds.log import LogKind
from routerd.config.kinds.policy import PolicyKind
from routerd.config.kinds.record import RecordKind
from routerd.config.kinds.router import RouterKind
from routerd.config.kinds.ssl_profile import SslProfileKind
from routerd.config.kinds.vhost import VhostKind
from routerd.config.kinds.vhost_group import VHOST_USER_GROUP_SETTINGS
from routerd.config.schema.addresses import CONNECTION_LINK_ROUTE
from routerd.config.schema.connections import CONNECTION
from routerd.config.schema.foundations import (
    AMQP_MANAGEMENT,
    CONFIGURATION_ENTITY,
    ENTITY,
    MANAGEMENT,
    OPERATIONAL_ENTITY,
)
from routerd.config.schema.logs import LOG_STATS
from routerd.config.schema.mobula import CERTIFICATE, CONNECTION_ACTOR, FABRIC_LINK
from routerd.config.schema.model import OWN_PREFIX, PREFIX, EntityType
from routerd.config.schema.process import ALLOCATOR, CONSOLE
from routerd.config.schema.security import VHOST_STATS
from routerd.config.schema.topics import DELIVERY_TOPIC, PUBLISHER, SUBSCRIPTION
from routerd.config.schema.traffic import ROUTER_ADDRESS, ROUTER_LINK, ROUTER_NODE

TABLE: tuple[Configurable[Any] | EntityType, ...] = (
    ENTITY,
    AMQP_MANAGEMENT,
    MANAGEMENT,
    CONFIGURATION_ENTITY,
    OPERATIONAL_ENTITY,
    RouterKind(),
    SslProfileKind(),
    AuthServiceKind(),
    ListenerKind(),
    ConnectorKind(),
    LogKind(),
    LOG_STATS,
    AddressKind(),
    LinkRouteKind(),
    AutoLinkKind(),
    ExchangeKind(),
    BindingKind(),
    ROUTER_LINK,
    ROUTER_ADDRESS,
    ROUTER_NODE,
    CONNECTION,
    ALLOCATOR,
    CONSOLE,
    PolicyKind(),
    VhostKind(),
    VHOST_USER_GROUP_SETTINGS,
    VHOST_STATS,
    DummyKind(),
    CONNECTION_LINK_ROUTE,
    CONNECTION_ACTOR,
    FABRIC_LINK,
    CERTIFICATE,
    RecordKind(),
    DELIVERY_TOPIC,
    PUBLISHER,
    SUBSCRIPTION,
)
"""Errors, the schema and docs/ have the types in this order."""

CONFIGURABLES: tuple[Configurable[Any], ...] = tuple(row for row in TABLE if isinstance(row, Configurable))
"""What can be configured."""

_TYPES = tuple(row.type if isinstance(row, Configurable) else row for row in TABLE)

ENTITY_TYPES: Mapping[str, EntityType] = MappingProxyType({one.name: one for one in _TYPES if one.prefix == PREFIX})
"""By name, without PREFIX: those that routers of this kind have, and tools know."""

OWN_TYPES: Mapping[str, EntityType] = MappingProxyType({one.name: one for one in _TYPES if one.prefix == OWN_PREFIX})
"""By name, without OWN_PREFIX: those that only this router has."""

ALL_TYPES: tuple[EntityType, ...] = (*ENTITY_TYPES.values(), *OWN_TYPES.values())

SECTIONS: Mapping[str, EntityType] = MappingProxyType({one.section: one for one in ALL_TYPES if one.section})
"""Those that a configuration file has sections for, by their names there."""

_KINDS = {one.type.name: one for one in CONFIGURABLES}


def configurable(entity_type: EntityType) -> Configurable[Any] | None:
    """Return the kind of the entities of a type, None if they cannot be configured."""
    return _KINDS.get(entity_type.name)


def find_entity_type(name: str) -> EntityType | None:
    """Return the type with this name: that of its section, its full name, or its full name without the prefix."""
    # Tools put PREFIX before any name without a dot, those of our own types too.
    name_of_tools = name.removeprefix(PREFIX)
    own_name = name_of_tools.removeprefix(OWN_PREFIX)
    return SECTIONS.get(name) or ENTITY_TYPES.get(name_of_tools) or OWN_TYPES.get(own_name)
