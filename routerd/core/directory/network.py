"""What a worker knows of the other routers of its network: the way to each, and which addresses each has.

`NetworkNews` is what the routing engine tells the workers, plain values that can be pickled; `Network` is what a worker
has learned from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from routerd.core.directory.addresses import UPLINK

_NOBODY = frozenset[str]()


@dataclass(frozen=True, slots=True)
class RouteTo:
    """How another router is reached: over which neighbour, by which connection to it, and what the path costs."""

    next_hop: str
    trunk: int
    """The number of the connection, which tells the worker that has it, too."""
    cost: int


@dataclass(frozen=True, slots=True)
class MappedAddresses:
    """Addresses that a router has got consumers for, with the hints how to treat them, or has none for any more."""

    router: str
    added: Mapping[str, int]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkNews:
    """What a worker has to learn to know a version of the network."""

    version: tuple[int, int]
    """The engine's epoch and its count of news."""
    is_full: bool = False
    """Stands in for all that was known before."""
    routes: Mapping[str, RouteTo] | None = None
    """All routers that can be reached, if any route has changed."""
    radius: int = 0
    """How many hops the farthest is away; with the routes."""
    through: Mapping[str, frozenset[str]] | None = None
    """By the router where messages enter: those to which their path leads over us, strictly inside."""
    mapped: tuple[MappedAddresses, ...] = ()
    forgotten: tuple[str, ...] = ()
    """Routers whose addresses are no more."""
    checkpoint: object = None
    """What a new routing engine goes on from; the workers keep it."""
    link_state: Mapping[str, int] | None = None
    """What this router advertises of its trunks: the cost to each neighbour."""


@dataclass(slots=True)
class Network:
    """The network as a worker knows it."""

    version: tuple[int, int] = (0, 0)
    routes: dict[str, RouteTo] = field(default_factory=dict)
    radius: int = 0
    through: Mapping[str, frozenset[str]] = field(default_factory=dict)
    checkpoint: object = None
    link_state: Mapping[str, int] = field(default_factory=dict)
    _routers: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    """By address key who has it. Nearly all are at one router, which then stands here by itself."""
    _keys: dict[str, dict[str, int]] = field(default_factory=dict)
    """By router its addresses and their hints."""

    def routers_of(self, key: str) -> tuple[str, ...]:
        """Return the routers that have an address, whether or not they can be reached."""
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
        """Return how the first router that has the address treats it."""
        routers = self.routers_of(key)
        return self._keys.get(routers[0], {}).get(key) if routers else None

    def is_through_us(self, origin: str, routers: Iterable[str]) -> bool:
        """Whether the path from where a message entered leads over us to one of these routers."""
        return not self.through.get(origin, _NOBODY).isdisjoint(routers)

    def mapping(self) -> tuple[MappedAddresses, ...]:
        """Return all addresses of others, for a routing engine that has to learn them again."""
        return tuple(MappedAddresses(router, dict(keys)) for router, keys in self._keys.items())

    def apply(self, news: NetworkNews) -> dict[str, None]:
        """Take news; return, as keys, those of addresses that have come to a router or gone from one."""
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
