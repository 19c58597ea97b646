"""The network as link states describe it, and the paths that its routers take: by the mesh's own path code."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise

from routerd.mesh.paths import Paths

LinkStates = Mapping[str, Mapping[str, int]]
"""What each router advertises: its cost to each neighbour."""


class Network:
    """Paths between all routers, computed from link states that both ends of each trunk agree on."""

    def __init__(self, states: LinkStates) -> None:
        self.states = {router: dict(costs) for router, costs in states.items()}
        self._routes: dict[str, dict[str, tuple[str, int, int]]] = {}
        self._walks: dict[tuple[str, str], tuple[str, ...] | None] = {}

    @cached_property
    def routers(self) -> tuple[str, ...]:
        """All routers that advertise or are mentioned."""
        return tuple(sorted({*self.states, *(peer for costs in self.states.values() for peer in costs)}))

    @cached_property
    def trunks(self) -> tuple[tuple[str, str, int], ...]:
        """Each trunk once: its two routers in order, and the cost that the first says, or else the second."""
        found = {}
        for router, costs in self.states.items():
            for peer, cost in costs.items():
                ends = (router, peer) if router < peer else (peer, router)
                if ends not in found or router == ends[0]:
                    found[ends] = cost
        return tuple((one, other, cost) for (one, other), cost in sorted(found.items()))

    def routes(self, router: str) -> dict[str, tuple[str, int, int]]:
        """Return next hop, cost and hops to each router that this one reaches."""
        if router not in self._routes:
            paths = Paths(router)
            for advertiser, costs in self.states.items():
                # Only what both ends advertise can be used.
                usable = {peer: cost for peer, cost in costs.items() if advertiser in self.states.get(peer, {})}
                paths.set_links(advertiser, usable)
            paths.compute()
            self._routes[router] = paths.routes()
        return self._routes[router]

    def cost(self, origin: str, destination: str) -> int | None:
        """Return the cost of the best path, or None when there is none."""
        if origin == destination:
            return 0
        found = self.routes(origin).get(destination)
        return found[1] if found else None

    def path(self, origin: str, destination: str) -> tuple[str, ...] | None:
        """Return the routers that a message passes, both ends included: each one decides by its own paths."""
        key = (origin, destination)
        if key not in self._walks:
            self._walks[key] = self._walk(origin, destination)
        return self._walks[key]

    def _walk(self, origin: str, destination: str) -> tuple[str, ...] | None:
        passed = [origin]
        while passed[-1] != destination:
            found = self.routes(passed[-1]).get(destination)
            # Routers whose states disagree may send a message round.
            if found is None or found[0] in passed:
                return None
            passed.append(found[0])
        return tuple(passed)

    def cost_along(self, path: Iterable[str]) -> int | None:
        """Return the sum of the costs that each router of a path advertises to the next, or None if one does not."""
        total = 0
        routers = list(path)
        for router, following in pairwise(routers):
            cost = self.states.get(router, {}).get(following)
            if cost is None:
                return None
            total += cost
        return total

    @cached_property
    def with_equal_costs(self) -> "Network":
        """The same trunks at a cost of 1 each: its paths are those of the fewest hops."""
        return Network({router: dict.fromkeys(costs, 1) for router, costs in self.states.items()})
