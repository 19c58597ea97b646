"""Shortest-path trees between routers that have numbers, in arrays (inter-router protocol 3.8).

Among paths of one cost the tree has the one whose last router but one was settled first: the nearest to the root, and
of several as near the one with the lowest id. So a tree stays what it is unless a changed link is one of its own, leads
somewhere more cheaply, or wins such a tie.
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


class LinkChanges:
    """Links that changed since trees were computed, with what they cost now; one that is gone costs None."""

    def __init__(self, links: dict[tuple[int, int], int | None]) -> None:
        self.count = len(links)
        self.start = array("i", [start for start, _ in links])
        self.end = array("i", [end for _, end in links])
        self.cost = array("q", [_GONE if cost is None else cost for cost in links.values()])

    def affect(self, tree: Tree, rank: "array[int]") -> bool:
        """Return whether a tree may be another one now."""
        for i in range(self.count):
            start = self.start[i]
            end = self.end[i]
            if end < tree.size and tree.parent[end] == start:
                return True
            if self.cost[i] == _GONE or start >= tree.size or tree.distance[start] == _UNREACHABLE:
                continue
            if end >= tree.size or tree.distance[end] == _UNREACHABLE:
                return True
            saving = tree.distance[end] - tree.distance[start] - self.cost[i]
            if saving > 0:
                return True
            if saving == 0:
                parent = tree.parent[end]
                later = tree.distance[parent] - tree.distance[start]
                if later > 0 or (later == 0 and rank[parent] > rank[start]):
                    return True
        return False


class Network:
    """All links, from router to router by number, and the trees that grow in them."""

    def __init__(self) -> None:
        self.size = 0
        self.rank = array("i", [0])
        self.settled = array("i", [0])
        self.settled_count = 0
        # The links of router r are those from first[r] up to first[r + 1].
        self._first = array("i", [0])
        self._end = array("i", [0])
        self._cost = array("q", [0])
        # Routers that are labelled and not settled, the nearest first, and where in that heap each one is.
        self._heap = array("i", [0])
        self._heap_size = 0
        self._place = array("i", [0])
        self._distance = array("q", [0])

    def number_routers(self, size: int, numbers: dict[str, int]) -> None:
        """Take the routers as they are numbered now, all below `size`; their links are to be laid out after it."""
        self.size = size
        self.rank = array("i", [0]) * size
        self.settled = array("i", [0]) * size
        self._heap = array("i", [0]) * size
        self._place = array("i", [0]) * size
        for rank, router in enumerate(sorted(numbers)):
            number = numbers[router]
            self.rank[number] = rank

    def lay_out(self, links: list[dict[str, int]], numbers: dict[str, int]) -> None:
        """Take all links anew."""
        total = sum(map(len, links))
        self._first = array("i", [0]) * (self.size + 1)
        self._end = array("i", [0]) * (total + 1)
        self._cost = array("q", [0]) * (total + 1)
        at = 0
        for router in range(self.size):
            self._first[router] = at
            self._fill(at, links[router], numbers)
            at += len(links[router])
        self._first[self.size] = at

    def replace(self, router: int, links: dict[str, int], numbers: dict[str, int]) -> bool:
        """Take the links of one router anew where they are; whether they have the room there."""
        at = self._first[router]
        if self._first[router + 1] - at != len(links):
            return False
        self._fill(at, links, numbers)
        return True

    def _fill(self, at: int, links: dict[str, int], numbers: dict[str, int]) -> None:
        for peer, cost in links.items():
            self._end[at] = numbers[peer]
            self._cost[at] = cost
            at += 1

    def tree_from(self, root: int) -> Tree:
        """Return the shortest-path tree of a router; `settled` has its routers, the nearest first."""
        tree = Tree(self.size)
        self._distance = tree.distance
        self.settled_count = 0
        self._heap_size = 1
        self._heap[0] = root
        tree.distance[root] = 0
        while self._heap_size:
            router = self._take_nearest()
            self.settled[self.settled_count] = router
            self.settled_count += 1
            for link in range(self._first[router], self._first[router + 1]):
                end = self._end[link]
                distance = tree.distance[router] + self._cost[link]
                known = tree.distance[end]
                # Only what is strictly nearer counts: among equals, whoever was settled first stays the parent.
                if known == _UNREACHABLE:
                    self._place[end] = self._heap_size
                    self._heap_size += 1
                elif known <= distance:
                    continue
                tree.distance[end] = distance
                tree.parent[end] = router
                self._rise(end)
        return tree

    def _precedes(self, one: int, other: int) -> bool:
        if self._distance[one] != self._distance[other]:
            return self._distance[one] < self._distance[other]
        return self.rank[one] < self.rank[other]

    def _take_nearest(self) -> int:
        nearest = self._heap[0]
        self._heap_size -= 1
        if self._heap_size:
            self._sink(self._heap[self._heap_size])
        return nearest

    def _rise(self, router: int) -> None:
        at = self._place[router]
        while at > 0:
            above = (at - 1) >> 1
            other = self._heap[above]
            if not self._precedes(router, other):
                break
            self._heap[at] = other
            self._place[other] = at
            at = above
        self._heap[at] = router
        self._place[router] = at

    def _sink(self, router: int) -> None:
        at = 0
        below = 1
        while below < self._heap_size:
            if below + 1 < self._heap_size and self._precedes(self._heap[below + 1], self._heap[below]):
                below += 1
            other = self._heap[below]
            if not self._precedes(other, router):
                break
            self._heap[at] = other
            self._place[other] = at
            at = below
            below = 2 * at + 1
        self._heap[at] = router
        self._place[router] = at
