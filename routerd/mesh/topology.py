"""The paths through the mesh as they follow from the link states, and when they are computed.

In a small mesh they are computed at once. In a large one, a router that joins gets hundreds of link states within a
moment. So a computation waits a little for more of them, unless our own links have changed. Origins whose paths lead
through us are computed later, in slices.
"""

from collections.abc import Mapping
from math import inf

from routerd.mesh.paths import Paths
from routerd.mesh.routes import Route, Routes
from routerd.mesh.settings import (
    COMPUTE_GAP_A_ROUTER_S,
    COMPUTE_GAP_S,
    ORIGINS_GAP_S,
    ORIGINS_REST_MAX_S,
    ORIGINS_REST_S,
    SMALL_MESH,
    TREES_AT_ONCE,
)


class Topology:
    """The link states of the mesh, and the paths that are computed from them."""

    def __init__(self, own_id: str, version: int = 0) -> None:
        self._paths = Paths(own_id)
        self._paths.set_links(own_id, {})
        self._size = 0
        self._computed = self._began_origins = self._rested_origins = -inf
        self._is_slicing = False
        self._is_told = self._are_origins_told = False
        self.routes = Routes(version, 0, {}, {})
        self.ways: tuple[tuple[str, int], ...] = ()
        """The mark and the trunk of each neighbour that a message to all routers goes to."""
        self.origins_version = version
        self.through_us: Mapping[str, frozenset[str]] = {}
        self.due = inf
        """When to compute paths."""
        self.origins_due = inf
        """When to compute the paths of others, or to go on with it."""

    @property
    def is_small(self) -> bool:
        """Whether everything can be computed at once."""
        return self._size <= SMALL_MESH

    def set_links(self, router: str, links: Mapping[str, int]) -> None:
        """Replace what a router advertises."""
        self._paths.set_links(router, links)

    def forget(self, router: str) -> None:
        """Drop what a router advertises."""
        self._paths.forget(router)

    def changed(self, now: float, *, is_urgent: bool = False) -> None:
        """Have paths computed again."""
        gap_s = max(COMPUTE_GAP_S, self._size * COMPUTE_GAP_A_ROUTER_S)
        at = now if is_urgent or self.is_small else max(now, self._computed + gap_s)
        self.due = min(self.due, at)

    def compute(self, now: float, size: int, trunks: Mapping[str, tuple[int, ...]]) -> bool:
        """Compute the paths over the trunks to the neighbours; return whether the routes are to be told.

        They are when they changed, and the first time: whoever is told may know those of an engine before.
        """
        self._size = size
        self._computed = now
        self.due = inf
        self.origins_due = max(now, self._began_origins + ORIGINS_GAP_S, self._rested_origins)
        self._is_slicing = False
        has_changed = self._paths.compute() or trunks != self.routes.neighbours
        if self._is_told and not has_changed:
            return False
        self._is_told = True
        known = self.routes.nodes
        nodes: dict[str, Route] = {}
        for router, (next_hop, cost, hops) in self._paths.routes().items():
            trunk = trunks[next_hop][0]
            route = known.get(router)
            is_same = route is not None and (route.next_hop, route.trunk, route.cost, route.hops) == (
                next_hop,
                trunk,
                cost,
                hops,
            )
            nodes[router] = route if route is not None and is_same else Route(router, next_hop, trunk, cost, hops)
        self.routes = Routes(self.routes.version + 1, self._paths.radius, nodes, trunks)
        next_hops = dict.fromkeys(route.next_hop for route in nodes.values())
        self.ways = tuple((f"0/{router}", trunks[router][0]) for router in next_hops)
        return True

    def compute_origins(self, now: float) -> bool:
        """Do some of the work on the paths of others; return whether what came of it is to be told."""
        if not self._is_slicing:
            self._is_slicing = True
            self._began_origins = now
            self.origins_version = self.routes.version
            self._paths.begin_origins()
            rest_s = min(self._paths.awaited**2 * ORIGINS_REST_S, ORIGINS_REST_MAX_S)
            self._rested_origins = -inf if self.is_small else now + rest_s
        is_done = self._paths.advance_origins(SMALL_MESH if self.is_small else TREES_AT_ONCE)
        if not is_done:
            self.origins_due = now
            return False
        self._is_slicing = False
        self.origins_due = inf
        through_us = self._paths.through_us()
        if self._are_origins_told and through_us == self.through_us:
            return False
        self._are_origins_told = True
        self.through_us = through_us
        return True
