"""The classes that handle entities at workers, by kind."""

from collections.abc import Mapping
from typing import Any

from routerd.config import Configurable
from routerd.config.kinds import (
    AuthServiceKind,
    BindingKind,
    ConnectorKind,
    ExchangeKind,
    ListenerKind,
    LogKind,
    RecordKind,
    SslProfileKind,
)
from routerd.io.entities.auth_services import AuthServices
from routerd.io.entities.connectors import OwnedConnectors
from routerd.io.entities.exchanges import Bindings, HostedExchanges
from routerd.io.entities.listeners import ListenersAtPorts
from routerd.io.entities.logs import LogModules
from routerd.io.entities.records import Records
from routerd.io.entities.running import InRouter, Running
from routerd.io.entities.ssl_profiles import SslProfiles

TABLE: Mapping[type[Configurable[Any]], Running[Any]] = {
    SslProfileKind: SslProfiles(),
    AuthServiceKind: AuthServices(),
    ListenerKind: ListenersAtPorts(),
    ConnectorKind: OwnedConnectors(),
    LogKind: LogModules(),
    ExchangeKind: HostedExchanges(),
    BindingKind: Bindings(),
    RecordKind: Records(),
}
"""Kinds that need more than the router of a worker. For others, the kind itself changes the router."""


def running(kind: Configurable[Any]) -> Running[Any]:
    """Return the class for the entities of a kind."""
    return TABLE.get(type(kind)) or InRouter(kind)
