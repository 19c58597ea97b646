"""A mesh on virtual time: routing engines without sockets, and trunks that take their time.

The delay of the trunks is all that a message takes: the time for which engines compute is counted, but does not pass.
"""

import heapq
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any

from routerd.io.routing.control_messages import encoded
from routerd.mesh import ControlMessage, MeshConfig, Routes, RoutingEngine, SendControl

DELAY_S = (0.0005, 0.002)
"""A trunk has a delay between these, always the same."""
STEP_S = 0.01
"""How exactly the time is known at which everybody knows all links."""
WITHIN_S = 60.0
WEIGHED_MAX = 50_000
"""Bodies of messages whose size is remembered at a time."""

Links = dict[str, dict[str, int]]


class NotConverged(Exception):
    """A router does not get to know the mesh; the message says which."""


@dataclass(slots=True)
class Spent:
    """What all routers together took to get to know a change."""

    paths_s: float = 0.0
    """Until every router had the shortest paths to all others, for good."""
    links_s: float = 0.0
    """Until every router knew everybody's links, too; all the rest was spent until then."""
    messages: int = 0
    octets: int = 0
    cpu_s: float = 0.0
    """Of the engines alone, without what is between them and a socket."""


@dataclass(slots=True, eq=False)
class Router:
    """A router: its engine, and when it is to be woken."""

    id: str
    engine: RoutingEngine
    wake_at: float = inf
    costs: dict[str, int] = field(default_factory=dict)
    """What the shortest paths to all others truly cost."""
    seen: Routes | None = None
    """The routes that were compared with them last."""

    def believed_costs(self) -> dict[str, int]:
        """Return what its paths to others cost, as far as it knows."""
        return {id: route.cost for id, route in self.engine.routes.nodes.items()}

    def knows(self, links: Links) -> bool:
        """Return whether it knows everybody's links."""
        return all(node.peers == links[node.id] for node in self.engine.nodes())


