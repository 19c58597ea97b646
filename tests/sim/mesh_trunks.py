"""The trunks and uplinks that routers are configured to have: made again when they are lost."""

from typing import TYPE_CHECKING, Any

from tests.sim.network import End, Line

if TYPE_CHECKING:
    from tests.sim.mesh_router import MeshRouter
    from tests.sim.mesh_simulation import MeshSimulation

RETRY_S = (0.05, 0.4)
DELAYS_S = (0.0, 0.001, 0.01)
LATE_S = 2.0


class Connector:
    """Keeps a connection from one router to another, as the first is configured to; an edge router has uplinks."""

    def __init__(self, simulation: "MeshSimulation", ends: tuple[int, int], costs: tuple[int, int]) -> None:
        self._simulation = simulation
        self._world = simulation.world
        choice = self._world.random.choice
        self.ends = ends
        self.costs = costs
        self._delay = choice(DELAYS_S)
        self._capacity = choice((5, 20, 250, 250))
        self._sizes = [self._size(), self._size()]
        self._line: Line | None = None
        self.is_wanted = True
        self._keep()

    def __repr__(self) -> str:
        return f"{self.ends[0]}-{self.ends[1]}"

    def remove(self) -> None:
        """Close the trunk, and make no other."""
        self.is_wanted = False
        line = self._line
        if line is not None and line.is_whole:
            router: Any = line.near.owner
            router.do(self._close, line.near, router)

    @staticmethod
    def _close(end: End, router: "MeshRouter") -> None:
        if end.connection.context.is_open and not end.connection.is_finished:
            end.connection.close()
            router.turn_ends()

    def _size(self) -> dict[str, int]:
        choice = self._world.random.choice
        return {"incoming_window": choice((4, 50, 512)), "max_frame_size": choice((512, 4096, 65_536))}

    def _keep(self) -> None:
        """Look whether the trunk is there, from time to time."""
        if not self.is_wanted:
            return
        if self._line is None or self._line.near.is_gone:
            routers = [self._simulation.routers.get(index) for index in self.ends]
            if all(routers) and not self._simulation.is_parted(*self.ends):
                self._connect(*routers)
        self._world.later(self._world.random.uniform(*RETRY_S), self._keep)

    def _connect(self, near: Any, far: Any) -> None:
        if near.is_hung or near.is_draining or far.is_draining:
            return
        ends = [
            router.trunk_end(
                cost=cost, capacity=self._capacity, is_initiator=router is near, is_to_edge=near.is_edge, **size
            )
            for router, cost, size in zip((near, far), self.costs, self._sizes, strict=True)
        ]
        line = self._line = TrunkLine(self._world, ends[0], near, ends[1], far, self._delay)
        self._simulation.joined(line)
        near.joined_by(line, line.near)
        far.joined_by(line, line.far)


class TrunkLine(Line):
    """The transport of a connection between routers."""

    def cut_late(self) -> None:
        """Break it, and have one end hear of it much later."""
        world = self._world
        self.is_broken = True
        ends = [*self.ends]
        world.random.shuffle(ends)
        for end, seconds in zip(ends, (0.1, LATE_S), strict=True):
            world.later(world.random.uniform(0.0, 0.02), self._close, end.outgoing)
            world.later(world.random.uniform(0.02, seconds), self._lose, end)

    @property
    def routers(self) -> tuple["MeshRouter", "MeshRouter"]:
        """Those at its ends."""
        near: Any = self.near.owner
        far: Any = self.far.owner
        return near, far
