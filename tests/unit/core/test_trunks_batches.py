"""Messages that come many at a time and cross routers: what becomes of each is as if it had gone alone."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.core.links.parked import ParkedTogether
from routerd.wire import ACCEPTED, RELEASED, Modified
from tests.routers import message, outcome
from tests.unit.core.joined_routers import Mesh
from tests.unit.core.stories import TURNS, Scene, actions, play

cuts = st.one_of(actions, actions, actions, st.just(("cut",)))


def batches(scene: Scene, router: int) -> list[int]:
    """How many deliveries each batch has that the sessions of a router's worker know on their way out."""
    sessions = [session for peer in scene.routers[router].peers.values() for session in peer.connection.sessions()]
    return [one.count for session in sessions for one in session.outgoing.stamps() if hasattr(one, "first_out")]


def outstanding(scene: Scene, router: int) -> list[int]:
    """How many deliveries are under way on the routes of a router."""
    return [route.outstanding for address in scene.routers[router].addresses.values() for route in address.routes]


@pytest.mark.parametrize("routers", [2, 3])
def test_all_that_come_together_go_together_through_each_router(routers):
    scene = Scene(routers=routers)
    scene.send(100)
    assert [sum(batches(scene, router)) for router in range(routers)] == [99] * routers
    assert [outstanding(scene, router) for router in range(routers - 1)] == [[100]] * (routers - 1)
    scene.decide(0, 40, ACCEPTED)
    assert scene.told == [(ACCEPTED, True)] * 40 + [(None, False)] * 60
    scene.decide(0, 60, ACCEPTED)
    assert scene.told == [(ACCEPTED, True)] * 100
    assert [batches(scene, router) for router in range(routers)] == [[]] * routers
    assert [outstanding(scene, router) for router in range(routers - 1)] == [[0]] * (routers - 1)


@pytest.mark.parametrize("routers", [2, 3])
@pytest.mark.parametrize("state", [RELEASED, Modified(undeliverable_here=True)])
def test_each_has_an_outcome_of_its_own(routers, state):
    scene = Scene(routers=routers)
    scene.send(50)
    scene.decide(20, 3, state)
    assert scene.told == [(None, False)] * 20 + [(state, True)] * 3 + [(None, False)] * 27
    scene.decide(0, 47, ACCEPTED)
    assert [one for one in scene.told if one[0] is ACCEPTED] == [(ACCEPTED, True)] * 47
    assert outstanding(scene, 0) == [0]


@pytest.mark.parametrize("count", [1, 30, 100])
@pytest.mark.parametrize("costs", [(10, 50), (1, 1), (3, 400)])
@pytest.mark.parametrize("has_consumer_here", [False, True])
def test_the_least_load_decides_as_if_each_of_them_came_alone(count, costs, has_consumer_here):
    spread = []
    for is_together in (False, True):
        mesh = Mesh("A", "B", "C")
        consumers = []
        for at, cost in zip("BC", costs, strict=True):
            mesh.join("A", at, cost)
            consumers.append(mesh[at].client())
        if has_consumer_here:
            consumers.append(mesh["A"].client())
        links = [one.consumer("orders", credit=200) for one in consumers]
        producer = mesh["A"].client()
        sender = producer.producer("orders")
        for _ in range(count):
            sender.send(message())
            if not is_together:
                mesh.pump()
        mesh.pump()
        spread.append([len(one.received(link)) for one, link in zip(consumers, links, strict=True)])
    assert sum(spread[1]) == count
    assert all(abs(one - other) <= 1 for one, other in zip(*spread, strict=True))


def test_what_was_on_its_way_when_a_trunk_is_lost_may_have_been_seen():
    scene = Scene(routers=2)
    sent = scene.send(50)
    scene.decide(0, 10, ACCEPTED)
    assert scene.mesh is not None
    scene.mesh.trunks[0].cut()
    assert [outcome(one) for one in sent] == [(ACCEPTED, True)] * 10 + [(Modified(delivery_failed=True), True)] * 40
    scene.decide(0, 40, ACCEPTED)
    for client, _ in (*scene.consumers, *scene.producers):
        client.leave()
    assert scene.mesh.left_over() == {}


