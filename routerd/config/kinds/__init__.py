"""The kinds of entities that can be configured, one module each: schema, frozen configuration, and how one is read.

`routerd.config.catalogue` has them in its table.
"""

from routerd.config.kinds.address import ADDRESS, AddressKind, pattern_of
from routerd.config.kinds.auth_service_plugin import AuthServiceKind
from routerd.config.kinds.auto_link import AUTO_LINK, AutoLinkKind, auto_link_phase
from routerd.config.kinds.binding import BINDING, LEADS_BACK, BindingKind, fault_of_key, key_of, next_hop_of, ways_of
from routerd.config.kinds.connector import CONNECTOR, MECHANISMS_WITH_PASSWORD, ConnectorKind
from routerd.config.kinds.container_attributes import BOTH_PLACES
from routerd.config.kinds.exchange import EXCHANGE, ExchangeKind, add_ways, alternates_of, is_for_exchange, spot_of
from routerd.config.kinds.link_route import LINK_ROUTE, LinkRouteKind, route_pattern_of
from routerd.config.kinds.listener import LISTENER, ListenerKind
from routerd.config.kinds.log import BUILT_IN_LOG, LOG, LogKind, in_every_folder
from routerd.config.kinds.policy import POLICY
from routerd.config.kinds.record import RECORD, RecordKind
from routerd.config.kinds.router import ROUTER
from routerd.config.kinds.ssl_profile import SSL_PROFILE, SslProfileKind
from routerd.config.kinds.vhost import VHOST, VhostKind

__all__ = [
    "ADDRESS",
    "AUTO_LINK",
    "BINDING",
    "BOTH_PLACES",
    "BUILT_IN_LOG",
    "CONNECTOR",
    "EXCHANGE",
    "LEADS_BACK",
    "LINK_ROUTE",
    "LISTENER",
    "LOG",
    "MECHANISMS_WITH_PASSWORD",
    "POLICY",
    "RECORD",
    "ROUTER",
    "SSL_PROFILE",
    "VHOST",
    "AddressKind",
    "AuthServiceKind",
    "AutoLinkKind",
    "BindingKind",
    "ConnectorKind",
    "ExchangeKind",
    "LinkRouteKind",
    "ListenerKind",
    "LogKind",
    "RecordKind",
    "SslProfileKind",
    "VhostKind",
    "add_ways",
    "alternates_of",
    "auto_link_phase",
    "fault_of_key",
    "in_every_folder",
    "is_for_exchange",
    "key_of",
    "next_hop_of",
    "pattern_of",
    "route_pattern_of",
    "spot_of",
    "ways_of",
]
