"""A fixed set of seeds of meshes with routed links; `python -m tests.sim.mesh_links` runs others."""

import pytest

from routerd.wire import ACCEPTED, RELEASED
from tests.sim import mesh_links
from tests.sim.campaign import Failed
from tests.sim.mesh_links import run
from tests.sim.mesh_messages import CALM_SEEDS
from tests.sim.routed_ends import LEFT, RoutedLink
from tests.sim.world import Broken

SEEDS = range(1, 13)


class _Some:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def with_messages(count, *, is_in=True):
    """A routed link over which messages have been sent, and none has come."""
    routed = RoutedLink(1, is_in)
    link = _Some(is_attached=True, current=None, credit=count)
    link.begin = lambda settled: _Some()
    link.write = lambda *arguments: None
    if is_in:
        routed.near = link
    else:
        routed.far = link
    for _ in range(count):
        routed.send()
    return routed


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_must_hold_is_broken(seed):
    assert run(seed).seed == seed


def test_the_seeds_make_a_difference():
    results = [run(seed, routers=3, steps=60) for seed in range(1, 6)]
    assert len({result.digest for result in results}) == 5
    assert [result.is_calm for result in results] == [seed % CALM_SEEDS == 0 for seed in range(1, 6)]
    for what in ("attached", "received", "told", "probes with a container"):
        assert sum(result.counts.get(what, 0) for result in results) > 20, what


def test_a_seed_leads_to_the_same_each_time():
    assert run(7, routers=3, steps=60) == run(7, routers=3, steps=60)


def test_a_failure_says_how_to_have_it_again(monkeypatch):
    def break_something(simulation):
        raise ValueError("on purpose")

    monkeypatch.setattr(mesh_links, "leave", break_something)
    again = "--first 3 --seeds 1 --routers 3 --edges 2 --steps 20 --clients 5"
    with pytest.raises(Failed, match=rf"python -m tests.sim.mesh_links {again}$") as caught:
        run(3, routers=3, steps=20)
    assert "seed 3 fails at step 20 of 20: ValueError: on purpose" in str(caught.value)


def test_a_message_out_of_order_is_found():
    routed = with_messages(2)
    with pytest.raises(Broken, match="message 0 is"):
        routed.take(_Some(remote_settled=False), routed.sent[1])


def test_a_message_that_comes_twice_is_found():
    routed = with_messages(1)
    routed.take(_Some(remote_settled=False), routed.sent[0])
    with pytest.raises(Broken, match="message 1 is"):
        routed.take(_Some(remote_settled=False), routed.sent[0])


def test_an_outcome_that_nobody_has_said_is_found():
    routed = with_messages(1)
    routed.take(_Some(remote_settled=False), routed.sent[0])
    routed.decided[0] = ACCEPTED
    with pytest.raises(Broken, match="which its receiver never said"):
        routed.hear(0, RELEASED)


def test_a_receiver_that_was_given_up_has_to_lose_its_link():
    routed = with_messages(1, is_in=False)
    routed.near = routed.sender
    routed.hear(0, LEFT)
    assert routed.is_torn


def test_a_link_with_one_end_is_torn():
    assert with_messages(0).is_torn
