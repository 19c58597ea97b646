"""Shortest paths through the mesh, by what each router advertises of its links (inter-router protocol 3.8).

A router has a number for as long as anything is known of it; we are number 0. The links are kept twice: by id, as they
were advertised, and by number, in arrays that `compute` brings up to date. The trees of all other routers are kept, and
computed again only where a change may affect them. The numbers of routers that are gone are given out anew; the trees
that such a router was in have lost a link of their own by then.
"""

from array import array
from collections.abc import Mapping
from typing import Any

from routerd.mesh.errors import MeshError
from routerd.mesh.trees import LinkChanges, Network, Tree

COST_MAX = 2**31

_US = 0


class CostOutOfRange(MeshError):
    """Our caller tells of a link with a cost that none can have."""

    def __init__(self, router: str, peer: str, cost: int) -> None:
        super().__init__(f"cost {cost} of the link from {router} to {peer} is not from 1 to {COST_MAX}")
        self.router = router
        self.peer = peer
        self.cost = cost


class Paths:
    """What each router advertises of its links, and the paths that follow from it: ours, and those that lead by us."""

    def __init__(self, own_id: str) -> None:
        self.radius = 0
        self._own_id = own_id
        self._advertised: dict[str, dict[str, int]] = {own_id: {}}
        # Who mentions a router, in the order of the first mention.
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
        self._keeps_trees = False
        self._trees: list[Tree | None] = [None]
        self._awaiting: list[int] = []
        self._changed: dict[tuple[int, int], None] = {}
        self._through: dict[str, frozenset[str]] = {}

    def set_links(self, router: str, costs: Mapping[str, int]) -> None:
        """Replace what a router advertises: its cost to each peer. Raises CostOutOfRange."""
        for peer, cost in costs.items():
            if not 1 <= cost <= COST_MAX:
                raise CostOutOfRange(router, peer, cost)
        links = {peer: cost for peer, cost in costs.items() if peer != router}
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
        """Compute our tree; whether any next hop, cost or hop count changed since the last time."""
        self._update()
        is_changed = self._routes is not self._computed and self._routes != self._computed
        self._computed = self._routes
        return is_changed

    def routes(self) -> dict[str, tuple[str, int, int]]:
        """Return the next hop, cost and hops to each router that we reach, ourselves left out."""
        return dict(self._routes)

    def begin_origins(self) -> None:
        """Find the routers whose trees have to be computed, by what is known now, for `through_us`."""
        self._update()
        self._keeps_trees = True
        ids, links = self._ids, self._links
        changes = LinkChanges({(start, end): links[start].get(ids[end]) for start, end in self._changed})
        self._changed.clear()
        self._awaiting = []
        for origin in range(len(ids) - 1, _US, -1):
            tree = self._trees[origin]
            if ids[origin] not in self._routes:
                self._trees[origin] = None
                self._through.pop(ids[origin], None)
            elif tree is None:
                self._awaiting.append(origin)
            elif changes.affect(tree, self._network.rank):
                self._trees[origin] = None
                self._awaiting.append(origin)

    def advance_origins(self, trees: int) -> bool:
        """Compute so many of the trees that have to be; whether that was the last of them."""
        while trees > 0 and self._awaiting:
            trees -= 1
            origin = self._awaiting.pop()
            router = self._ids[origin]
            # We may have lost it since.
            if router not in self._routes:
                continue
            tree = self._network.tree_from(origin)
            self._trees[origin] = tree
            below = self._below_us(tree)
            if below:
                self._through[router] = below
            else:
                self._through.pop(router, None)
        return not self._awaiting

    def through_us(self) -> dict[str, frozenset[str]]:
        """Return for each origin the destinations whose paths from there pass us, by the trees computed so far."""
        return dict(self._through)

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
        renewed: list[tuple[str, dict[str, int], dict[str, int]]] = []
        gone: list[str] = []
        for router in self._dirty:
            before = self._links[self._numbers[router]] if router in self._numbers else {}
            links = self._links_of(router)
            self._note_changes(router, before, links or {})
            if links is None:
                gone.append(router)
            else:
                renewed.append((router, before, links))
        self._dirty.clear()
        is_renumbered = self._remove(gone)
        for router, _, links in renewed:
            is_renumbered = self._store(router, links) or is_renumbered
        for router, before, links in renewed:
            self._note_changes(router, links, before)
        if is_renumbered:
            self._network.number_routers(len(self._ids), self._numbers)
        if is_renumbered or not self._replace(renewed):
            self._network.lay_out(self._links, self._numbers)

    def _note_changes(self, router: str, links: dict[str, int], others: dict[str, int]) -> None:
        """Note the links that are not the same among the others, by the numbers of now."""
        if not self._keeps_trees:
            return
        for peer, cost in links.items():
            if others.get(peer) != cost:
                self._changed[self._numbers[router], self._numbers[peer]] = None

    def _remove(self, gone: list[str]) -> bool:
        """Free the numbers of routers that nothing is known of any more; whether there were any."""
        count = len(self._free)
        for router in gone:
            # What came and went between two updates has no number.
            if router in self._numbers:
                number = self._numbers.pop(router)
                self._ids[number] = None
                self._links[number] = {}
                self._trees[number] = None
                self._through.pop(router, None)
                self._free.append(number)
        return len(self._free) > count

    def _store(self, router: str, links: dict[str, int]) -> bool:
        """Take the links of a router; whether it was given a number for them."""
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
            self._trees.append(None)
        self._numbers[router] = number
        return True

    def _replace(self, renewed: list[tuple[str, dict[str, int], dict[str, int]]]) -> bool:
        return all(self._network.replace(self._numbers[router], links, self._numbers) for router, _, links in renewed)

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
        network = self._network
        is_below = array("b", [0]) * network.size
        below: list[Any] = []
        for i in range(1, network.settled_count):
            router = network.settled[i]
            parent = tree.parent[router]
            if parent == _US or is_below[parent]:
                is_below[router] = 1
                below.append(self._ids[router])
        return frozenset(below)
