"""A fixed set of seeds of the mesh; `python -m tests.sim.mesh_protocol` runs others."""

import pytest

from tests.sim import mesh_protocol
from tests.sim.campaign import Failed
from tests.sim.mesh_protocol import SIZE, run

SEEDS = [(1, SIZE), (2, SIZE), (3, SIZE), *((seed, 20) for seed in range(4, 10)), (10, 8)]
STORMY = (1149, 1203)
"""Once what a router told before a restart and after it met, made each other new, and went round for ever."""
UNHEARD = (1321,)
"""Once a router whose only announcement was lost made no other while changes followed each other."""
HANDED_BACK = (1551, 1968)
"""Once an engine that took over kept the addresses of a router that had been started anew, and had none."""


@pytest.mark.parametrize(("seed", "size"), [*SEEDS, *((seed, SIZE) for seed in STORMY + UNHEARD + HANDED_BACK)])
def test_every_router_knows_the_paths_and_the_addresses_once_there_is_quiet(seed, size):
    assert run(seed, size).seed == seed


def test_a_seed_leads_to_the_same_each_time():
    assert run(11, 8) == run(11, 8)


def test_seeds_make_a_difference():
    assert len({run(seed, 4).digest for seed in range(1, 5)}) == 4


def test_a_failure_says_how_to_have_it_again(monkeypatch):
    monkeypatch.setattr(mesh_protocol, "tree_from", lambda root, links: {root: [root]})
    with pytest.raises(
        Failed, match=r"again: python -m tests.sim.mesh_protocol --first 3 --seeds 1 --size 4$"
    ) as caught:
        run(3, 4)
    assert "seed 3: Broken: the routes of R1" in str(caught.value)
