"""Times in which nothing happens to a mesh, and what must hold when they are over."""

from tests.sim.mesh_checks import check_lines, check_network, check_nothing_is_left, check_settled
from tests.sim.mesh_simulation import KNOWN_S, MeshSimulation
from tests.sim.world import Broken

SETTLED_S = 2.0
NO_END = float("inf")
FINISH_ROUNDS = 300


def rest(simulation: MeshSimulation) -> None:
    """Let the network find its mind, as far as routers can reach each other, and check that all are of the same."""
    simulation.note("rest")
    settle(simulation, KNOWN_S)
    check_network(simulation)
    check_lines(simulation)
    simulation.check_settlements()


def finish(simulation: MeshSimulation) -> None:
    """Let all that are away come back, and all messages come to an end, and check that each has one."""
    rest(simulation)
    simulation.note("finish")
    simulation.is_finishing = True
    simulation.heal()
    settle(simulation, NO_END)
    finish_messages(simulation)
    simulation.is_finishing = False
    check_network(simulation)
    check_lines(simulation)
    check_settled(simulation)
    simulation.check_nobody_waits()
    simulation.ledger.check_all_are_told()


def leave(simulation: MeshSimulation) -> None:
    """Have all clients go, and check that nothing is left of them."""
    finish(simulation)
    simulation.note("all leave")
    for client in simulation.clients:
        client.leave()
    simulation.world.run_for(KNOWN_S)
    check_network(simulation)
    check_lines(simulation)
    check_nothing_is_left(simulation)


def finish_messages(simulation: MeshSimulation) -> None:
    """Have consumers decide and grant, and streams go on, until nothing more comes of it."""
    before = (-1, -1)
    for _ in range(FINISH_ROUNDS):
        has_more = simulation.finish_some()
        simulation.world.run_for(SETTLED_S)
        after = simulation.ledger.progress()
        if after == before and not has_more:
            return
        before = after
    raise Broken("messages do not come to an end")


def settle(simulation: MeshSimulation, without_changes_s: float) -> None:
    """Let time pass until the network has found its mind, and is not disturbed for so long."""
    world = simulation.world
    world.run_for(KNOWN_S)
    while world.now < (until := simulation.quiet_at(without_changes_s)):
        world.run_for(until - world.now)
