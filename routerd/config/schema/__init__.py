"""The management schema: `model` says what types and attributes are, one module a family declares them.

`foundations`, `router`, `connections`, `addresses`, `logs`, `security`, `traffic`, `process`, `records` and `mobula`
are the families. `values` holds what is given against an attribute.
"""

from routerd.config.schema.addresses import ADDRESS, AUTO_LINK, BINDING, CONNECTION_LINK_ROUTE, EXCHANGE, LINK_ROUTE
from routerd.config.schema.connections import CONNECTION, CONNECTOR, LISTENER
from routerd.config.schema.foundations import MANAGEMENT
from routerd.config.schema.logs import LOG, LOG_LEVELS, LOG_MODULES, LOG_STATS
from routerd.config.schema.mobula import CONNECTION_ACTOR, FABRIC_LINK
from routerd.config.schema.model import OWN_PREFIX, PREFIX, Attribute, EntityType, Kind, Rights, ValueType
from routerd.config.schema.process import ALLOCATOR, CONSOLE, DUMMY
from routerd.config.schema.records import RECORD, RECORD_COUNTERS
from routerd.config.schema.router import ROUTER
from routerd.config.schema.security import POLICY, VHOST, VHOST_STATS
from routerd.config.schema.traffic import ROUTER_ADDRESS, ROUTER_LINK, ROUTER_NODE
from routerd.config.schema.values import SHOWN_MAX, ValueRefused, closest, convert, shown

__all__ = [
    "ADDRESS",
    "ALLOCATOR",
    "AUTO_LINK",
    "BINDING",
    "CONNECTION",
    "CONNECTION_ACTOR",
    "CONNECTION_LINK_ROUTE",
    "CONNECTOR",
    "CONSOLE",
    "DUMMY",
    "EXCHANGE",
    "FABRIC_LINK",
    "LINK_ROUTE",
    "LISTENER",
    "LOG",
    "LOG_LEVELS",
    "LOG_MODULES",
    "LOG_STATS",
    "MANAGEMENT",
    "OWN_PREFIX",
    "POLICY",
    "PREFIX",
    "RECORD",
    "RECORD_COUNTERS",
    "ROUTER",
    "ROUTER_ADDRESS",
    "ROUTER_LINK",
    "ROUTER_NODE",
    "SHOWN_MAX",
    "VHOST",
    "VHOST_STATS",
    "Attribute",
    "EntityType",
    "Kind",
    "Rights",
    "ValueRefused",
    "ValueType",
    "closest",
    "convert",
    "shown",
]
