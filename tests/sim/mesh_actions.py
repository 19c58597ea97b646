"""What can happen next in a mesh: the clients' wishes, and what befalls trunks, routers and routing engines."""

from itertools import count
from typing import Any

from tests.sim.actions import ADDRESSES, LINKS_MAX, Actions, Choice
from tests.sim.mesh_router import MeshRouter
from tests.sim.mesh_simulation import MeshSimulation
from tests.sim.mesh_trunks import TrunkLine

NEVER_S = 1e6
BRIEF_S = (0.01, 0.1, 0.4)
"""Short enough that no neighbour is taken for lost."""
LONG_S = (1.0, 6.0)
MOVING = ("moving", "closest/moving", "multicast/moving")
MOVE_S = 0.3
"""How long a producer sends before its consumer moves, at most."""
LATE_S = 0.02
"""A producer that begins so late before has messages where nobody has seen any for that address."""
MOVED_S = 4.0
"""How long it stays after that."""


class MeshActions(Actions):
    """Chooses what happens, and has it happen."""

    def __init__(self, simulation: MeshSimulation, clients_max: int) -> None:
        self._simulation: Any = simulation
        self._mesh = simulation
        self._random = simulation.world.random
        self._clients_max = clients_max
        self._moves = count(1)
        misfortunes: list[Choice] = [
            (3, self.cut_trunk),
            (1, self.cut_trunk_late),
            (1, self.silence_trunk),
            (1, self.crash),
            (1, self.drain_router),
            (1, self.hang),
            (1, self.part),
            (1, self.heal),
            (1, self.connect),
            (1, self.disconnect),
            (0.3, self.join),
            (0.3, self.join_edge),
        ]
        luck = self._random.choice((0.1, 0.3, 1.0))
        choices = self.peaceful()
        if not simulation.is_calm:
            # Without misfortunes that excuse what becomes of messages, in some runs.
            choices += self.fickle()
            if self._random.random() < 0.75:
                choices += [(luck * weight, action) for weight, action in misfortunes]
        self._choose_from(choices)
        for action in (self.come, self.consume, self.consume, self.produce) * (clients_max // 2):
            action()
            simulation.world.run_for(0.1)

    def fickle(self) -> list[Choice]:
        """What clients do that change their minds, and what nobody but the network has to notice."""
        return [
            *super().fickle(),
            (1, self.cut),
            (0.5, self.half_close),
            (8, self.move),
            (5, self.stall),
            (4, self.stall_trunk),
            (1, self.hang_briefly),
            (1, self.replace_engine),
        ]

    # --- clients

    def come(self) -> None:
        """A client connects, for the first time or again."""
        mesh = self._mesh
        routers = [each.index for each in mesh.alive() if not each.is_draining]
        if not mesh.absent and len(mesh.clients) < self._clients_max:
            mesh.new_client()
        if mesh.absent and routers:
            client = mesh.absent.pop(0)
            index = self._random.choice(routers)
            mesh.note(f"{client.name} comes to R{index}")
            client.come(index)

    def consume(self) -> None:
        """A client wants messages; it may never say what becomes of them."""
        client = self._open()
        if client and len(client.consumers) < LINKS_MAX:
            consumer = client.consume(self._random.choice(ADDRESSES))
            if self._random.random() < 0.1:
                consumer.patience = NEVER_S
            self._note_consumer(consumer)

    def move(self) -> None:
        """A consumer goes to another router, or for good, while messages are on their way to it."""
        client, other = self._open(), self._open()
        if not (client and other) or client.worker == other.worker:
            return
        if len(client.producers) < LINKS_MAX and len(other.consumers) < LINKS_MAX:
            address = f"{self._random.choice(MOVING)}/{next(self._moves)}"
            consumer = other.consume(address)
            producer = client.produce(address)
            self._mesh.note(f"{producer} sends to {consumer} at {address}, and that moves")
            world = self._mesh.world
            leaves_at = world.now + self._random.uniform(0.0, MOVE_S)
            begins_at = world.now if self._random.random() < 0.3 else leaves_at - self._random.uniform(0.0, LATE_S)
            world.at(max(begins_at, world.now), self._send_on, producer, leaves_at + MOVE_S)
            world.at(leaves_at, self._move, consumer)
            world.at(leaves_at + MOVED_S, self._go, producer)

    def _send_on(self, producer: Any, until: float) -> None:
        if producer.can_send:
            producer.send(producer.address)
        if producer.client.is_open and self._mesh.world.now < until:
            self._mesh.world.later(0.002, self._send_on, producer, until)

    def _move(self, consumer: Any) -> None:
        self._go(consumer)
        client = self._open()
        if client and self._random.random() < 0.5:
            self._mesh.world.later(self._random.choice((0.0, 0.01, 0.3)), self._replace, client, consumer.address)

    def _go(self, end: Any) -> None:
        if end.is_attached:
            self._detach(end)

    # --- trunks

    def _trunk(self) -> TrunkLine | None:
        trunk: TrunkLine | None = self._one([each for each in self._mesh.trunks if each.is_whole])
        return trunk

    def _note(self, text: str, line: TrunkLine) -> None:
        near, far = line.routers
        self._mesh.note(f"trunk {near.id}-{far.id} {text}")

    def cut_trunk(self) -> None:
        """A trunk breaks."""
        line = self._trunk()
        if line:
            self._note("breaks", line)
            self._mesh.trouble()
            line.cut()

    def cut_trunk_late(self) -> None:
        """A trunk breaks, and one of its ends takes long to see it."""
        line = self._trunk()
        if line:
            self._note("breaks, which one end sees late", line)
            self._mesh.trouble()
            line.cut_late()

    def stall_trunk(self) -> None:
        """One end of a trunk does not read for a moment."""
        line = self._trunk()
        if line:
            line.stall(self._random.choice(line.ends), self._random.choice(BRIEF_S))

    def silence_trunk(self) -> None:
        """Nothing passes a trunk for so long that the neighbours may lose each other, though it is there."""
        line = self._trunk()
        if line:
            seconds = self._random.uniform(*LONG_S)
            self._note(f"is silent for {seconds:.1f} s", line)
            self._troubled_for(seconds)
            for end in line.ends:
                line.stall(end, seconds)

    def _troubled_for(self, seconds: float) -> None:
        self._mesh.trouble()
        self._mesh.world.later(seconds, self._mesh.trouble)

    def connect(self) -> None:
        """A router is configured to have one more trunk."""
        far = self._one(self._mesh.interiors())
        near = self._one([each for each in self._mesh.alive() if each is not far])
        if near and far:
            self._mesh.connect_routers(near.index, far.index)

    def disconnect(self) -> None:
        """A trunk is taken out of the configuration of its router, and closed."""
        connector = self._one([each for each in self._mesh.connectors if each.is_wanted])
        if connector:
            self._mesh.note(f"connector {connector} is removed")
            self._mesh.trouble()
            connector.remove()

    def part(self) -> None:
        """The network falls in two parts."""
        indices = sorted(self._mesh.routers)
        if not self._mesh.side and len(indices) > 1:
            self._mesh.part(set(self._random.sample(indices, self._random.randrange(1, len(indices)))))
            self._mesh.heal_in(self._random.choice((0.5, 3.0, 10.0, 60.0)))

    def heal(self) -> None:
        """The parts of the network find each other."""
        self._mesh.heal()

    # --- routers

    def _router(self) -> MeshRouter | None:
        found: MeshRouter | None = self._one([each for each in self._mesh.alive() if not each.is_hung])
        return found

    def crash(self) -> None:
        """A router dies."""
        router = self._router()
        if router and len(self._mesh.interiors()) > 1:
            self._mesh.crash(router, self._random.choice((0.1, 0.5, 5.0, 20.0)))

    def drain_router(self) -> None:
        """A router ends in order, and starts again."""
        router = self._router()
        if router and not router.is_draining:
            self._mesh.note(f"{router.id} drains")
            self._troubled_for(1.5)
            router.drain(self._random.choice((0.0, 0.1, 1.0)))

    def hang_briefly(self) -> None:
        """A router does nothing for a moment."""
        router = self._router()
        if router:
            router.hang(self._random.choice(BRIEF_S))

    def hang(self) -> None:
        """A router hangs for so long that its neighbours may take it for lost."""
        router = self._router()
        if router:
            seconds = self._random.uniform(*LONG_S)
            self._mesh.note(f"{router.id} hangs for {seconds:.1f} s")
            self._troubled_for(seconds)
            router.hang(seconds)

    def join(self) -> None:
        """One more router comes."""
        self._mesh.join_router()

    def join_edge(self) -> None:
        """One more edge router comes."""
        self._mesh.join_edge()

    # --- engines

    def replace_engine(self) -> None:
        """A routing engine ends, and another takes its place; what is under way notices nothing."""
        apart = [each for each in self._mesh.alive() if each.is_engine_apart and each.engine is not None]
        router = self._one(apart)
        if router:
            self._mesh.replace_engine(router, self._random.choice((0.02, 0.3, 2.0, 6.0)))
