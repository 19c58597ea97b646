"""A fixed set of seeds; `python -m tests.sim` runs others."""

import pytest

from tests.sim.campaign import Failed
from tests.sim.run import CALM_SEEDS, run
from tests.sim.simulation import Simulation
from tests.sim.world import World

SEEDS = range(1, 81)
STEPS = 360


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_must_hold_is_broken(seed):
    assert run(seed, STEPS).seed == seed


def test_the_seeds_make_a_difference():
    results = [run(seed, 60) for seed in range(1, 9)]
    assert len({result.digest for result in results}) == 8
    assert [result.is_calm for result in results] == [seed % CALM_SEEDS == 0 for seed in range(1, 9)]
    assert sum(result.counts.get("received", 0) for result in results) > 100


def test_a_seed_leads_to_the_same_each_time():
    assert run(7, STEPS) == run(7, STEPS)


def test_a_failure_says_how_to_have_it_again(monkeypatch):
    def break_something(self):
        raise ValueError("on purpose")

    monkeypatch.setattr(Simulation, "rest", break_something)
    with pytest.raises(Failed, match=r"python -m tests.sim --seed 3 --steps 100$") as caught:
        run(3, 100)
    assert "seed 3 fails at step 60 of 100: ValueError: on purpose" in str(caught.value)


def test_events_of_one_time_happen_in_the_order_in_which_they_were_asked_for():
    world = World(1)
    happened = []
    for name in ("a", "b"):
        world.later(1.0, happened.append, name)
    world.later(0.5, happened.append, "c")
    world.run_until_quiet(10.0)
    assert (happened, world.now) == (["c", "a", "b"], 101.0)
