"""A fixed set of seeds of meshes with messages; `python -m tests.sim.mesh_messages` runs others."""

import pytest

from routerd.wire import ACCEPTED, Rejected
from tests.sim import mesh_messages
from tests.sim.campaign import Failed
from tests.sim.mesh_ledger import MeshLedger
from tests.sim.mesh_messages import CALM_SEEDS, LARGE, run
from tests.sim.world import Broken

SEEDS = range(1, 11)


class _Some:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class OfTwoMinds:
    """A mesh whose routers do not agree on the paths; it has a producer and a consumer."""

    epoch = 0
    is_whole = False
    world = _Some(now=0.0)

    def __init__(self):
        self.ledger = MeshLedger(self)
        client = _Some(worker="A")
        self.producer = _Some(client=client, is_attached=True)
        self.consumer = _Some(
            client=client,
            address="multicast/x",
            is_living=True,
            latest={},
            link=_Some(max_message_size=0),
            wants_settled=False,
        )

    def interior_of(self, router):
        return None

    def consumers_of(self, address):
        return []

    def had_trouble_since(self, sent):
        return True


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


def test_what_a_consumer_says_of_its_second_copy_counts():
    mesh = OfTwoMinds()
    sent = mesh.ledger.send(mesh.producer, "multicast/x", False)
    bad = Rejected()
    for decision in (ACCEPTED, bad):
        mesh.ledger.decided(mesh.ledger.started(mesh.consumer, sent.number), decision)
    mesh.ledger.told(sent, bad)
    assert (mesh.ledger.counts["duplicates"], sent.outcome) == (1, bad)


def test_what_no_consumer_has_said_is_found():
    mesh = OfTwoMinds()
    sent = mesh.ledger.send(mesh.producer, "multicast/x", False)
    mesh.ledger.decided(mesh.ledger.started(mesh.consumer, sent.number), ACCEPTED)
    with pytest.raises(Broken, match="no consumer has said so"):
        mesh.ledger.told(sent, Rejected())


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
