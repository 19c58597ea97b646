"""Unsettled messages that come many at a time: what becomes of each is told as if it had gone alone."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected
from tests.routers import message
from tests.unit.core.stories import TURNS, Scene, actions, play, step

MAYBE_SEEN = Modified(delivery_failed=True)


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def scene(request: pytest.FixtureRequest) -> Scene:
    return Scene(request.param)


def batches(scene: Scene) -> list[int]:
    """How many deliveries the batches have that consumers' sessions know, batch by batch."""
    client, _ = scene.consumers[0]
    [session] = client.server.sessions()
    return [one.count for one in session.outgoing.stamps() if hasattr(one, "first_out")]


def test_all_that_come_together_go_together(scene):
    sent = scene.send(100)
    assert sum(batches(scene)) >= 90
    scene.decide(0, 40, ACCEPTED)
    assert scene.told == [(ACCEPTED, True)] * 40 + [(None, False)] * 60
    scene.decide(0, 60, ACCEPTED)
    assert scene.told == [(ACCEPTED, True)] * 100
    assert batches(scene) == []
    assert len(sent) == 100


@pytest.mark.parametrize("state", [RELEASED, Modified(undeliverable_here=True), Rejected(), None])
def test_each_has_an_outcome_of_its_own(scene, state):
    scene.send(50)
    scene.decide(20, 3, state)
    expected = (RELEASED if state is None else state, True)
    told = [(None, False)] * 20 + [expected] * 3 + [(None, False)] * 27
    if state is None:
        told = [one if one[1] is False else scene.told[20] for one in told]
    assert scene.told == told
    scene.decide(0, 47, ACCEPTED)
    assert [one for one in scene.told if one[0] is ACCEPTED] == [(ACCEPTED, True)] * 47


def test_what_a_consumer_has_when_it_vanishes_may_have_been_seen(scene):
    scene.send(50)
    scene.decide(0, 10, ACCEPTED)
    scene.consumers[0][0].vanish()
    assert scene.told == [(ACCEPTED, True)] * 10 + [(MAYBE_SEEN, True)] * 40


def test_what_a_consumer_has_when_it_detaches_may_have_been_seen(scene):
    scene.send(50)
    client, link = scene.consumers[0]
    client.detach(link)
    assert scene.told == [(MAYBE_SEEN, True)] * 50


def test_a_producer_that_vanishes_leaves_nothing_behind(scene):
    scene.send(50)
    scene.producers[0][0].vanish()
    scene.decide(0, 50, ACCEPTED)
    client, _ = scene.consumers[0]
    for one, _ in (*scene.consumers, scene.producers[1]):
        one.leave()
    assert scene.workers.left_over() == {}
    assert client.connection.is_finished


def test_a_producer_may_settle_what_is_under_way(scene):
    sent = scene.send(50)
    for one in sent[10:20]:
        one.update(None, True)
    scene.workers.pump()
    scene.decide(0, 50, ACCEPTED)
    assert [one.remote_state for one in sent] == [ACCEPTED] * 10 + [None] * 10 + [ACCEPTED] * 30


def test_what_took_long_is_counted_as_delayed(scene):
    scene.send(30)
    scene.workers.pump(2.0)
    scene.decide(0, 10, ACCEPTED)
    scene.workers.pump(20.0)
    scene.decide(0, 20, ACCEPTED)
    [outlet] = scene.consumers[0][0].peer.outlets
    [inlet] = scene.producers[0][0].peer.inlets
    assert [(end.accepted, end.delayed_1s, end.delayed_10s) for end in (inlet, outlet)] == [(30, 10, 20)] * 2


def test_messages_overtake_none_that_wait():
    scene = Scene(credit=10)
    scene.send(100)
    client, link = scene.consumers[0]
    client.peer.is_blocked = True
    link.grant(20)
    scene.workers.pump()
    scene.send(30)
    scene.workers[0].router.set_blocked(client.peer, False)
    link.grant(500)
    scene.workers.pump()
    got = scene.received()[0]
    assert got == sorted(got)
    assert len(got) == len(scene.sent)


def test_settled_ones_between_them_keep_their_place(scene):
    _, link = scene.producers[0]
    sent = []
    for number in range(150):
        sent.append(message(f"{number:04}" + "." * 60))
        link.send(sent[-1], None, number % 40 < 15)
    scene.workers.pump()
    assert scene.received() == [sent]
    scene.decide(0, 150, ACCEPTED)
    assert scene.consumers[0][1].unsettled_count == link.unsettled_count == 0


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("credit", [200, 7], ids=["most go at once", "most wait"])
@settings(max_examples=60)
@given(steps=st.lists(actions, max_size=14))
def test_nobody_can_tell_whether_messages_went_together(workers, credit, steps):
    # Those of a connection that is watched go one by one.
    play(Scene(workers, credit=credit), Scene(workers, is_watched=True, credit=credit), steps)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("credit", [200, 7], ids=["most go at once", "most wait"])
@settings(max_examples=60)
@given(steps=st.lists(actions, max_size=14), every=st.sampled_from([0, 1, 7, 100]), rows=st.sampled_from([8, 8192]))
def test_records_do_not_tell_whether_messages_went_together(workers, credit, steps, every, rows):
    together = Scene(workers, credit=credit, every=every, rows=rows)
    alone = Scene(workers, is_watched=True, credit=credit, every=every, rows=rows)
    play(together, alone, [*steps, ("record",)])


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("credit", [200, 7], ids=["most go at once", "most wait"])
@pytest.mark.parametrize("every", [0, 1, 7, 100])
@pytest.mark.parametrize("rows", [8, 50, 8192])
def test_each_is_recorded_as_if_it_had_gone_alone(workers, credit, every, rows):
    together = Scene(workers, credit=credit, every=every, rows=rows)
    alone = Scene(workers, is_watched=True, credit=credit, every=every, rows=rows)
    play(together, alone, TURNS)


@pytest.mark.parametrize("credit", [200, 7], ids=["most go at once", "most wait"])
def test_each_message_that_was_recorded_has_an_outcome(credit):
    scene = Scene(credit=credit, every=1)
    seen = [records for kind, *values in TURNS for records in step(scene, kind, values)[3:]]
    sums = Counter[str]()
    for _, flows, _, _ in seen:
        for flow in flows:
            sums.update({name: count for name, count in flow.items() if type(count) is int})
    assert sums["messages"] == sums["accepted"] + sums["released"] + sums["modified"] == 180
    assert all(sums[name] > 0 for name in ("accepted", "released", "modified"))
    assert sum(len(rows) for rows, *_ in seen) == 180


@pytest.mark.parametrize("is_watched", [False, True], ids=["together", "alone"])
def test_settled_messages_are_recorded(is_watched):
    scene = Scene(credit=500, every=7, is_watched=is_watched)
    scene.send(100, settled=True)
    [[rows, [flow], _, lost]] = scene.recorded()
    assert (flow["messages"], flow["presettled"], flow["octets"]) == (100, 100, 100 * len(scene.received()[0][0]))
    assert len(rows) == 14
    assert lost == (0, 0)
