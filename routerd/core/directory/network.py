"""A worker's knowledge of the network: the route to each router, and the addresses of each.

The routing engine sends `NetworkNews` to the workers, as plain values that can be pickled. A worker applies them to its
`Network`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from routerd.core.directory.addresses import UPLINK

_NOBODY = frozenset[str]()


@dataclass(frozen=True, slots=True)
class RouteTo:
    """The route to another router: the neighbour, the connection to it, and the cost of the path."""

    next_hop: str
    trunk: int
    """The number of the connection, which also names its worker."""
    cost: int


@dataclass(frozen=True, slots=True)
class MappedAddresses:
    """Addresses for which a router gained consumers, with their treatment hints, or lost the last one."""

    router: str
    added: Mapping[str, int]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkNews:
    """The changes that bring a worker to a version of the network."""

    version: tuple[int, int]
    """The engine's epoch and its count of news."""
    is_full: bool = False
    """Whether it replaces all that was known before."""
    routes: Mapping[str, RouteTo] | None = None
    """All routers that can be reached, if any route has changed."""
    radius: int = 0
    """The hops to the farthest router; sent with the routes."""
    through: Mapping[str, frozenset[str]] | None = None
    """By ingress router: the routers to which its paths lead over this router, strictly inside the path."""
    mapped: tuple[MappedAddresses, ...] = ()
    forgotten: tuple[str, ...] = ()
    """Routers whose addresses are withdrawn."""
    checkpoint: object = None
    """State from which a new routing engine continues; the workers keep it."""
    link_state: Mapping[str, int] | None = None
    """The trunks that this router advertises: the cost to each neighbour."""


@dataclass(slots=True)
class Network:
    """The network from the view of a worker."""

    version: tuple[int, int] = (0, 0)
    routes: dict[str, RouteTo] = field(default_factory=dict)
    radius: int = 0
    through: Mapping[str, frozenset[str]] = field(default_factory=dict)
    checkpoint: object = None
    link_state: Mapping[str, int] = field(default_factory=dict)
    _routers: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    """By address key, the routers that have it. A single router stands here without a set, as nearly all addresses have
    one.
    """
    _keys: dict[str, dict[str, int]] = field(default_factory=dict)
    """By router, its addresses and their hints."""

    @property
    def is_known(self) -> bool:
        """Whether the routing engine has told this worker anything."""
        return self.version > (0, 0)

    def routers_of(self, key: str) -> tuple[str, ...]:
        """Return the routers that have an address, reachable or not."""
        if key[:1] == "R":
            return (key[1:],)
        if key == UPLINK:
            return tuple(self.routes)
        found = self._routers.get(key, ())
        return (found,) if isinstance(found, str) else found

    def known_keys(self) -> list[str]:
        """Return the addresses of other routers."""
        return list(self._routers)

    def reaches(self, key: str) -> bool:
        """Whether a router that has the address can be reached."""
        routes = self.routes
        return any(router in routes for router in self.routers_of(key))

    def hint_of(self, key: str) -> int | None:
        """Return the treatment hint of the first router that has the address."""
        routers = self.routers_of(key)
        return self._keys.get(routers[0], {}).get(key) if routers else None

    def is_through_us(self, origin: str, routers: Iterable[str]) -> bool:
        """Whether the path from the ingress router leads over this router to one of these routers."""
        return not self.through.get(origin, _NOBODY).isdisjoint(routers)

    def mapping(self) -> tuple[MappedAddresses, ...]:
        """Return all addresses of other routers, for a new routing engine."""
        return tuple(MappedAddresses(router, dict(keys)) for router, keys in self._keys.items())

    def apply(self, news: NetworkNews) -> dict[str, None]:
        """Apply news; return the keys of addresses that a router gained or lost."""
        touched: dict[str, None] = {}
        if news.is_full:
            touched.update(dict.fromkeys(self._routers))
            self._routers.clear()
            self._keys.clear()
            self.routes, self.radius, self.through = {}, 0, {}
            self.link_state = {}
        for router in news.forgotten:
            for key in self._keys.pop(router, {}):
                self._unmap(router, key)
                touched[key] = None
        for mapped in news.mapped:
            self._map(mapped)
            touched.update(dict.fromkeys((*mapped.removed, *mapped.added)))
        if news.routes is not None:
            self.routes, self.radius = dict(news.routes), news.radius
        if news.through is not None:
            self.through = news.through
        if news.checkpoint is not None:
            self.checkpoint = news.checkpoint
        if news.link_state is not None:
            self.link_state = news.link_state
        self.version = news.version
        return touched

    def _map(self, mapped: MappedAddresses) -> None:
        router = mapped.router
        keys = self._keys.setdefault(router, {})
        for key in mapped.removed:
            if keys.pop(key, None) is not None:
                self._unmap(router, key)
        for key, hint in mapped.added.items():
            if key not in keys:
                others = self._routers.get(key)
                if others is None:
                    self._routers[key] = router
                else:
                    self._routers[key] = (others, router) if isinstance(others, str) else (*others, router)
            keys[key] = hint
        if not keys:
            del self._keys[router]

    def _unmap(self, router: str, key: str) -> None:
        others = self._routers.get(key)
        if isinstance(others, str) or others is None:
            self._routers.pop(key, None)
            return
        left = tuple(one for one in others if one != router)
        self._routers[key] = left[0] if len(left) == 1 else left
