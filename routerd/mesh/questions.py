"""Questions to other routers, for their link states and addresses.

A question waits until its router can be reached. It is repeated without an answer, and given up after some times. The
next announcement of the router makes a new one. While a large mesh starts, hundreds of questions wait for a path, and
hundreds for an answer. So neither are searched for each new question.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

from routerd.mesh.node import Node, Question


class Questions:
    """The questions to all routers."""

    def __init__(self) -> None:
        self._queue: list[tuple[float, int, Node]] = []
        self._count = 0
        # By router, the entry of the queue that counts; the others are void.
        self._entries: dict[str, tuple[float, int]] = {}
        self._unreachable: dict[str, Node] = {}
        self._are_ways_new = False
        self.deadline = inf
        """When to call `take_due`; it may be early."""

    def ask_links(self, node: Node, at: float) -> None:
        """Ask a router for its link state."""
        self._ask(node, node.ls_question, at)

    def ask_addresses(self, node: Node, at: float) -> None:
        """Ask a router for its addresses."""
        self._ask(node, node.mobile_question, at)

    def want_links(self, node: Node, ls_seq: int, now: float) -> None:
        """Note that a router has announced its link state, and ask unless that was done just now."""
        is_new = ls_seq > node.ls_wanted
        node.ls_wanted = max(node.ls_wanted, ls_seq)
        if is_new or not node.ls_question.is_fresh(now):
            self.ask_links(node, now)

    def want_addresses(self, node: Node, mobile_seq: int, now: float, at: float) -> None:
        """Note that a router has announced its addresses, and ask unless that was done just now."""
        is_new = mobile_seq > node.mobile_wanted
        node.mobile_wanted = max(node.mobile_wanted, mobile_seq)
        if is_new or not node.mobile_question.is_fresh(now):
            self.ask_addresses(node, at)

    def try_again(self, now: float) -> None:
        """Note that routers may be reachable now that were not before."""
        self._are_ways_new = True
        self.deadline = now

    def forget(self, router: str) -> None:
        """Ask a router nothing any more."""
        self._entries.pop(router, None)
        self._unreachable.pop(router, None)

    def take_due(self, now: float, is_reachable: Callable[[str], bool]) -> tuple[list[Node], list[Node]]:
        """Return the routers to ask now for links, and those to ask for addresses."""
        links: list[Node] = []
        addresses: list[Node] = []
        for router, node in self._take(now).items():
            if not is_reachable(router):
                self._unreachable[router] = node
                continue
            for question, chosen, is_open in (
                # This includes doubts whether something was missed. A router without addresses does not answer.
                (node.ls_question, links, node.lacks_links or node.ls_question.is_owed),
                (node.mobile_question, addresses, node.lacks_addresses),
            ):
                if now < question.due:
                    continue
                if question.times == 0 or is_open:
                    question.ask(now)
                    chosen.append(node)
                else:
                    question.due = inf
            self._schedule(node, min(node.ls_question.due, node.mobile_question.due))
        self.deadline = self._queue[0][0] if self._queue else inf
        return links, addresses

    def _take(self, now: float) -> dict[str, Node]:
        """Return the routers that may have a due question."""
        nodes: dict[str, Node] = {}
        if self._are_ways_new:
            self._are_ways_new = False
            nodes, self._unreachable = self._unreachable, {}
        while self._queue and self._queue[0][0] <= now:
            at, count, node = heappop(self._queue)
            if self._entries.get(node.id) == (at, count):
                del self._entries[node.id]
                nodes[node.id] = node
        return nodes

    def _ask(self, node: Node, question: Question, at: float) -> None:
        question.times = 0
        question.due = min(question.due, at)
        self._schedule(node, question.due)
        self.deadline = min(self.deadline, question.due)

    def _schedule(self, node: Node, at: float) -> None:
        entry = self._entries.get(node.id)
        if at < (inf if entry is None else entry[0]):
            self._count += 1
            self._entries[node.id] = at, self._count
            heappush(self._queue, (at, self._count, node))
