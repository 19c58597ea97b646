"""A mesh on virtual time: routing engines, and trunks between them that are slow, stall and break."""

from collections import Counter
from itertools import count

from routerd.mesh import (
    AddressesMapped,
    Checkpoint,
    ControlMessage,
    MeshConfig,
    OriginsChanged,
    Remark,
    RouterForgotten,
    Routes,
    RoutesChanged,
    RoutingEngine,
    SendControl,
)
from tests.sim.world import Broken, World

HEARD_OF_A_LOSS_S = 0.2
"""An end of a trunk hears within this time that it is lost."""


class Trunk:
    """A connection between two routers; what is sent arrives in order."""

    def __init__(self, mesh: "Mesh", ends: tuple["Router", "Router"], numbers: tuple[int, int], cost: int) -> None:
        self._mesh = mesh
        self._last = [0.0, 0.0]
        self.delay = mesh.world.random.choice((0.0005, 0.002, 0.02))
        self.ends = ends
        self.numbers = numbers
        self.cost = cost
        self.is_cut = False
        self.stalled_until = 0.0

    def end(self, router: "Router") -> int:
        """Return which end a router has."""
        return self.ends.index(router)

    def send(self, router: "Router", message: ControlMessage) -> None:
        """Have a message of one end arrive at the other."""
        end = self.end(router)
        world = self._mesh.world
        at = max(world.now + self.delay * world.random.uniform(0.5, 1.5), self._last[end], self.stalled_until)
        self._last[end] = at
        world.at(at, self._arrive, 1 - end, message)

    def cut(self) -> None:
        """Break it: nothing arrives any more, and each end hears of it in its own time."""
        self.is_cut = True
        self._mesh.trunks.remove(self)
        for router, number in zip(self.ends, self.numbers, strict=True):
            self._mesh.world.later(self._mesh.world.random.uniform(0.0, HEARD_OF_A_LOSS_S), router.lose, number)

    def _arrive(self, end: int, message: ControlMessage) -> None:
        if not self.is_cut:
            self.ends[end].receive(self.numbers[end], message)


