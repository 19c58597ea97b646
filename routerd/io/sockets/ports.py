"""The addresses a listener listens on, and the ports that the router keeps for itself while it runs.

Each worker of a router listens on the same port with its own socket, which SO_REUSEPORT allows. That option would also
let a second router of the same user share the port by mistake. So a port is first tried without it, and then kept by a
socket that never listens. Others find the port taken, and a worker that starts again does not. Where the configuration
asks for any port (0), the number stays the same.
"""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

PORT_MAX = 65535
ATTEMPTS_AT_ANY_PORT = 16
_FAMILIES = {None: socket.AF_UNSPEC, "IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}


class ListenFailed(Exception):
    """A listener that cannot have its address; the text says which and why."""

    def __init__(self, name: str | None, host: str, port: int | str, reason: str) -> None:
        super().__init__(name, host, port, reason)
        self.name, self.host, self.port, self.reason = name, host, port, reason

    def __str__(self) -> str:
        label = f" ({self.name})" if self.name else ""
        return f"{self.host}:{self.port}{label}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address of a listener, as the system takes it."""

    family: socket.AddressFamily
    address: Any
    accepts_both_families: bool = False

    def at_port(self, port: int) -> "Endpoint":
        """Return the same address with another port."""
        return Endpoint(self.family, (self.address[0], port, *self.address[2:]), self.accepts_both_families)


def endpoints_of(host: str, port: int | str, family: str | None = None) -> list[Endpoint]:
    """Return the addresses that a host and port stand for; no host is all addresses of both families.

    Raises OSError where there are none.
    """
    if isinstance(port, int) and not 0 <= port <= PORT_MAX:
        # The system would take it modulo 65536.
        raise OSError(f"port {port} is out of range (0 to {PORT_MAX})")
    if not host and family is None and (everywhere := _both_families(port)):
        return [everywhere]
    found = socket.getaddrinfo(host or None, port, _FAMILIES[family], socket.SOCK_STREAM, 0, socket.AI_PASSIVE)
    return list(dict.fromkeys(Endpoint(one[0], one[4]) for one in found))


def _both_families(port: int | str) -> Endpoint | None:
    """Return the address of everything for a socket of both families, if the system has such sockets."""
    if not socket.has_dualstack_ipv6():
        return None
    found = socket.getaddrinfo("::", port, socket.AF_INET6, socket.SOCK_STREAM, 0, socket.AI_PASSIVE)
    return Endpoint(socket.AF_INET6, found[0][4], accepts_both_families=True)


def bind(endpoint: Endpoint, *, shared: bool = True) -> socket.socket:
    """Return a socket at an address, which does not listen yet; shared with others of this user that are shared."""
    bound = socket.socket(endpoint.family, socket.SOCK_STREAM)
    try:
        # Connections of a former listener that wait for stray segments do not count.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, shared)
        if endpoint.family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not endpoint.accepts_both_families)
        bound.bind(endpoint.address)
    except BaseException:
        bound.close()
        raise
    return bound


@dataclass(frozen=True, slots=True)
class Reservation:
    """A port that is kept for this router."""

    port: int
    endpoints: tuple[Endpoint, ...]
    sockets: tuple[socket.socket, ...]

    def close(self) -> None:
        """Leave the port to others."""
        for kept in self.sockets:
            kept.close()


def reserve(host: str, port: int | str, *, family: str | None = None, name: str | None = None) -> Reservation:
    """Keep the port of a listener, any free one where it is 0; raises ListenFailed."""
    try:
        endpoints = endpoints_of(host, port, family)
        for _ in range(ATTEMPTS_AT_ANY_PORT):
            try:
                return _keep(endpoints)
            except OSError:
                # Any port, found at the first of several addresses, may be taken at the second.
                if len(endpoints) == 1 or endpoints[0].address[1] != 0:
                    raise
        return _keep(endpoints)
    except OSError as error:
        raise ListenFailed(name, host, port, error.strerror or str(error)) from error


def _keep(endpoints: Iterable[Endpoint]) -> Reservation:
    kept: list[socket.socket] = []
    placed: list[Endpoint] = []
    try:
        for endpoint in endpoints:
            if kept:
                endpoint = endpoint.at_port(kept[0].getsockname()[1])
            bind(endpoint, shared=False).close()
            kept.append(bind(endpoint))
            # Without this option the port is taken for others already now, before anybody listens.
            kept[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            placed.append(endpoint.at_port(kept[-1].getsockname()[1]))
    except BaseException:
        for one in kept:
            one.close()
        raise
    return Reservation(kept[0].getsockname()[1], tuple(placed), tuple(kept))
