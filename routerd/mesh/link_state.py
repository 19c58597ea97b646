"""The link states of all routers (3.5 to 3.7), and the announcements of our own."""

from collections.abc import Iterable, Mapping
from math import inf

from routerd.mesh.node import Node
from routerd.mesh.pace import Pace
from routerd.mesh.settings import ANNOUNCE_BURST, ANNOUNCE_GAP_S, ANNOUNCE_WAIT_S, ASK_AT_AGE, STALE_TICKS, MeshConfig
from routerd.mesh.topology import Topology


class LinkStates:
    """The link states of all other routers."""

    def __init__(self, config: MeshConfig, topology: Topology) -> None:
        self._config = config
        self._topology = topology
        self._had_to_refuse = False
        self.nodes: dict[str, Node] = {}

    def learn(self, router: str, instance: int, now: float) -> Node | None:
        """Enter an unknown router; return None if there are too many."""
        if len(self.nodes) >= self._config.routers_max:
            self._had_to_refuse = True
            return None
        node = self.nodes[router] = Node(router, instance, now)
        if self._had_to_refuse:
            for other in self.nodes.values():
                if router in other.peers:
                    self._place(other)
        return node

    def store(self, node: Node, ls_seq: int, peers: Mapping[str, int], now: float) -> None:
        """Replace the link state of a router; all of its peers that may be known are."""
        node.ls_seq = ls_seq
        node.ls_wanted = max(node.ls_wanted, ls_seq)
        node.last_seen = now
        # Without any peer it still is a link state, which paths tell from none at all.
        if not node.peers or peers != node.peers:
            node.peers = peers
            node.changed = now
            self._place(node)
            self._topology.changed(now)

    def clear(self, node: Node, now: float) -> None:
        """Forget the link state of a router."""
        node.peers = {}
        node.ls_seq = 0
        node.changed = now
        self._topology.forget(node.id)
        self._topology.changed(now)

    def silent(self, now: float) -> list[Node]:
        """Return the routers whose links will be void unless they are heard of soon."""
        age = self._config.remote_ls_max_age_s * ASK_AT_AGE
        return [node for node in self.nodes.values() if node.peers and now >= node.last_seen + age]

    def clear_old(self, now: float) -> list[Node]:
        """Forget the link states of routers that were not heard of for too long, and return the routers."""
        age = self._config.remote_ls_max_age_s
        old = [node for node in self.nodes.values() if node.peers and now >= node.last_seen + age]
        for node in old:
            self.clear(node, now)
        return old

    def forget_stale(self, neighbours: Iterable[str]) -> list[Node]:
        """Forget the routers that nothing has been known of for some ticks, and return them (3.7)."""
        without = {router: node for router, node in self.nodes.items() if not node.peers}
        for router in neighbours:
            without.pop(router, None)
        if not without:
            return []
        for node in self.nodes.values():
            for router in without.keys() & node.peers.keys():
                del without[router]
        for node in without.values():
            node.stale_ticks += 1
        stale = [node for node in without.values() if node.stale_ticks >= STALE_TICKS]
        for node in stale:
            del self.nodes[node.id]
            self._topology.forget(node.id)
        return stale

    def _place(self, node: Node) -> None:
        own = self._config.router_id
        links = {peer: cost for peer, cost in node.peers.items() if peer in self.nodes or peer == own}
        self._topology.set_links(node.id, links)


class OwnLinks:
    """Our own link state: the present one, and the announced one."""

    def __init__(self, ls_seq: int, links: Mapping[str, int]) -> None:
        self.ls_seq = ls_seq
        self.links = links
        self.announced = links
        """Belongs to ls_seq: who asks gets this, so that what we tell is always of one time."""
        self.due = inf
        """The time of the announcement."""
        self._pace = Pace(ANNOUNCE_GAP_S, ANNOUNCE_BURST)

    def change(self, links: Mapping[str, int], now: float) -> None:
        """Note the present links."""
        is_worse = any(links.get(router, inf) > cost for router, cost in self.links.items())
        self.links = links
        if links == self.announced:
            self.due = inf
            return
        wanted = now if is_worse else now + ANNOUNCE_WAIT_S
        self.due = min(self.due, max(wanted, self._pace.earliest()))

    def unannounced(self) -> set[str]:
        """Return the neighbours that the announced links do not have."""
        return set() if self.due == inf else self.links.keys() - self.announced.keys()

    def announce(self, now: float) -> None:
        """Announce the present links."""
        self.ls_seq += 1
        self.announced = self.links
        self.due = inf
        self._pace.use(now)
