"""Unsettled messages that come many at a time: what becomes of each is told as if it had gone alone."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire import ACCEPTED, RELEASED, Modified, Receiver, Rejected
from tests.routers import Workers, message, outcome
from tests.unit.core.recorder_rows import decision_rows, flow_rows, record, take

MAYBE_SEEN = Modified(delivery_failed=True)


class Scene:
    """Producers and consumers of one address; watched, each message takes the usual way."""

    def __init__(
        self, workers: int = 1, *, is_watched: bool = False, credit: int = 200, every: int | None = None, rows: int = 64
    ) -> None:
        """If one message in `every` is recorded, it is in sets of so many rows."""
        self.workers = Workers(workers)
        for worker in self.workers.workers.values() if every is not None else ():
            record(worker.router, every, rows=rows)
        self.is_watched = is_watched
        self.last = workers - 1
        self.consumers: list[tuple[Any, Any]] = []
        self.sent: list[Any] = []
        self.seen: list[Any] = []
        self.come(credit)
        self.producers = [(client, client.producer("orders")) for client in (self.client(0), self.client(0))]

    def client(self, worker: int) -> Any:
        client = self.workers.client(worker)
        self.workers[worker].router.watch(client.peer, self.is_watched)
        return client

    def come(self, credit: int) -> None:
        """Have another consumer."""
        client = self.client(self.last)
        self.consumers.append((client, client.consumer("orders", credit=credit)))

    def send(self, count: int, *, producer: int = 0, settled: bool = False, tag: bytes = b"") -> list[Any]:
        """Send as many messages as there is credit for, at once."""
        _, link = self.producers[producer]
        made: list[Any] = []
        while len(made) < count and self.may_send(producer) > 0:
            number = len(self.sent) + len(made)
            own = tag + b"%d" % number if tag else None
            made.append(link.send(message(f"{number:04}" + "." * 60), own, settled))
        self.sent += made
        self.workers.pump()
        return made

    def may_send(self, producer: int) -> int:
        """How many messages a producer has credit for."""
        _, link = self.producers[producer]
        return link.credit if link.is_attached else 0

    def unsettled(self) -> list[Any]:
        """What consumers have, and nobody has settled."""
        found = [one for client, link in self.consumers for one in client.unsettled.get(link.name, ())]
        return [one for one in found if not (one.settled or one.remote_settled)]

    def decide(self, first: int, count: int, state: Any) -> None:
        """Have consumers decide about some of what they have."""
        for one in self.unsettled()[first : first + count]:
            if one.link.is_attached:
                one.update(state, True)
        self.workers.pump()

    @property
    def told(self) -> list[Any]:
        """What producers know."""
        return [outcome(one) for one in self.sent]

    def counters(self) -> list[Any]:
        """All counters of the address, worker by worker, and how much is under way."""
        found: list[Any] = []
        names = ("deliveries", "presettled", "dropped_presettled", "accepted", "rejected", "released", "modified")
        for worker in self.workers.workers.values():
            for peer in worker.router.peers.values():
                for end in (*peer.inlets, *peer.outlets):
                    link = end.link
                    found.append([getattr(end, name) for name in (*names, "delayed_1s", "delayed_10s")])
                    # When producers are granted again may depend on how much is settled at a time.
                    found.append([0 if isinstance(link, Receiver) else link.credit, link.unsettled_count])
                for session in peer.connection.sessions():
                    found.append([session.incoming.count, session.outgoing.count])
        return found

    def recorded(self) -> list[Any]:
        """What each worker has recorded until now."""
        found = []
        for worker in self.workers.workers.values():
            recorder = worker.router.recorder
            if recorder is not None:
                records = take(worker.router)
                events = [(event.kind, event.number, event.detail) for event in records.events]
                lost = recorder.lost_flows, recorder.lost_decisions
                found.append([sorted(map(repr, decision_rows(records))), flow_rows(records), events, lost])
        return found

    def received(self) -> list[Any]:
        """What each consumer got."""
        return [client.received(link) for client, link in self.consumers]


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


actions = st.one_of(
    st.tuples(st.just("send"), st.integers(1, 60), st.integers(0, 1), st.sampled_from([b"", b"", b"t"])),
    st.tuples(
        st.just("decide"),
        st.one_of(st.just(0), st.integers(0, 60)),
        st.integers(1, 80),
        st.sampled_from([ACCEPTED, ACCEPTED, ACCEPTED, RELEASED, Modified(), None]),
    ),
    st.tuples(st.just("grant"), st.integers(0, 1), st.integers(1, 100)),
    st.tuples(st.just("give up"), st.integers(0, 200), st.integers(1, 30)),
    st.tuples(st.just("come"), st.integers(0, 100)),
    st.tuples(st.just("detach"), st.integers(0, 4), st.booleans()),
    st.tuples(st.just("vanish"), st.integers(0, 4)),
    st.tuples(st.just("wait"), st.integers(0, 12)),
    st.tuples(st.just("record")),
)


def step(scene: Scene, kind: str, values: list[Any]) -> list[Any]:
    """Have something happen; return what is seen of it."""
    seen: list[Any] = []
    if kind == "send":
        scene.send(values[0], producer=values[1], tag=values[2])
    elif kind == "decide":
        scene.decide(*values)
    elif kind == "grant":
        _, link = scene.consumers[values[0] % len(scene.consumers)]
        if link.is_attached:
            link.grant(values[1])
    elif kind == "give up":
        for one in scene.sent[values[0] : values[0] + values[1]]:
            if one.link.is_attached and not (one.settled or one.remote_settled):
                one.update(None, True)
    elif kind == "come" and len(scene.consumers) < 3 and not any(link.is_attached for _, link in scene.consumers):
        # Which of several consumers gets a message does depend on what came with it.
        scene.come(values[0])
    elif kind == "detach":
        everybody = [*scene.consumers, *scene.producers]
        client, link = everybody[values[0] % len(everybody)]
        if link.is_attached:
            client.detach(link, closed=values[1])
    elif kind == "vanish":
        everybody = [*scene.consumers, *scene.producers]
        client, _ = everybody[values[0] % len(everybody)]
        if not client.line.is_cut:
            client.vanish()
    elif kind == "record":
        seen = scene.recorded()
    scene.workers.pump(float(values[0]) if kind == "wait" else 0.0)
    return [scene.told, scene.received(), scene.counters(), *seen]


def play(together: Scene, alone: Scene, steps: list[Any]) -> None:
    """Have a story happen twice, and nobody see a difference."""
    for kind, *values in steps:
        if kind == "send":
            values[0] = min(values[0], together.may_send(values[1]), alone.may_send(values[1]))
        seen, expected = step(together, kind, values), step(alone, kind, values)
        assert seen == expected, (kind, values)


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


TURNS: list[Any] = [
    ("send", 60, 0, b""),
    ("decide", 0, 25, ACCEPTED),
    ("send", 60, 1, b"t"),
    ("record",),
    ("decide", 0, 30, ACCEPTED),
    ("send", 60, 0, b""),
    ("decide", 7, 3, RELEASED),
    ("grant", 0, 40),
    ("decide", 0, 20, ACCEPTED),
    ("record",),
    ("wait", 3),
    ("decide", 0, 80, ACCEPTED),
    ("grant", 0, 60),
    ("vanish", 0),
    ("record",),
]


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
