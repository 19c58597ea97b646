"""A fixed set of seeds of meshes with messages; `python -m tests.sim.mesh_messages` runs others."""

import pytest

from tests.sim import mesh_messages
from tests.sim.campaign import Failed
from tests.sim.mesh_messages import CALM_SEEDS, LARGE, run

SEEDS = range(1, 11)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_must_hold_is_broken(seed):
    assert run(seed).seed == seed


def test_nothing_that_must_hold_is_broken_in_a_large_mesh():
    assert run(11, **LARGE).seed == 11


def test_the_seeds_make_a_difference():
    results = [run(seed, routers=4, steps=40) for seed in range(1, 6)]
    assert len({result.digest for result in results}) == 5
    assert [result.is_calm for result in results] == [seed % CALM_SEEDS == 0 for seed in range(1, 6)]
    assert sum(result.counts.get("received", 0) for result in results) > 50


def test_messages_pass_several_routers():
    counts = run(5).counts
    assert counts["3 hops"] > 0


def test_a_seed_leads_to_the_same_each_time():
    assert run(7, routers=4, steps=60) == run(7, routers=4, steps=60)


def test_a_failure_says_how_to_have_it_again(monkeypatch):
    def break_something(simulation):
        raise ValueError("on purpose")

    monkeypatch.setattr(mesh_messages, "rest", break_something)
    again = "--first 3 --seeds 1 --routers 4 --edges 2 --steps 100 --clients 10"
    with pytest.raises(Failed, match=rf"python -m tests.sim.mesh_messages {again}$") as caught:
        run(3, routers=4, steps=100)
    assert "seed 3 fails at step 80 of 100: ValueError: on purpose" in str(caught.value)
