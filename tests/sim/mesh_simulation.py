"""A mesh of routers and what happens to them: who there is, and what is asked about all of it."""

from collections.abc import Callable
from itertools import count
from typing import Any

from tests.sim.client import Client
from tests.sim.clientele import Clientele
from tests.sim.links import Consumer
from tests.sim.mesh_checks import check_router
from tests.sim.mesh_ledger import MeshLedger
from tests.sim.mesh_protocol import Links
from tests.sim.mesh_router import MeshRouter
from tests.sim.mesh_trunks import Connector, TrunkLine

CONVERGED_S = 12.0
"""So long after the last trouble every router knows the network as it is."""
TROUBLE_S = 8.0
NEAR = 12
"""A router that joins is connected to some of so many that came last."""
KNOWN_S = 5.0
"""So long after a consumer's attach every router that can be reached sends it messages."""
COSTS = (1, 1, 1, 2, 5)
ENGINE_DELAYS_S = (0.0, 0.002, 0.02)


class MeshSimulation(Clientele):
    """Everything that there is in one run."""

    trouble_s = TROUBLE_S

    def __init__(self, seed: int, size: int, edges: int, *, is_calm: bool) -> None:
        super().__init__(seed, is_calm=is_calm)
        self.capacities = self.world.random.choice(((1, 2, 5), (5, 20), (250,)))
        self.trouble_until = 0.0
        self._changes: list[float] = []
        """When routers that are away start again, and parts of the network find each other."""
        self._came: dict[Consumer, float] = {}
        self._absences: list[tuple[float, float]] = []
        """Times in which some routing engine was away: of consumers that come then, others hear later."""
        self.ledger = MeshLedger(self)
        self.routers: dict[int, MeshRouter] = {}
        """Those that run, by index."""
        self.connectors: list[Connector] = []
        self.trunks: list[TrunkLine] = []
        self.side: set[int] = set()
        """Routers that are cut off from all others, but not from each other."""
        self._size = 0
        self._edges: set[int] = set()
        self._instances = count(1_700_000_000)
        for _ in range(size):
            self.join_router()
        for _ in range(edges):
            self.join_edge()
        self.world.run_for(CONVERGED_S)

    def host_of(self, index: int) -> MeshRouter:
        """Return the router that a client comes to."""
        return self.routers[index]

    def next_instance(self) -> int:
        """Return what no router has had for its instance."""
        return next(self._instances)

    # --- routers

    def join_router(self) -> None:
        """Have one more router, connected to one that there is and perhaps to more."""
        self._size += 1
        index = self._size
        random = self.world.random
        others = [one for one in range(1, index) if one not in self._edges][-NEAR:]
        for other in random.sample(others, min(len(others), random.choice((1, 1, 2, 2, 3)))):
            self.connect_routers(index, other)
        self.start_router(index)

    def join_edge(self) -> None:
        """Have one more edge router, with an uplink, and perhaps others in reserve."""
        interior = [one for one in range(1, self._size + 1) if one not in self._edges]
        self._size += 1
        self._edges.add(self._size)
        random = self.world.random
        for other in random.sample(interior, min(len(interior), random.choice((1, 2, 2, 3)))):
            self.connect_routers(self._size, other)
        self.start_router(self._size)

    def connect_routers(self, near: int, far: int) -> None:
        """Configure a router to have a trunk to another one; each may have its own idea of the cost."""
        choice = self.world.random.choice
        costs = choice(COSTS), choice(COSTS)
        connector = Connector(self, (near, far), costs)
        self.note(f"connector {connector} at cost {max(costs)}")
        self.connectors.append(connector)

    def start_router(self, index: int) -> None:
        """Start a router, or start it again."""
        self.trouble()
        delay = self.world.random.choice(ENGINE_DELAYS_S)
        router = self.routers[index] = MeshRouter(self, index, delay, is_edge=index in self._edges)
        self.note(f"{router.id} starts")

    def crash(self, router: MeshRouter, away_s: float) -> None:
        """Let a router die without a word, and start again after a while."""
        self.note(f"{router.id} dies, and is away for {away_s:.2f} s")
        self._end(router, away_s)

    def router_ended(self, router: MeshRouter) -> None:
        """A router has drained, and exits."""
        self.note(f"{router.id} has drained")
        self._end(router, self.world.random.uniform(0.1, 1.0))

    def _end(self, router: MeshRouter, away_s: float) -> None:
        self.trouble()
        router.die()
        if self.routers.get(router.index) is router:
            del self.routers[router.index]
            self._change_in(away_s, self.start_router, router.index)
        # The others hear of it within a tenth of a second, and only then is it over.
        self.world.later(0.2, self.trouble)

    def replace_engine(self, router: MeshRouter, away_s: float) -> None:
        """Have a routing engine end, and another one begin after a while; messages go on meanwhile."""
        self.note(f"the engine of {router.id} ends, for {away_s:.2f} s")
        router.end_engine()
        self._absences.append((self.world.now, self.world.now + away_s))
        self._change_in(away_s, self._engine_is_back, router)

    def _engine_is_back(self, router: MeshRouter) -> None:
        router.do(router.start_engine)
        if not self.is_whole:
            # It learns only now of what went wrong meanwhile.
            self.trouble()

    def _change_in(self, seconds: float, call: Callable[..., None], *arguments: Any) -> None:
        self._changes.append(self.world.later(seconds, call, *arguments))

    def alive(self) -> list[MeshRouter]:
        """Return the routers that run, edge routers among them."""
        return list(self.routers.values())

    def interiors(self) -> list[MeshRouter]:
        """Return the interior routers that run."""
        return [router for router in self.alive() if not router.is_edge]

    # --- trunks

    def joined(self, line: TrunkLine) -> None:
        """A transport between two routers is there."""
        self.trouble()
        self.trunks = [each for each in self.trunks if not each.is_over]
        self.trunks.append(line)

    def is_parted(self, near: int, far: int) -> bool:
        """Whether two routers cannot reach each other directly."""
        return (near in self.side) != (far in self.side)

    def part(self, side: set[int]) -> None:
        """Cut some routers off from the others."""
        self.note(f"{sorted(side)} are cut off")
        self.trouble()
        self.side = side
        for line in self.trunks:
            if line.is_whole and self.is_parted(*(router.index for router in line.routers)):
                line.cut()

    def heal_in(self, seconds: float) -> None:
        """Let those that were cut off be reached again after a while."""
        self._change_in(seconds, self.heal)

    def heal(self) -> None:
        """Let those that were cut off be reached again."""
        if self.side:
            self.note("all can be reached again")
            self.side = set()
            self.trouble()

    # --- what goes wrong

    def trouble(self, seconds: float = TROUBLE_S) -> None:
        """Note that messages under way may be lost, now and until all that comes of it has come."""
        self.epoch += 1
        self.trouble_until = max(self.trouble_until, self.world.now + seconds)

    @property
    def is_whole(self) -> bool:
        """Whether nothing went wrong lately."""
        return self.world.now >= self.trouble_until

    # --- clients

    def consumer_came(self, consumer: Consumer) -> None:
        """A consumer attaches, and its attach is answered."""
        self._came[consumer] = self.world.now
        super().consumer_came(consumer)

    def consumer_went(self, consumer: Consumer) -> None:
        """A consumer's link is over."""
        self._came.pop(consumer, None)
        super().consumer_went(consumer)

    def is_known_to(self, client: Client, consumer: Consumer) -> bool:
        """Whether messages of a client must reach a consumer of their address."""
        came = self._came.get(consumer, self.world.now)
        for start, end in self._absences:
            if start - KNOWN_S < came < end:
                came = end
        if client.worker != consumer.client.worker and came > self.world.now - KNOWN_S:
            return False
        if client.worker == consumer.client.worker:
            return client.worker in self.routers
        start, end = (self._place_of(one.worker) for one in (client, consumer.client))
        return start is not None and end in self.reached_from(start)

    def interior_of(self, index: int) -> str | None:
        """Return the id of a router, whether it runs or not, unless it is an edge router."""
        return None if index in self._edges else f"R{index}"

    def _place_of(self, index: int) -> str | None:
        router = self.routers.get(index)
        return None if router is None else router.interior

    # --- the network as it is

    def links(self) -> Links:
        """Return what there is of links between routers, each as costly as its cheapest trunk."""
        links: Links = {router.id: {} for router in self.interiors()}
        for line in self.trunks:
            near, far = line.routers
            if line.is_whole and near.is_alive and far.is_alive and not near.is_edge:
                cost = max(each.connection.context.cost for each in line.ends)
                cost = min(cost, links[near.id].get(far.id, cost))
                links[near.id][far.id] = links[far.id][near.id] = cost
        return links

    def reached_from(self, id: str) -> set[str]:
        """Return the routers that one can reach, itself included."""
        links = self.links()
        found, left = {id}, [id]
        while left:
            new = links.get(left.pop(), {}).keys() - found
            found |= new
            left += sorted(new)
        return found

    # --- checks

    def check_router(self, router: MeshRouter) -> None:
        """Check what holds in a router at any time."""
        check_router(router)

    def quiet_at(self, without_changes_s: float) -> float:
        """Return when the network will be at rest, if nothing else happens, and not be disturbed for so long."""
        now = self.world.now
        self._changes = [time for time in self._changes if time >= now]
        near = [time for time in self._changes if time <= now + without_changes_s]
        told = [end + KNOWN_S for _, end in self._absences]
        return max([self.trouble_until - TROUBLE_S + CONVERGED_S, *near, *told])
