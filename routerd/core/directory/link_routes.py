"""Link routes: they pass links on as a whole to a container, and choose among several containers.

A link route is a pattern of addresses and a direction, as a client sees it. The direction is `in` for links on which
clients send, `out` for links on which they receive. All link routes with one pattern share a key. With this key,
routers and workers tell each other that they have a container. Keys of prefixes begin with `C` and `D`, keys of other
patterns with `E` and `F`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from routerd.core.directory.pattern_tree import PatternTree, tokens_of
from routerd.core.errors import InvalidPattern
from routerd.core.settings import LinkDirection, LinkRouteSettings

if TYPE_CHECKING:
    from routerd.core.directory.directory import Directory
    from routerd.core.links.peer import Peer
    from routerd.core.links.trunk import Trunk

COORDINATOR = "$coordinator"
"""The address by which links to a transaction coordinator are routed."""
ADDRESS_PROPERTY = "x-opt-qd.address"
"""The property of a dynamic node that names its link route by an address."""


_LETTERS = {LinkDirection.IN: ("C", "E"), LinkDirection.OUT: ("D", "F")}
_DIRECTIONS = {letter: direction for direction, letters in _LETTERS.items() for letter in letters}
_PREFIX_LETTERS = "CD"
_WILDCARDS = ("*", "#")


def key_of(pattern: str, direction: LinkDirection) -> str:
    """Return the key of a pattern; raises InvalidPattern."""
    if not tokens_of(pattern):
        raise InvalidPattern(pattern)
    pattern = pattern.strip("./")
    of_prefix, of_pattern = _LETTERS[direction]
    return of_prefix + pattern[:-2] if is_prefix_pattern(pattern) else of_pattern + pattern


def is_prefix_pattern(pattern: str) -> bool:
    """Whether a pattern is that of a prefix: its only wildcard is `#` at the end."""
    prefix = pattern[:-2] if pattern.endswith(("/#", ".#")) else ""
    return bool(prefix) and not any(wildcard in prefix for wildcard in _WILDCARDS)


def is_link_route(key: str) -> bool:
    """Whether a key is that of a link route."""
    return key[:1] in _DIRECTIONS


def direction_of(key: str) -> LinkDirection:
    """Return the direction of a link route."""
    return _DIRECTIONS[key[:1]]


def pattern_of(key: str) -> str:
    """Return the pattern of a link route."""
    return f"{key[1:]}/#" if key[:1] in _PREFIX_LETTERS else key[1:]


class RoutedPattern:
    """A key, with the link routes that are configured here and their containers."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.direction = direction_of(key)
        self.pattern = pattern_of(key)
        self.routes: dict[str, LinkRouteSettings] = {}
        # The connections of containers, each with the link route that found it. The first one takes the next link.
        self.containers: list[tuple[LinkRouteSettings, Peer]] = []
        # The router and the sibling that took the last link.
        self._last_router = ""
        self._last_sibling = -1

    def container(self, excluded: "Peer | None" = None) -> "tuple[LinkRouteSettings, Peer] | None":
        """Return the next container to take a link, unless it is at the excluded connection."""
        for _ in range(len(self.containers)):
            found = self.containers.pop(0)
            self.containers.append(found)
            if found[1] is not excluded:
                return found
        return None

    def has_container(self, excluded: "Peer | None") -> bool:
        """Whether there is a container at this worker, apart from the excluded connection."""
        return any(peer is not excluded for _, peer in self.containers)

    def next_router(self, routers: Iterable[str]) -> str | None:
        """Return the next of these routers to take a link."""
        ordered = sorted(routers)
        if not ordered:
            return None
        self._last_router = next((one for one in ordered if one > self._last_router), ordered[0])
        return self._last_router

    def next_sibling(self, siblings: Iterable[int]) -> int | None:
        """Return the next of these siblings to take a link."""
        ordered = sorted(siblings)
        if not ordered:
            return None
        self._last_sibling = next((one for one in ordered if one > self._last_sibling), ordered[0])
        return self._last_sibling


