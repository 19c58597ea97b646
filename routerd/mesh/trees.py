# Whatever is an index here was numbered here.
# cython: boundscheck=False, wraparound=False
"""Shortest-path trees between routers that have numbers, in arrays (inter-router protocol 3.8).

Of paths with equal cost, the tree has the one whose last router but one was settled first. That router is the nearest
to the root, and of equally near ones that with the lowest id. So few changes of links change a tree. The changed link
is in the tree, becomes the cheaper way, or wins such a tie.
"""

from array import array

_NOBODY = -1
_UNREACHABLE = -1
_GONE = -1


class Tree:
    """The shortest paths from one router: how far each router is, and which is the last before it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.distance = array("q", [_UNREACHABLE]) * size
        self.parent = array("i", [_NOBODY]) * size


class Network:
    """All links, from router to router by number, and the trees that grow in them."""

    def __init__(self) -> None:
        self.size = 0
        self.rank = array("i", [0])
        self.settled = array("i", [0])
        self.settled_count = 0
        # The links of router r are those from first[r] up to first[r + 1].
        self.first = array("i", [0])
        self.end = array("i", [0])
        self.cost = array("q", [0])
        # The router of each rank, and the bits of a rank.
        self._ranked = array("i", [0])
        self._rank_bits = 0
        # Routers that are labelled, the nearest first: the distance, with the rank in its lowest bits. One that was
        # labelled again is there with its former labels, too.
        self._heap = array("q", [0])
        self._heap_size = 0

    def number_routers(self, size: int, numbers: dict[str, int]) -> None:
        """Take the routers as they are numbered now, all below `size`; their links are to be laid out after it."""
        self.size = size
        self.rank = array("i", [0]) * size
        self.settled = array("i", [0]) * size
        self._ranked = array("i", [0]) * size
        self._rank_bits = size.bit_length()
        for rank, router in enumerate(sorted(numbers)):
            number = numbers[router]
            self.rank[number] = rank
            self._ranked[rank] = number

    def lay_out(self, links: list[dict[str, int]], numbers: dict[str, int]) -> None:
        """Take all links anew."""
        total = sum(map(len, links))
        self.first = array("i", [0]) * (self.size + 1)
        self.end = array("i", [0]) * (total + 1)
        self.cost = array("q", [0]) * (total + 1)
        self._heap = array("q", [0]) * (total + 1)
        at = 0
        for router in range(self.size):
            self.first[router] = at
            self._fill(at, links[router], numbers)
            at += len(links[router])
        self.first[self.size] = at

    def replace(self, router: int, links: dict[str, int], numbers: dict[str, int]) -> bool:
        """Take the links of one router anew where they are; whether they have the room there."""
        at = self.first[router]
        if self.first[router + 1] - at != len(links):
            return False
        self._fill(at, links, numbers)
        return True

    def _fill(self, at: int, links: dict[str, int], numbers: dict[str, int]) -> None:
        for peer, cost in links.items():
            self.end[at] = numbers[peer]
            self.cost[at] = cost
            at += 1

    def count_links(self, router: int) -> int:
        """Return how many links a router has."""
        return self.first[router + 1] - self.first[router]

    def reversed(self) -> "Network":
        """Return the same routers, with all links turned round."""
        other = Network()
        size = other.size = self.size
        total = self.first[size]
        other.rank = self.rank
        other.settled = array("i", [0]) * size
        other._ranked = self._ranked
        other._rank_bits = self._rank_bits
        other._heap = array("q", [0]) * (total + 1)
        other.first = array("i", [0]) * (size + 1)
        other.end = array("i", [0]) * (total + 1)
        other.cost = array("q", [0]) * (total + 1)
        for link in range(total):
            other.first[self.end[link] + 1] += 1
        for router in range(size):
            other.first[router + 1] += other.first[router]
        # Where the next link of each router goes.
        free = array("i", [0]) * size
        for router in range(size):
            free[router] = other.first[router]
        for router in range(size):
            for link in range(self.first[router], self.first[router + 1]):
                at = free[self.end[link]]
                free[self.end[link]] = at + 1
                other.end[at] = router
                other.cost[at] = self.cost[link]
        return other

    def tree_from(self, root: int) -> Tree:
        """Return the shortest-path tree of a router; `settled` has its routers, the nearest first."""
        tree = Tree(self.size)
        mask = (1 << self._rank_bits) - 1
        self.settled_count = 0
        self._heap_size = 1
        self._heap[0] = self.rank[root]
        tree.distance[root] = 0
        while self._heap_size:
            label = self._take_nearest()
            router = self._ranked[label & mask]
            nearest = tree.distance[router]
            if label >> self._rank_bits != nearest:
                continue
            self.settled[self.settled_count] = router
            self.settled_count += 1
            for link in range(self.first[router], self.first[router + 1]):
                end = self.end[link]
                distance = nearest + self.cost[link]
                known = tree.distance[end]
                # Only what is strictly nearer counts: among equals, whoever was settled first stays the parent.
                if known == _UNREACHABLE or distance < known:
                    tree.distance[end] = distance
                    tree.parent[end] = router
                    self._put((distance << self._rank_bits) | self.rank[end])
        return tree

    def _put(self, label: int) -> None:
        at = self._heap_size
        self._heap_size += 1
        while at > 0:
            above = (at - 1) >> 1
            other = self._heap[above]
            if other < label:
                break
            self._heap[at] = other
            at = above
        self._heap[at] = label

    def _take_nearest(self) -> int:
        nearest = self._heap[0]
        self._heap_size -= 1
        size = self._heap_size
        label = self._heap[size]
        at = 0
        below = 1
        while below < size:
            if below + 1 < size and self._heap[below + 1] < self._heap[below]:
                below += 1
            other = self._heap[below]
            if label < other:
                break
            self._heap[at] = other
            at = below
            below = 2 * at + 1
        self._heap[at] = label
        return nearest


class Approaches:
    """How all routers come to others: how far it is, and who is the last before the end.

    It takes a tree for each end and for each router before one, instead of the trees of all routers.
    """

    def __init__(self) -> None:
        self._rank = array("i", [0])
        self._backwards = Network()
        self._trees: dict[int, Tree] = {}
        self._parents: dict[int, array[int]] = {}

    def look_at(self, network: Network) -> None:
        """Take the links of a network; to be called once."""
        self._rank = network.rank
        self._backwards = network.reversed()

    def trees_for(self, end: int) -> int:
        """Return how many trees it takes to know how all routers come to one."""
        return 1 + self._backwards.count_links(end)

    def mark_affected(self, marks: "array[int]", start: int, end: int, cost: int | None) -> None:
        """Mark the routers whose trees may be others when a link is new, costs this now, or is gone with None."""
        size = self._backwards.size
        to_start = self._tree_to(start)
        now = _GONE if cost is None else cost
        to_end = self._tree_to(end)
        parents = self._parents_of(end)
        for router in range(size):
            parent = parents[router]
            if parent == start:
                marks[router] = 1
            elif now != _GONE and to_start.distance[router] != _UNREACHABLE:
                saving = to_end.distance[router] - to_start.distance[router] - now
                is_nearer = saving > 0 or to_end.distance[router] == _UNREACHABLE
                if is_nearer or (saving == 0 and self._is_later(router, parent, start)):
                    marks[router] = 1

    def mark_those_that_reach(self, marks: "array[int]", end: int) -> None:
        """Mark the routers that have a path to one."""
        to_end = self._tree_to(end)
        for router in range(self._backwards.size):
            if to_end.distance[router] != _UNREACHABLE:
                marks[router] = 1

    def _is_later(self, root: int, one: int, other: int) -> bool:
        """Return whether one router is settled after another in the tree of a root; both have been looked at."""
        later = self._tree_to(one).distance[root] - self._tree_to(other).distance[root]
        return later > 0 or (later == 0 and self._rank[one] > self._rank[other])

    def _tree_to(self, end: int) -> Tree:
        tree = self._trees.get(end)
        if tree is None:
            tree = self._trees[end] = self._backwards.tree_from(end)
        return tree

    def _parents_of(self, end: int) -> "array[int]":
        """Return by root who is the last router before an end."""
        known = self._parents.get(end)
        if known is not None:
            return known
        network = self._backwards
        size = network.size
        parents = self._parents[end] = array("i", [_NOBODY]) * size
        to_end = self._tree_to(end)
        for link in range(network.first[end], network.first[end + 1]):
            before = network.end[link]
            cost = network.cost[link]
            to_before = self._tree_to(before)
            for router in range(size):
                distance = to_before.distance[router]
                if distance == _UNREACHABLE or distance + cost != to_end.distance[router]:
                    continue
                if parents[router] == _NOBODY or self._is_later(router, parents[router], before):
                    parents[router] = before
        return parents
