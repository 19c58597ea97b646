"""Where routers and clients run: all on one host, or each router in a network namespace as if it had one to itself."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from bench.free_ports import free_ports
from bench.namespaces import inside, ip

CLIENTS, TRUNKS = "clients", "trunks"
NETWORKS = (CLIENTS, TRUNKS)
"""Two networks: clients reach routers over one, and routers each other over the other."""


@dataclass(frozen=True, slots=True)
class Socket:
    """Where a router listens."""

    host: str
    port: int


class Place(Protocol):
    """Where everything runs."""

    can_split: bool
    """Whether a router can be cut off from others."""

    def socket(self, router: str, network: str) -> Socket:
        """Return where a router listens for clients, or for other routers."""

    def at_router(self, router: str) -> AbstractContextManager[None]:
        """Have a process that is started be on the host of a router."""

    def at_clients(self) -> AbstractContextManager[None]:
        """Have a process that is started be where clients are."""

    def cut(self, router: str, network: str) -> None:
        """Cut a router off a network, without a word to anybody."""

    def join(self, router: str, network: str) -> None:
        """Join a router to a network again."""

    def close(self) -> None:
        """Leave nothing behind."""


class OneHost:
    """Everything is on this host, at free ports."""

    can_split = False

    def __init__(self, routers: Sequence[str]) -> None:
        ports = iter(free_ports(2 * len(routers)))
        self._sockets = {
            (router, network): Socket("127.0.0.1", next(ports)) for router in routers for network in NETWORKS
        }

    def socket(self, router: str, network: str) -> Socket:
        """Return where a router listens."""
        return self._sockets[router, network]

    def at_router(self, router: str) -> AbstractContextManager[None]:
        """Return a context in which nothing is different."""
        return nullcontext()

    def at_clients(self) -> AbstractContextManager[None]:
        """Return a context in which nothing is different."""
        return nullcontext()

    def cut(self, router: str, network: str) -> None:
        """Refuse: there are no cables."""
        raise NotImplementedError(f"{router} has no cable to {network}")

    def join(self, router: str, network: str) -> None:
        """Refuse."""
        raise NotImplementedError(f"{router} has no cable to {network}")

    def close(self) -> None:
        """There is nothing to leave."""


class OwnHosts:
    """A namespace for each router, and one with the clients and the switches of both networks."""

    can_split = True
    PORT = 5672

    def __init__(self, routers: Sequence[str]) -> None:
        self._numbers = {router: 10 + number for number, router in enumerate(routers)}
        self._names = {router: f"topics-{os.getpid()}-{router.lower()}" for router in routers}
        self._hub = f"topics-{os.getpid()}-hub"
        self._made: list[str] = []
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    def _make(self) -> None:
        for name in (self._hub, *self._names.values()):
            ip("netns", "add", name)
            self._made.append(name)
            ip("-n", name, "link", "set", "lo", "up")
        for network in NETWORKS:
            ip("-n", self._hub, "link", "add", network, "type", "bridge")
            ip("-n", self._hub, "link", "set", network, "up")
        ip("-n", self._hub, "address", "add", f"{_subnet(CLIENTS)}.1/24", "dev", CLIENTS)
        for router, name in self._names.items():
            for network in NETWORKS:
                cable = _cable(router, network)
                ip("-n", self._hub, "link", "add", cable, "type", "veth", "peer", "name", network, "netns", name)
                ip("-n", self._hub, "link", "set", cable, "master", network)
                address = f"{self.socket(router, network).host}/24"
                ip("-n", name, "address", "add", address, "dev", network)
                ip("-n", name, "link", "set", network, "up")
                self.join(router, network)

    def socket(self, router: str, network: str) -> Socket:
        """Return where a router listens."""
        return Socket(f"{_subnet(network)}.{self._numbers[router]}", self.PORT)

    def at_router(self, router: str) -> AbstractContextManager[None]:
        """Have a process that is started be on the host of a router."""
        return inside(self._names[router])

    def at_clients(self) -> AbstractContextManager[None]:
        """Have a process that is started be on the host of the clients."""
        return inside(self._hub)

    def cut(self, router: str, network: str) -> None:
        """Pull a cable."""
        ip("-n", self._hub, "link", "set", _cable(router, network), "down")

    def join(self, router: str, network: str) -> None:
        """Plug a cable."""
        ip("-n", self._hub, "link", "set", _cable(router, network), "up")

    def close(self) -> None:
        """Remove the namespaces."""
        while self._made:
            ip("netns", "delete", self._made.pop())


def _cable(router: str, network: str) -> str:
    return f"{network}-{router.lower()}"


def _subnet(network: str) -> str:
    return f"10.214.{NETWORKS.index(network)}"


@contextmanager
def a_place(routers: Sequence[str], *, has_own_hosts: bool) -> Iterator[Place]:
    """Make a place, and remove it afterwards."""
    place: Place = OwnHosts(routers) if has_own_hosts else OneHost(routers)
    try:
        yield place
    finally:
        place.close()
