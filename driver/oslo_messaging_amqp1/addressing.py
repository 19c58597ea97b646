"""How the AMQP address of a target is composed: one way for brokers ("legacy"), one for routers ("routable")."""

import enum
from dataclasses import dataclass
from typing import Protocol

from .settings import Settings

BROKERS = (None, "qpid-cpp", "RabbitMQ")
"""The values of `product` for which dynamic addressing is legacy; None stands for an open without it."""
LAST_RESORT_EXCHANGE = "openstack"


class Service(enum.Enum):
    """The purpose of an address."""

    RPC = "rpc"
    NOTIFY = "notify"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a message goes to or a subscription gets it from: the parts of a target that make an address."""

    topic: str
    exchange: str | None = None
    server: str | None = None
    fanout: bool = False
    service: Service = Service.RPC


class Addressing(Protocol):
    """Composes addresses."""

    def multicast(self, destination: Destination) -> str:
        """Return the address of all servers of a topic."""

    def unicast(self, destination: Destination) -> str:
        """Return the address of one server."""

    def anycast(self, destination: Destination) -> str:
        """Return the address of any one server of a topic."""


def address(addressing: Addressing, destination: Destination) -> str:
    """Return the address of a destination."""
    if destination.fanout:
        return addressing.multicast(destination)
    if destination.server:
        return addressing.unicast(destination)
    return addressing.anycast(destination)


def subscriptions(addressing: Addressing, destination: Destination) -> tuple[str, ...]:
    """Return the addresses that a listener for a destination is subscribed to."""
    if destination.service is Service.NOTIFY:
        return (addressing.anycast(destination),)
    return (addressing.unicast(destination), addressing.multicast(destination), addressing.anycast(destination))


class LegacyAddressing:
    """Addresses for brokers; RPC and notifications are not told apart, nor are the default exchanges looked at."""

    def __init__(self, options: Settings, default_exchange: str | None, vhost: str | None) -> None:
        self._options = options
        self._default_exchange = default_exchange
        self._vhost = vhost

    def multicast(self, destination: Destination) -> str:
        return self._joined(self._options.broadcast_prefix, destination, "all")

    def unicast(self, destination: Destination) -> str:
        return self._joined(self._options.server_request_prefix, destination, destination.server)

    def anycast(self, destination: Destination) -> str:
        return self._joined(self._options.group_request_prefix, destination, None)

    def _joined(self, prefix: str, destination: Destination, last: str | None) -> str:
        exchange = destination.exchange or self._default_exchange
        return ".".join(filter(None, (prefix, self._vhost, exchange, destination.topic, last)))


class RoutableAddressing:
    """Addresses for routers, which forward by prefixes."""

    def __init__(self, options: Settings, default_exchange: str | None, vhost: str | None) -> None:
        self._options = options
        self._vhost = vhost
        self._prefixes = {Service.RPC: options.rpc_address_prefix, Service.NOTIFY: options.notify_address_prefix}
        self._exchanges = {
            Service.RPC: options.default_rpc_exchange or default_exchange or LAST_RESORT_EXCHANGE,
            Service.NOTIFY: options.default_notification_exchange or default_exchange or LAST_RESORT_EXCHANGE,
        }

    def multicast(self, destination: Destination) -> str:
        return self._joined(self._options.multicast_address, destination, None)

    def unicast(self, destination: Destination) -> str:
        return self._joined(self._options.unicast_address, destination, destination.server)

    def anycast(self, destination: Destination) -> str:
        return self._joined(self._options.anycast_address, destination, None)

    def _joined(self, pattern: str, destination: Destination, last: str | None) -> str:
        service = destination.service
        exchange = destination.exchange or self._exchanges[service]
        parts = (self._prefixes[service], pattern, self._vhost, exchange, destination.topic, last)
        return "/".join(filter(None, parts))


def addressing_for(
    product: str | None, options: Settings, default_exchange: str | None, vhost: str | None
) -> Addressing:
    """Return the addressing for a peer, by its `product`."""
    mode = options.addressing_mode
    if mode == "dynamic":
        mode = "legacy" if product in BROKERS else "routable"
    made = LegacyAddressing if mode == "legacy" else RoutableAddressing
    return made(options, default_exchange, vhost)
