"""The management schema: `model` says what types and attributes are, one module a family declares them.

`routerd.config.kinds` declares the types of configuration. This package declares the operational types, the base types,
and those that are not supported yet. `values` holds what is given against an attribute.
"""

from routerd.config.schema.addresses import CONNECTION_LINK_ROUTE
from routerd.config.schema.connections import CONNECTION
from routerd.config.schema.foundations import MANAGEMENT
from routerd.config.schema.logs import LOG_LEVELS, LOG_MODULES, LOG_STATS
from routerd.config.schema.mobula import CERTIFICATE, CONNECTION_ACTOR, FABRIC_LINK
from routerd.config.schema.model import OWN_PREFIX, PREFIX, Attribute, EntityType, Purpose, Rights, ValueType
from routerd.config.schema.process import ALLOCATOR, CONSOLE
from routerd.config.schema.security import VHOST_STATS
from routerd.config.schema.topics import DELIVERY_TOPIC, PUBLISHER, SUBSCRIPTION
from routerd.config.schema.traffic import ROUTER_ADDRESS, ROUTER_LINK, ROUTER_NODE
from routerd.config.schema.values import SHOWN_MAX, ValueRefused, closest, convert, shown

__all__ = [
    "ALLOCATOR",
    "CERTIFICATE",
    "CONNECTION",
    "CONNECTION_ACTOR",
    "CONNECTION_LINK_ROUTE",
    "CONSOLE",
    "DELIVERY_TOPIC",
    "FABRIC_LINK",
    "LOG_LEVELS",
    "LOG_MODULES",
    "LOG_STATS",
    "MANAGEMENT",
    "OWN_PREFIX",
    "PREFIX",
    "PUBLISHER",
    "ROUTER_ADDRESS",
    "ROUTER_LINK",
    "ROUTER_NODE",
    "SHOWN_MAX",
    "SUBSCRIPTION",
    "VHOST_STATS",
    "Attribute",
    "EntityType",
    "Purpose",
    "Rights",
    "ValueRefused",
    "ValueType",
    "closest",
    "convert",
    "shown",
]
