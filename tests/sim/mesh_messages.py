"""`python -m tests.sim.mesh_messages --seeds N --routers M`: messages through whole meshes on virtual time."""

import argparse
import sys
import time
from dataclasses import dataclass

from tests.sim.campaign import Failed, run_all
from tests.sim.mesh_actions import MeshActions
from tests.sim.mesh_probe import probe
from tests.sim.mesh_rest import finish, leave, rest
from tests.sim.mesh_simulation import MeshSimulation

ROUTERS = 8
EDGES = 2
STEPS = 240
CLIENTS = 10
REST_EVERY = 80
"""Steps; at each other rest all messages come to an end."""
LARGE = {"routers": 50, "edges": 5, "steps": 60, "clients": 20}
"""A mesh with few messages for its size."""
CALM_SEEDS = 5
"""Of so many seeds, one is for a run without misfortunes."""


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    seed: int
    is_calm: bool
    events: int
    digest: int
    counts: dict[str, int]


def run(seed: int, routers: int = ROUTERS, edges: int = EDGES, steps: int = STEPS, clients: int = CLIENTS) -> Result:
    """Run, check, and return what there was to check; raises Failed."""
    simulation: MeshSimulation | None = None
    step = 0
    try:
        is_calm = seed % CALM_SEEDS == 0
        simulation = MeshSimulation(seed, routers, edges, is_calm=is_calm)
        actions = MeshActions(simulation, clients)
        for step in range(1, steps + 1):
            actions.step()
            if step % (2 * REST_EVERY) == 0:
                finish(simulation)
                probe(simulation)
            elif step % REST_EVERY == 0:
                rest(simulation)
        leave(simulation)
        if is_calm:
            simulation.ledger.check_all_have_arrived()
    except Exception as error:
        trace = "\n".join(simulation.world.trace) if simulation else ""
        raise Failed(
            f"{trace}\nseed {seed} fails at step {step} of {steps}: {type(error).__name__}: {error}\n"
            f"again: python -m tests.sim.mesh_messages --first {seed} --seeds 1 --routers {routers} --edges {edges} "
            f"--steps {steps} --clients {clients}"
        ) from error
    world, ledger = simulation.world, simulation.ledger
    hops = {f"{number} hops": times for number, times in ledger.hops.items()}
    return Result(seed, is_calm, world.events, world.digest, ledger.counts | hops)


def main() -> int:
    """Return the exit status: 1 when a run failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.mesh_messages", description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--routers", type=int, default=ROUTERS, help="routers at the beginning of each run")
    parser.add_argument("--edges", type=int, default=EDGES, help="edge routers besides")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of each run")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="clients at a time")
    parser.add_argument("--go-on", action="store_true", help="do not stop at the first failure")
    options = parser.parse_args()
    mesh = (options.routers, options.edges, options.steps, options.clients)
    seeds = range(options.first, options.first + options.seeds)
    start = time.process_time()
    campaign = run_all(seeds, lambda seed: run(seed, *mesh), goes_on=options.go_on)
    seconds = time.process_time() - start
    failed, events = campaign.failed, campaign.events
    print(f"{options.seeds} seeds with {options.routers} routers, {failed} failed; {events} events in {seconds:.1f} s")
    print(campaign.report())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
