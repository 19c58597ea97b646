"""What other routers are to be asked, and when: for their link states and addresses.

A question waits until its router can be reached, is repeated if nothing comes of it, and given up after some times;
what the router announces next makes a new one.
"""

from collections.abc import Callable
from math import inf

from routerd.mesh.node import Node, Question


class Questions:
    """All that are to be asked."""

    def __init__(self) -> None:
        self._waiting: dict[str, Node] = {}
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

    def forget(self, router: str) -> None:
        """Ask a router nothing any more."""
        self._waiting.pop(router, None)

    def take_due(self, now: float, is_reachable: Callable[[str], bool]) -> tuple[list[Node], list[Node]]:
        """Return whom to ask now for links, and whom for addresses."""
        links: list[Node] = []
        addresses: list[Node] = []
        self.deadline = inf
        for router, node in [*self._waiting.items()]:
            if not is_reachable(router):
                continue
            for question, chosen, is_open in (
                (node.ls_question, links, node.lacks_links),
                (node.mobile_question, addresses, node.lacks_addresses),
            ):
                if now < question.due:
                    continue
                if question.times == 0 or is_open:
                    question.ask(now)
                    chosen.append(node)
                else:
                    question.due = inf
            self.deadline = min(self.deadline, node.ls_question.due, node.mobile_question.due)
            if node.ls_question.due == node.mobile_question.due == inf:
                del self._waiting[router]
        return links, addresses

    def _ask(self, node: Node, question: Question, at: float) -> None:
        question.times = 0
        self._put(node, question, at)

    def _put(self, node: Node, question: Question, at: float) -> None:
        question.due = min(question.due, at)
        self._waiting[node.id] = node
        self.deadline = min(self.deadline, at)