def held(scene: Scene, router: int) -> list[int]:
    """How many wait together at a router, held batch by held batch."""
    [address] = [one for one in scene.routers[router].addresses.values() if one.key == "M0orders"]
    waiting = (*address.parked, *address.parked_from_trunks)
    return [one.count for one in waiting if type(one) is ParkedTogether]


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("routers", [2, 3])
def test_those_that_wait_for_a_consumer_wait_together_behind_the_last_trunk(routers, settled):
    scene = Scene(routers=routers, credit=5)
    scene.send(100, settled=settled)
    far = scene.routers[-1].addresses["M0orders"]
    assert held(scene, routers - 1) == [94]
    assert (far.waiting, far.waiting_from_trunks) == (95, 95)
    assert far.octets_from_trunks > 95 * 60
    _, link = scene.consumers[0]
    for count in (1, 30, 100):
        link.grant(count)
        scene.workers.pump()
    got = scene.received()[0]
    assert (len(got), got) == (100, sorted(got))
    assert (far.waiting, far.waiting_from_trunks, far.octets_from_trunks) == (0, 0, 0)
    scene.decide(0, 100, ACCEPTED)
    assert all(done for _, done in scene.told) or settled
    assert outstanding(scene, 0) == [0]


@pytest.mark.parametrize("settled", [False, True])
def test_those_that_wait_for_a_trunk_wait_together(settled):
    scene = Scene(routers=2, credit=1000)
    [trunk] = [peer for peer in scene.routers[0].peers.values() if peer.is_router]
    scene.routers[0].set_blocked(trunk, True)
    scene.send(100, settled=settled)
    assert held(scene, 0) == [99]
    assert scene.received() == [[]]
    scene.routers[0].set_blocked(trunk, False)
    scene.workers.pump()
    got = scene.received()[0]
    assert (len(got), got) == (100, sorted(got))
    assert held(scene, 0) == []
    assert outstanding(scene, 0) == [0 if settled else 100]


def test_settled_messages_that_lag_too_far_behind_are_dropped_as_if_each_waited_alone():
    results = []
    for is_watched in (False, True):
        scene = Scene(routers=2, credit=1, is_watched=is_watched)
        for _ in range(20):
            scene.send(50, settled=True, size=6000)
        far = scene.routers[-1].addresses["M0orders"]
        dropped = [end.dropped_presettled for peer in scene.routers[-1].peers.values() for end in peer.inlets]
        assert sum(dropped) > 0
        results.append((len(scene.sent), far.waiting, far.octets_from_trunks, dropped))
    assert results[0] == results[1]


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("look", [7, 8])
def test_those_with_another_priority_or_annotations_go_alone(settled, look):
    scene = Scene(routers=3)
    scene.send(100, settled=settled, look=look)
    together, alone = scene.received()[0], Scene(routers=3, is_watched=True)
    alone.send(100, settled=settled, look=look)
    assert together == alone.received()[0]
    assert len(together) == 100
    assert scene.counters() == alone.counters()


@pytest.mark.parametrize("routers", [2, 3])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("credit", [200, 7], ids=["most go at once", "most wait"])
@settings(max_examples=40)
@given(steps=st.lists(cuts, max_size=12), strips=st.booleans(), address=st.sampled_from(["orders", "closest"]))
def test_nobody_can_tell_whether_messages_went_together(routers, workers, credit, steps, strips, address):
    options: dict[str, Any] = {
        "routers": routers,
        "credit": credit,
        "address": address,
        "peer": {"strips_in": strips, "strips_out": strips},
    }
    play(Scene(workers, **options), Scene(workers, is_watched=True, **options), steps)


@pytest.mark.parametrize("routers", [2, 3])
@pytest.mark.parametrize("credit", [200, 7], ids=["most go at once", "most wait"])
@settings(max_examples=40)
@given(steps=st.lists(cuts, max_size=12), every=st.sampled_from([0, 1, 7, 100]), rows=st.sampled_from([8, 8192]))
def test_records_do_not_tell_whether_messages_went_together(routers, credit, steps, every, rows):
    options: dict[str, Any] = {"routers": routers, "credit": credit, "every": every, "rows": rows}
    together, alone = Scene(**options), Scene(is_watched=True, **options)
    play(together, alone, [*steps, ("record",)])


@pytest.mark.parametrize("credit", [200, 7], ids=["most go at once", "most wait"])
@pytest.mark.parametrize("every", [0, 1, 7])
def test_each_is_recorded_as_if_it_had_gone_alone(credit, every):
    options: dict[str, Any] = {"routers": 3, "credit": credit, "every": every, "rows": 50}
    play(Scene(**options), Scene(is_watched=True, **options), TURNS)
