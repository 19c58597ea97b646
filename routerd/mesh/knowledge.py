"""The knowledge of one router about its mesh, and the consequences of changes."""

from math import inf

from routerd.mesh.checkpoint import Checkpoint
from routerd.mesh.commands import AddressesMapped, RouterForgotten, RoutesChanged
from routerd.mesh.hello import Neighbours
from routerd.mesh.link_state import LinkStates, OwnLinks
from routerd.mesh.mobile_addresses import OwnAddresses, RemoteAddresses
from routerd.mesh.node import Node
from routerd.mesh.outbox import Outbox
from routerd.mesh.questions import Questions
from routerd.mesh.settings import RESUME_SKIP, RESUME_WAIT_S, MeshConfig
from routerd.mesh.topology import Topology


class Knowledge:
    """The neighbours, the routers, the paths and the addresses."""

    def __init__(self, config: MeshConfig, state: Checkpoint, now: float, *, is_resumed: bool) -> None:
        skip = RESUME_SKIP if is_resumed else 0
        self.config = config
        self.id = config.router_id
        self.instance = state.instance
        self.neighbours = Neighbours(config.hello_interval_s, config.hello_max_age_s)
        self.topology = Topology(self.id, state.version + skip)
        self.states = LinkStates(config, self.topology)
        self.outbox = Outbox(self.id, self.neighbours, self.topology, self.states.nodes)
        self.questions = Questions()
        self.addresses = OwnAddresses(self.id, state.mobile_seq + skip, is_known=not is_resumed)
        self.remote = RemoteAddresses(config)
        self.in_flux_since = now
        """The time of the last computation of paths."""
        self.in_flux_from = now
        """When that had not been done for some time."""
        self._lost: dict[str, float] = {}
        """The routers that were neighbours, and the end of that."""
        self._restore(state, now)
        self.own = OwnLinks(state.ls_seq + skip, self.neighbours.links)
        self.topology.set_links(self.id, self.own.links)

    def meet(self, router: str, instance: int, now: float) -> Node | None:
        """Return a router that has told something of itself, as of its instance.

        Nothing if too many are known, or if this is from before it was started anew, and came late.
        """
        node = self.states.nodes.get(router)
        if node is None:
            return self.learn(router, instance, now)
        if instance and instance != node.instance:
            if node.instance:
                # Only of one that is lower: where the later one was heard of first, it was not the late one.
                if instance == node.former and instance < node.instance:
                    return None
                self._restart(node, instance, now)
            node.instance = instance
        return node

    def learn(self, router: str, instance: int, now: float) -> Node | None:
        """Enter an unknown router, and ask it for its links."""
        node = self.states.learn(router, instance, now)
        if node is None:
            text = f"router {router} is ignored: {self.config.routers_max} routers are known, and no more may be"
            self.outbox.remark("warning", text, "routers_max")
        else:
            self.questions.ask_links(node, now)
        return node

    def review_links(self, now: float) -> None:
        """Bring our own links in line with the neighbours; call when the trunks to them have changed."""
        links, before = self.neighbours.links, self.own.links
        for router in links.keys() - before.keys():
            self.outbox.remark("info", f"router {router} is a neighbour, at cost {links[router]}")
            self.questions.ask_links(self.states.nodes[router], now)
            if now < self._lost.pop(router, -inf) + self.config.hello_max_age_s:
                # Its end may not have noticed, so nobody announces anything; but what was sent there may be lost.
                self.ask_all(now + RESUME_WAIT_S)
        for router in before.keys() - links.keys():
            self.outbox.remark("info", f"router {router} is not a neighbour any more")
            self._lost[router] = now
        if links != before:
            self.own.change(links, now)
            self.topology.set_links(self.id, links)
        # This includes a neighbour that is reached by another trunk now, at the same cost.
        self.topology.changed(now, is_urgent=True)

    def new_neighbours(self) -> set[str]:
        """Return the neighbours that our announced links do not have, and those that have not announced us."""
        nodes = self.states.nodes
        return self.own.unannounced() | {router for router in self.own.links if self.id not in nodes[router].peers}

    @property
    def flux_end(self) -> float:
        """The time at which nothing has changed for so long that there is no hurry any more."""
        return self.in_flux_since + 2 * self.config.ra_interval_flux_s

    def compute_paths(self, now: float) -> None:
        """Compute the paths anew."""
        if now >= self.flux_end:
            self.in_flux_from = now
        self.in_flux_since = now
        if self.topology.compute(now, len(self.states.nodes), self.neighbours.trunks):
            self.outbox.put(RoutesChanged(self.topology.routes))
            self.questions.try_again(now)

    def ask_all(self, at: float) -> None:
        """Ask all routers for news that may have been missed."""
        for node in self.states.nodes.values():
            self.questions.ask_links(node, at)
            self.questions.ask_addresses(node, at)

    def ask_silent(self, now: float) -> None:
        """Ask the routers whose announcements may have been lost; an answer shows that they are there."""
        for node in self.states.silent(now):
            if not node.ls_question.is_owed:
                self.questions.ask_links(node, now)

    def map(self, router: str, added: dict[str, int], removed: tuple[str, ...]) -> None:
        """Report the addresses of a router that came and went."""
        if added or removed:
            self.outbox.put(AddressesMapped(router, added, removed))

    def forget_stale(self) -> None:
        """Forget the routers whose link states are too old."""
        for node in self.states.forget_stale(self.own.links):
            self.questions.forget(node.id)
            self.remote.forget(node.id)
            self._lost.pop(node.id, None)
            self.outbox.remark("info", f"router {node.id} is forgotten")
            self.outbox.put(RouterForgotten(node.id))

    def _restart(self, node: Node, instance: int, now: float) -> None:
        self.outbox.remark("info", f"router {node.id} has been started anew")
        node.restart(instance)
        self.outbox.forget_floods(node.id)
        self.states.clear(node, now)
        if self.remote.forget(node.id):
            self.outbox.put(RouterForgotten(node.id))
        self.questions.ask_links(node, now)

    def _restore(self, state: Checkpoint, now: float) -> None:
        for known in state.nodes:
            node = self.states.nodes[known.id] = Node(known.id, known.instance, now)
            node.ls_seq = node.ls_wanted = known.ls_seq
            node.mobile_seq = node.mobile_wanted = known.mobile_seq
            node.is_mobile_known = True
        for known in state.nodes:
            if known.ls_seq:
                node = self.states.nodes[known.id]
                self.states.store(node, known.ls_seq, known.peers, now)
        for number, (router, cost) in state.trunks.items():
            self.neighbours.believe(number, router, cost, now)
