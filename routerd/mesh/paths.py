"""Shortest paths through the mesh, by what each router advertises of its links (inter-router protocol 3.8).

A router has a number for as long as anything is known of it; we are number 0. The links are kept twice: by id, as they
were advertised, and by number, in arrays that `compute` brings up to date. The numbers of routers that are gone are
given out anew.

Of the trees of other routers only what lies below us is kept: all trees of a mesh would take its square. They are
computed in the links of one moment, which stay as they were until the next one; which of them a change since then may
affect is seen from the few trees that lead backwards from the ends of the changed links.
"""

from array import array
from collections.abc import Mapping
from typing import Any

from routerd.mesh.errors import MeshError
from routerd.mesh.trees import Approaches, Network, Tree

COST_MAX = 2**31

_US = 0
_FEW = 32
"""Trees that are computed to find affected ones, however small the mesh is."""


class CostOutOfRange(MeshError):
    """Our caller reports a link with an impossible cost."""

    def __init__(self, router: str, peer: str, cost: int) -> None:
        super().__init__(f"cost {cost} of the link from {router} to {peer} is not from 1 to {COST_MAX}")
        self.router = router
        self.peer = peer
        self.cost = cost


class Paths:
    """The advertised links of each router, and the resulting paths: ours, and those of others that lead by us."""

    def __init__(self, own_id: str) -> None:
        self.radius = 0
        # The number of trees that the last start had to compute.
        self.awaited = 0
        self._own_id = own_id
        self._advertised: dict[str, dict[str, int]] = {own_id: {}}
        # The routers that mention a router, in the order of the first mention.
        self._mentions: dict[str, dict[str, None]] = {}
        self._dirty: dict[str, None] = {}
        self._numbers: dict[str, int] = {own_id: _US}
        # None where a number is free.
        self._ids: list[Any] = [own_id]
        self._links: list[dict[str, int]] = [{}]
        self._free: list[int] = []
        self._network = Network()
        self._network.number_routers(len(self._ids), self._numbers)
        self._network.lay_out(self._links, self._numbers)
        self._routes: dict[str, tuple[str, int, int]] = {}
        # As they were when `compute` was called last.
        self._computed = self._routes
        # The moment of the paths of others, and the routers with other links since.
        self._then = self._network
        self._ids_then = self._ids
        self._numbers_then = self._numbers
        self._links_then = self._links
        self._touched: dict[str, None] = {own_id: None}
        self._is_lent = False
        self._awaiting: list[int] = []
        self._finished: dict[str, None] = {}
        self._through: dict[str, frozenset[str]] = {}

    def set_links(self, router: str, costs: Mapping[str, int]) -> None:
        """Replace what a router advertises: its cost to each peer. Raises CostOutOfRange."""
        for peer, cost in costs.items():
            if not 1 <= cost <= COST_MAX:
                raise CostOutOfRange(router, peer, cost)
        links = dict(costs)
        links.pop(router, None)
        if links != self._advertised.get(router):
            self._mention(router, links)
            self._advertised[router] = links

    def forget(self, router: str) -> None:
        """Drop what a router advertises; it stays known while another one mentions it, and we always do."""
        if router == self._own_id:
            self.set_links(router, {})
        elif router in self._advertised:
            self._mention(router, {})
            del self._advertised[router]

    def compute(self) -> bool:
        """Compute our tree; return whether any next hop, cost or hop count changed."""
        self._update()
        is_changed = self._routes is not self._computed and self._routes != self._computed
        self._computed = self._routes
        return is_changed

    def routes(self) -> dict[str, tuple[str, int, int]]:
        """Return the next hop, cost and hops to each reachable router except ourselves."""
        return dict(self._routes)

    def begin_origins(self) -> None:
        """Find the routers whose trees have to be computed for `through_us`, by the present links."""
        self._update()
        self._drop_affected()
        self._is_lent = True
        self._then = self._network
        ids = self._ids_then = list(self._ids)
        self._numbers_then = dict(self._numbers)
        self._links_then = list(self._links)
        self._awaiting = []
        for origin in range(len(ids) - 1, _US, -1):
            router = ids[origin]
            if router not in self._routes:
                self._finished.pop(router, None)
                self._through.pop(router, None)
            elif router not in self._finished:
                self._awaiting.append(origin)
        self.awaited = len(self._awaiting)

    def advance_origins(self, trees: int) -> bool:
        """Compute up to this number of the outstanding trees; return whether none is left."""
        while trees > 0 and self._awaiting:
            trees -= 1
            origin = self._awaiting.pop()
            router = self._ids_then[origin]
            # It may be unreachable since.
            if router not in self._routes:
                continue
            below = self._below_us(self._then.tree_from(origin))
            self._finished[router] = None
            if below:
                self._through[router] = below
            else:
                self._through.pop(router, None)
        return not self._awaiting

    def through_us(self) -> dict[str, frozenset[str]]:
        """Return for each origin the destinations whose paths from there pass us, by the trees computed so far."""
        return dict(self._through)

    # --- what changed

    def _drop_affected(self) -> None:
        """Mark the trees that the changes since `_then` may affect, to be computed again."""
        if not self._finished:
            self._touched.clear()
            return
        changes = self._changes()
        approaches = Approaches()
        approaches.look_at(self._then)
        ends = {end: None for _, end, _ in changes if end >= 0}
        most = max(_FEW, len(self._finished) >> 1)
        for end in ends:
            most -= approaches.trees_for(end)
        if most < 0:
            # It is less work to compute them all.
            self._finished.clear()
            return
        marks = array("b", [0]) * self._then.size
        for start, end, cost in changes:
            if end < 0:
                approaches.mark_those_that_reach(marks, start)
            else:
                approaches.mark_affected(marks, start, end, cost)
        for origin in range(len(self._ids_then)):
            if marks[origin]:
                self._finished.pop(self._ids_then[origin], None)

    def _changes(self) -> list[tuple[int, int, int | None]]:
        """Return the links that are others than then, by the numbers of then, and what they cost now.

        Links that start at a new router are left out: paths reach it by another new link. A new end is below 0.
        """
        changes: list[tuple[int, int, int | None]] = []
        for router in self._touched:
            start = self._numbers_then.get(router)
            if start is None:
                continue
            before = self._links_then[start]
            after = self._links[self._numbers[router]] if router in self._numbers else {}
            for peer, cost in after.items():
                if before.get(peer) != cost:
                    changes.append((start, self._numbers_then.get(peer, -1), cost))
            for peer in before:
                if peer not in after:
                    changes.append((start, self._numbers_then[peer], None))
        self._touched.clear()
        return changes

    # --- what is advertised

    def _mention(self, router: str, links: dict[str, int]) -> None:
        before = self._advertised.get(router, {})
        self._dirty[router] = None
        for peer in before:
            if peer not in links:
                mentions = self._mentions[peer]
                del mentions[router]
                if not mentions:
                    del self._mentions[peer]
                self._dirty[peer] = None
        for peer in links:
            if peer not in before:
                self._mentions.setdefault(peer, {})[router] = None
                self._dirty[peer] = None

    def _links_of(self, router: str) -> dict[str, int] | None:
        links = self._advertised.get(router)
        if links is None and router in self._mentions:
            # So that a path leads to it: without one, it could not be asked for its link state (3.8).
            return {next(iter(self._mentions[router])): 1}
        return links

    # --- from ids to numbers

    def _update(self) -> None:
        if self._dirty:
            self._renew_links()
            self._renew_routes()

    def _renew_links(self) -> None:
        renewed: list[tuple[str, dict[str, int]]] = []
        gone: list[str] = []
        for router in self._dirty:
            self._touched[router] = None
            links = self._links_of(router)
            if links is None:
                gone.append(router)
            else:
                renewed.append((router, links))
        self._dirty.clear()
        is_renumbered = self._remove(gone)
        for router, links in renewed:
            is_renumbered = self._store(router, links) or is_renumbered
        if self._is_lent:
            self._is_lent = False
            self._network = Network()
            is_renumbered = True
        if is_renumbered:
            self._network.number_routers(len(self._ids), self._numbers)
        if is_renumbered or not self._replace(renewed):
            self._network.lay_out(self._links, self._numbers)

    def _remove(self, gone: list[str]) -> bool:
        """Free the numbers of unknown routers; return whether there were any."""
        count = len(self._free)
        for router in gone:
            # A router that came and went between two updates has no number.
            if router in self._numbers:
                number = self._numbers.pop(router)
                self._ids[number] = None
                self._links[number] = {}
                self._finished.pop(router, None)
                self._through.pop(router, None)
                self._free.append(number)
        return len(self._free) > count

    def _store(self, router: str, links: dict[str, int]) -> bool:
        """Take the links of a router; return whether it got a number for them."""
        if router in self._numbers:
            self._links[self._numbers[router]] = links
            return False
        if self._free:
            number = self._free.pop()
            self._ids[number] = router
            self._links[number] = links
        else:
            number = len(self._ids)
            self._ids.append(router)
            self._links.append(links)
        self._numbers[router] = number
        return True

    def _replace(self, renewed: list[tuple[str, dict[str, int]]]) -> bool:
        return all(self._network.replace(self._numbers[router], links, self._numbers) for router, links in renewed)

    # --- from trees to ids

    def _renew_routes(self) -> None:
        network = self._network
        tree = network.tree_from(_US)
        next_hop = array("i", [_US]) * network.size
        hops = array("i", [0]) * network.size
        routes: dict[str, tuple[str, int, int]] = {}
        self.radius = 0
        for i in range(1, network.settled_count):
            router = network.settled[i]
            parent = tree.parent[router]
            next_hop[router] = router if parent == _US else next_hop[parent]
            hops[router] = hops[parent] + 1
            if hops[router] > self.radius:
                self.radius = hops[router]
            routes[self._ids[router]] = (self._ids[next_hop[router]], tree.distance[router], hops[router])
        self._routes = routes

    def _below_us(self, tree: Tree) -> frozenset[str]:
        """Return the routers whose paths pass us, in the tree that was computed last."""
        network = self._then
        is_below = array("b", [0]) * network.size
        below: list[Any] = []
        for i in range(1, network.settled_count):
            router = network.settled[i]
            parent = tree.parent[router]
            if parent == _US or is_below[parent]:
                is_below[router] = 1
                below.append(self._ids_then[router])
        return frozenset(below)
