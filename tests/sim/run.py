"""One run: a number of steps from one seed, with rests in between and an end."""

from dataclasses import dataclass

from tests.sim.actions import Actions
from tests.sim.campaign import Failed
from tests.sim.simulation import Simulation

REST_EVERY = 60
"""Steps; each third rest is one at which all messages come to an end."""
CALM_SEEDS = 4
"""Of so many seeds, one is for a run without misfortunes."""


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    seed: int
    workers: int
    is_calm: bool
    events: int
    digest: int
    counts: dict[str, int]


def run(seed: int, steps: int) -> Result:
    """Run, check, and return what there was to check; raises Failed."""
    simulation: Simulation | None = None
    step = 0
    try:
        is_calm = seed % CALM_SEEDS == 0
        simulation = Simulation(seed, is_calm=is_calm)
        actions = Actions(simulation)
        for step in range(1, steps + 1):
            actions.step()
            if step % (3 * REST_EVERY) == 0:
                simulation.finish()
            elif step % REST_EVERY == 0:
                simulation.rest()
        simulation.leave_all()
        if is_calm:
            simulation.ledger.check_all_have_arrived()
    except Exception as error:
        trace = "\n".join(simulation.world.trace) if simulation else ""
        raise Failed(
            f"{trace}\nseed {seed} fails at step {step} of {steps}: {type(error).__name__}: {error}\n"
            f"again: python -m tests.sim --seed {seed} --steps {steps}"
        ) from error
    world = simulation.world
    return Result(seed, simulation.size, is_calm, world.events, world.digest, simulation.ledger.counts)