class LinkRoutes:
    """The link routes that a worker knows: its own, and those of siblings and other routers."""

    def __init__(self, directory: "Directory") -> None:
        self._directory = directory
        self._by_key: dict[str, RoutedPattern] = {}
        self._by_name: dict[str, RoutedPattern] = {}
        # At an edge router, the keys for which containers came or left.
        self.turned: dict[str, None] = {}
        # Patterns with different spellings may have the same tokens.
        self._trees: dict[LinkDirection, PatternTree[list[RoutedPattern]]] = {
            direction: PatternTree() for direction in LinkDirection
        }

    # --- configuration

    def add(self, settings: LinkRouteSettings) -> None:
        """Add a link route; raises InvalidPattern."""
        pattern = self._pattern(key_of(settings.pattern, settings.direction))
        pattern.routes[settings.name] = settings
        self._by_name[settings.name] = pattern

    def remove(self, name: str) -> None:
        """Remove a link route; links that are routed stay."""
        pattern = self._by_name.pop(name, None)
        if pattern is not None:
            del pattern.routes[name]
            self._set_containers(pattern, [one for one in pattern.containers if one[0].name != name])

    def activated(self, name: str, peer: "Peer") -> None:
        """Let a connected container take the links of a link route."""
        pattern = self._by_name.get(name)
        if pattern is not None:
            self._set_containers(pattern, [*pattern.containers, (pattern.routes[name], peer)])

    def deactivated(self, name: str, peer: "Peer") -> None:
        """Route no more links of a link route to a connection."""
        pattern = self._by_name.get(name)
        if pattern is not None:
            left = [one for one in pattern.containers if one[0].name != name or one[1] is not peer]
            self._set_containers(pattern, left)

    def _set_containers(self, pattern: RoutedPattern, containers: "list[tuple[LinkRouteSettings, Peer]]") -> None:
        if len(containers) != len(pattern.containers):
            pattern.containers = containers
            self._directory.changed[pattern.key] = None
            if self._directory.is_edge:
                self.turned[pattern.key] = None
        self._forget_if_idle(pattern)

    # --- what others have

    def touched(self, key: str) -> None:
        """Check whether siblings or other routers have a key, which may have changed."""
        if self._is_elsewhere(key):
            if tokens_of(key[1:]):
                self._pattern(key)
        elif key in self._by_key:
            self._forget_if_idle(self._by_key[key])

    def _is_elsewhere(self, key: str) -> bool:
        return bool(self._directory.network.routers_of(key)) or self._directory.remote_consumers(key) > 0

    # --- what there is

    def __bool__(self) -> bool:
        return bool(self._by_key)

    @property
    def patterns(self) -> dict[str, RoutedPattern]:
        """All keys with their link routes and containers."""
        return self._by_key

    def containers_of(self, key: str) -> int:
        """Return the number of this worker's connections to containers for a key."""
        pattern = self._by_key.get(key)
        return 0 if pattern is None else len(pattern.containers)

    def match(self, address: str, direction: LinkDirection) -> RoutedPattern | None:
        """Return the best match of an address."""
        found = self._trees[direction].match(address)
        if not found:
            return None
        return next((one for one in found if self.has_destination(one)), found[0])

    def has_destination(self, pattern: RoutedPattern, excluded: "Peer | None" = None) -> bool:
        """Whether there is a container here, at a sibling, or at a reachable router."""
        return bool(
            pattern.has_container(excluded)
            or self.siblings_with(pattern.key)
            or self.routers_with(pattern.key, None)
        )

    def siblings_with(self, key: str) -> list[int]:
        """Return the connected siblings that have a container."""
        return [
            worker
            for worker, neighbour in self._directory.neighbours.items()
            if neighbour.interests.get(key) and neighbour.peer is not None and not neighbour.is_lost
        ]

    def routers_with(self, key: str, behind: "Trunk | None") -> list[str]:
        """Return the reachable routers that have a container, except those behind a given trunk."""
        network = self._directory.network
        excluded = -1 if behind is None else behind.peer.number
        return [
            router
            for router in network.routers_of(key)
            if router in network.routes and network.routes[router].trunk != excluded
        ]

    # --- inside

    def _pattern(self, key: str) -> RoutedPattern:
        pattern = self._by_key.get(key)
        if pattern is None:
            pattern = self._by_key[key] = RoutedPattern(key)
            tree = self._trees[pattern.direction]
            shared = tree.find(pattern.pattern)
            if shared is None:
                tree.add(pattern.pattern, [pattern])
            else:
                shared.append(pattern)
        return pattern

    def _forget_if_idle(self, pattern: RoutedPattern) -> None:
        if pattern.routes or self._is_elsewhere(pattern.key):
            return
        del self._by_key[pattern.key]
        tree = self._trees[pattern.direction]
        shared = tree.find(pattern.pattern)
        if shared is not None:
            shared.remove(pattern)
            if not shared:
                tree.remove(pattern.pattern)
