"""The hosts and the virtual host that a transport URL names."""

from dataclasses import dataclass
from typing import Any

from .errors import InvalidURL

DEFAULT_PORT = 5672


@dataclass(frozen=True, slots=True)
class Host:
    """One peer that the transport may connect to, and who we are there."""

    name: str
    port: int
    user: str | None = None
    password: str | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.port}"

    def __repr__(self) -> str:
        return f"Host({self.name!r}, {self.port}, user={self.user!r})"


def hosts_of(url: Any, default_realm: str = "") -> tuple[Host, ...]:
    """Return the hosts of an oslo.messaging TransportURL in their order; without any it is this host."""
    return tuple(_host(url, one, default_realm) for one in url.hosts) or (Host("localhost", DEFAULT_PORT),)


def _host(url: Any, one: Any, default_realm: str) -> Host:
    port = one.port or DEFAULT_PORT
    if not 0 < port < 65536:
        raise InvalidURL(str(url), f"Port {port} of host {one.hostname} is not between 1 and 65535")
    user = one.username or None
    if user and default_realm and "@" not in user:
        user = f"{user}@{default_realm}"
    return Host(one.hostname or "localhost", port, user, one.password)


def vhost_of(url: Any) -> str | None:
    """Return the virtual host of an oslo.messaging TransportURL; an empty one counts as none."""
    return url.virtual_host or None