class Simulation:
    """Routers, and trunks between them that `start` opens."""

    def __init__(self, links: Links) -> None:
        chance = Random(1)
        self._links = {id: dict(costs) for id, costs in links.items()}
        self._now = 0.0
        self._spent = Spent()
        # What comes when: a message at the end of a trunk, or the time to wake a router.
        self._queue: list[tuple[float, int, int, ControlMessage | Router]] = []
        self._count = 0
        self._begun = self._used = self._busy_s = 0.0
        self._measured: tuple[ControlMessage | None, int] = (None, 0)
        self._weighed: dict[int, tuple[Mapping[str, Any], int]] = {}
        self._around: dict[tuple[str, int, int, int, int], int] = {}
        self._routers = {
            id: Router(id, RoutingEngine(MeshConfig(router_id=id), instance, 0.0))
            for instance, id in enumerate(links, start=1)
        }
        self._astray: set[str] = set()
        """The routers that do not have the shortest paths."""
        self._paths_at = 0.0
        """When the last one got them."""
        self._doubted = deque(self._routers.values())
        # Each end of a trunk has a number, and the other end the one that differs in the last bit.
        self._ends = [self._routers[id] for pair in trunks(links) for id in pair]
        self._delays = [chance.uniform(*DELAY_S) for _ in trunks(links)]
        self._is_cut = [False] * len(self._delays)

    def start(self) -> Spent:
        """Open all trunks at once; return what it took until every router knew the mesh."""
        self._count_anew()
        for end, router in enumerate(self._ends):
            cost = self._links[router.id][self._ends[end ^ 1].id]
            self._call(router, router.engine.trunk_opened, end, cost)
        return self._converge()

    def cut(self, one: str, other: str) -> Spent:
        """Take a trunk away, which both ends hear of at once; return what it took until every router knew."""
        self._count_anew()
        del self._links[one][other], self._links[other][one]
        trunk = list(zip(self._ends[::2], self._ends[1::2], strict=True)).index(
            (self._routers[one], self._routers[other])
        )
        self._is_cut[trunk] = True
        for end in (2 * trunk, 2 * trunk + 1):
            self._call(self._ends[end], self._ends[end].engine.trunk_closed, end)
        return self._converge()

    def costs(self) -> dict[str, dict[str, int]]:
        """Return what each router believes that its paths to others cost."""
        return {router.id: router.believed_costs() for router in self._routers.values()}

    def rest(self, seconds: float) -> None:
        """Let time pass."""
        self._run(self._now + seconds)

    # --- whether everybody knows

    def _count_anew(self) -> None:
        self._spent = Spent()
        self._busy_s = 0.0
        self._begun, self._used = time.perf_counter(), time.process_time()

    def _converge(self) -> Spent:
        begun = self._now
        for router in self._routers.values():
            router.costs = costs_from(router.id, self._links)
            router.seen = None
            self._compare(router)
        while self._astray or not self._are_links_known():
            if self._now > begun + WITHIN_S:
                raise NotConverged(f"{self._doubted[0].id} does not know the mesh after {WITHIN_S:g} s")
            self._run(self._now + STEP_S)
        # The clock that is cheap enough for each call does not know of other processes.
        share = self._busy_s / (time.perf_counter() - self._begun)
        self._spent.cpu_s = share * (time.process_time() - self._used)
        self._spent.paths_s = max(0.0, self._paths_at - begun)
        self._spent.links_s = self._now - begun
        return self._spent

    def _compare(self, router: Router) -> None:
        if router.engine.routes is router.seen:
            return
        router.seen = router.engine.routes
        if router.believed_costs() != router.costs:
            self._astray.add(router.id)
        elif router.id in self._astray:
            self._astray.remove(router.id)
            self._paths_at = self._now

    def _are_links_known(self) -> bool:
        for _ in range(len(self._doubted)):
            # The router that did not know the last time is asked first.
            if not self._doubted[0].knows(self._links):
                return False
            self._doubted.rotate(-1)
        return True

    # --- what happens

    def _run(self, until: float) -> None:
        queue = self._queue
        while queue and queue[0][0] <= until:
            self._now, _, end, what = heapq.heappop(queue)
            if isinstance(what, Router):
                self._wake(what)
            elif not self._is_cut[end >> 1]:
                router = self._ends[end]
                self._call(router, router.engine.receive, end, what)
        self._now = until

    def _wake(self, router: Router) -> None:
        if self._now >= router.wake_at:
            router.wake_at = inf
            self._call(router, router.engine.tick)

    def _call(self, router: Router, call: Callable[..., None], *arguments: Any) -> None:
        engine = router.engine
        begun = time.perf_counter()
        call(*arguments, self._now)
        commands = engine.take_commands()
        deadline = engine.next_deadline()
        self._busy_s += time.perf_counter() - begun
        for command in commands:
            if type(command) is SendControl:
                self._send(command.trunk, command.message)
        if engine.routes is not router.seen:
            self._compare(router)
        if deadline < router.wake_at:
            router.wake_at = max(deadline, self._now)
            self._put(router.wake_at, -1, router)

    def _send(self, end: int, message: ControlMessage) -> None:
        self._spent.messages += 1
        # A message to several neighbours counts once.
        if message is not self._measured[0]:
            self._measured = message, self._size(message)
        self._spent.octets += self._measured[1]
        self._put(self._now + self._delays[end >> 1], end ^ 1, message)

    def _size(self, message: ControlMessage) -> int:
        """Return the octets of a message: of its body, the same all along its way, and around it, by lengths alone."""
        opcode, trace = message.opcode, message.trace
        shape = opcode, len(message.to), len(message.ingress or ""), len(trace), sum(map(len, trace))
        around = self._around.get(shape)
        if around is None:
            bare = ControlMessage(message.to, opcode, {}, message.ingress, trace)
            around = self._around[shape] = len(encoded(bare)) - len(encoded(ControlMessage("", opcode, {})))
        body, octets = self._weighed.get(id(message.body), (None, 0))
        if body is not message.body:
            if len(self._weighed) >= WEIGHED_MAX:
                self._weighed.clear()
            octets = len(encoded(ControlMessage("", opcode, message.body)))
            self._weighed[id(message.body)] = message.body, octets
        return around + octets

    def _put(self, at: float, end: int, what: ControlMessage | Router) -> None:
        # What has the same time happens in the order of these calls.
        self._count += 1
        heapq.heappush(self._queue, (at, self._count, end, what))


def trunks(links: Links) -> list[tuple[str, str]]:
    """Return the pairs of routers that have a trunk."""
    return [(one, other) for one in links for other in links[one] if one < other]


def costs_from(root: str, links: Links) -> dict[str, int]:
    """Return what the shortest paths from a router cost."""
    costs: dict[str, int] = {}
    queue = [(0, root)]
    while queue:
        cost, router = heapq.heappop(queue)
        if router not in costs:
            costs[router] = cost
            for peer, step in links[router].items():
                if peer not in costs:
                    heapq.heappush(queue, (cost + step, peer))
    del costs[root]
    return costs