class Router:
    """One router: its engine, and what the engine has had it do. A later start of it is another object."""

    def __init__(self, mesh: "Mesh", id: str, instance: int) -> None:
        self._mesh = mesh
        self._world = mesh.world
        self._wake_at = float("inf")
        self.id = id
        self.instance = instance
        self.config = MeshConfig(router_id=id)
        self.engine: RoutingEngine | None = RoutingEngine(self.config, instance, self._world.now)
        self.is_alive = True
        self.trunks: dict[int, Trunk] = {}
        self.wanted: dict[str, int] = {}
        self.routes = Routes(0, 0, {}, {})
        self.through_us: dict[str, frozenset[str]] = {}
        self.mapped: dict[str, dict[str, int]] = {}
        self.checkpoint: Checkpoint | None = None
        self.sent: Counter[str] = Counter()
        self.losses = 0
        """How often a route or an address of a router that could be reached was taken back."""
        self._schedule()

    # --- what happens to it

    def open(self, number: int, trunk: Trunk) -> None:
        """Get a trunk."""
        self.trunks[number] = trunk
        if self.engine is not None:
            self.engine.trunk_opened(number, trunk.cost, self._world.now)
            self._after()

    def lose(self, number: int) -> None:
        """Hear that a trunk is lost."""
        if self.is_alive and self.trunks.pop(number, None) is not None and self.engine is not None:
            self.engine.trunk_closed(number, self._world.now)
            self._after()

    def receive(self, number: int, message: ControlMessage) -> None:
        """Get a message."""
        marks = message.trace
        if len(set(marks)) < len(marks):
            raise Broken(f"{message.opcode} goes round in circles: {marks}")
        if self.engine is not None and number in self.trunks:
            self.engine.receive(number, message, self._world.now)
            self._after()

    def want(self, key: str, hint: int) -> None:
        """Have a first consumer of an address."""
        self.wanted[key] = hint
        if self.engine is not None:
            self.engine.want(key, hint, self._world.now)
            self._after()

    def unwant(self, key: str) -> None:
        """Lose the last consumer of an address."""
        del self.wanted[key]
        if self.engine is not None:
            self.engine.unwant(key, self._world.now)
            self._after()

    def die(self) -> None:
        """End without a word."""
        self.is_alive = False
        self.engine = None
        for trunk in [trunk for trunk in self._mesh.trunks if self in trunk.ends]:
            trunk.cut()

    def remember(self) -> None:
        """Take a checkpoint."""
        if self.engine is not None:
            self.checkpoint = self.engine.checkpoint()

    def end_engine(self) -> None:
        """Lose the engine alone; the trunks and what is mapped stay."""
        self.engine = None

    def resume(self) -> None:
        """Start an engine from the last checkpoint, or a new one."""
        if not self.is_alive or self.engine is not None:
            return
        now = self._world.now
        self.engine = RoutingEngine(self.config, self.instance, now, self.checkpoint)
        for number, trunk in self.trunks.items():
            self.engine.trunk_opened(number, trunk.cost, now)
        for router, keys in self.mapped.items():
            self.engine.restore_mapping(router, keys)
        self.remember()
        self._after()
        self._world.later(self._world.random.uniform(0.0, 0.1), self._tell_addresses, self.engine)

    def _tell_addresses(self, engine: RoutingEngine) -> None:
        if self.engine is engine:
            engine.set_addresses(self.wanted, self._world.now)
            self._after()

    # --- what it does

    def _after(self) -> None:
        assert self.engine is not None
        for command in self.engine.take_commands():
            match command:
                case SendControl(number, message):
                    self._send(number, message)
                case RoutesChanged(routes):
                    self.losses += len(self.routes.nodes.keys() - routes.nodes.keys())
                    if routes.version <= self.routes.version:
                        raise Broken(f"{self.id}: the version of the routes is {routes.version} again")
                    self.routes = routes
                case OriginsChanged(_, through_us):
                    self.through_us = dict(through_us)
                case AddressesMapped(router, added, removed):
                    self._map(router, dict(added), removed)
                case RouterForgotten(router):
                    self.losses += len(self.mapped.pop(router, {}))
                case Remark("warning", text):
                    raise Broken(f"{self.id} warns: {text}")
        self._schedule()

    def _send(self, number: int, message: ControlMessage) -> None:
        self.sent[message.opcode] += 1
        if number in self.trunks:
            self.trunks[number].send(self, message)

    def _map(self, router: str, added: dict[str, int], removed: tuple[str, ...]) -> None:
        known = self.mapped.setdefault(router, {})
        if known.keys() & added.keys() or set(removed) - known.keys():
            raise Broken(f"{self.id} is told of changes to {router} that are none: {added} {removed}")
        known.update(added)
        for key in removed:
            self.losses += 1
            del known[key]

    def _schedule(self) -> None:
        assert self.engine is not None
        at = max(self.engine.next_deadline(), self._world.now)
        if at < self._wake_at:
            self._wake_at = self._world.at(at, self._wake, at)

    def _wake(self, at: float) -> None:
        if at != self._wake_at:
            return
        self._wake_at = float("inf")
        if self.engine is not None:
            self.engine.tick(self._world.now)
            self._after()


class Mesh:
    """All routers and trunks."""

    def __init__(self, seed: int, size: int) -> None:
        self.world = World(seed)
        self.routers: dict[str, Router] = {}
        self.trunks: list[Trunk] = []
        self._numbers = count(1)
        self._instances = count(1_700_000_000)
        for _ in range(size):
            self.join()

    def start(self, id: str) -> Router:
        """Start a router, or start it again."""
        self.world.note(f"{id} starts")
        router = self.routers[id] = Router(self, id, next(self._instances))
        return router

    def join(self) -> None:
        """Add a router, with a trunk to one that there is and perhaps to more."""
        random = self.world.random
        others = self.alive()
        router = self.start(f"R{len(self.routers) + 1}")
        for other in random.sample(others, min(len(others), random.choice((1, 1, 2, 3)))):
            self.connect(router, other)

    def alive(self) -> list[Router]:
        """Return the routers that run."""
        return [router for router in self.routers.values() if router.is_alive]

    def connect(self, one: Router, other: Router) -> None:
        """Make a trunk; each end hears of it in its own time."""
        random = self.world.random
        trunk = Trunk(self, (one, other), (next(self._numbers), next(self._numbers)), random.choice((1, 1, 2, 5, 10)))
        self.world.note(f"trunk {one.id}-{other.id} at cost {trunk.cost}")
        self.trunks.append(trunk)
        for router, number in zip(trunk.ends, trunk.numbers, strict=True):
            self.world.later(random.uniform(0.0, 0.05), self._open, router, number, trunk)

    def _open(self, router: Router, number: int, trunk: Trunk) -> None:
        if router.is_alive and not trunk.is_cut:
            router.open(number, trunk)
