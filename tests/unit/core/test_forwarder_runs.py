"""Messages that come many at a time for several consumers: each consumer gets its part, some in a row."""

from collections import Counter
from itertools import chain, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.core.links.address import RUN_MAX
from routerd.core.links.parked import ParkedTogether
from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected
from tests.routers import Workers, message, outcome
from tests.unit.core.recorder_rows import decision_rows, flow_rows, record, take

LEFT_OVER: dict[str, Any] = {}


def text(number: int) -> bytes:
    return message(f"{number:05}" + "." * 60)


class Fork:
    """A producer whose messages come together, and several consumers."""

    def __init__(self, *at: int, address: str = "orders", credit: int = 200, capacity: int = 1000) -> None:
        """Have a consumer at each of the workers named."""
        self.workers = Workers(max(at) + 1)
        self.consumers = [self.come(index, address, credit) for index in at]
        self.client = self.workers.client(0, peer={"capacity": capacity})
        self.sender = self.client.producer(address)
        self.sent: list[Any] = []

    def come(self, worker: int, address: str = "orders", credit: int = 200) -> tuple[Any, Any]:
        client = self.workers.client(worker)
        return client, client.consumer(address, credit=credit)

    def send(self, count: int, *, settled: bool = False) -> None:
        for _ in range(min(count, self.sender.credit)):
            self.sent.append(self.sender.send(text(len(self.sent)), None, settled))
        self.workers.pump()

    @property
    def got(self) -> list[list[int]]:
        """The numbers of the messages that each consumer got."""
        return [[int(octets[5:10]) for octets in client.received(link)] for client, link in self.consumers]

    @property
    def counts(self) -> list[int]:
        return [len(one) for one in self.got]

    def batches(self, consumer: int = 0) -> list[int]:
        """How many deliveries each batch has that a consumer's session knows."""
        [session] = self.consumers[consumer][0].server.sessions()
        return [one.count for one in session.outgoing.stamps() if hasattr(one, "first_out")]

    def undecided(self, consumer: int) -> list[tuple[int, Any]]:
        """The messages of which a consumer has not decided, by number."""
        client, link = self.consumers[consumer]
        both = zip(self.got[consumer], client.unsettled.get(link.name, ()), strict=True)
        return [(number, one) for number, one in both if not (one.settled or one.remote_settled)]

    def decide(self, consumer: int, state: Any, first: int = 0, count: int = 1000) -> list[int]:
        """Have a consumer decide about some messages; return their numbers."""
        chosen = self.undecided(consumer)[first : first + count]
        for _, one in chosen:
            one.update(state, True)
        self.workers.pump()
        return [number for number, _ in chosen]


def runs(numbers: list[int]) -> list[int]:
    """How many messages a consumer got in a row, each time."""
    found = [1]
    for one, other in pairwise(numbers):
        if other == one + 1:
            found[-1] += 1
        else:
            found.append(1)
    return found


def test_each_of_several_consumers_gets_some_in_a_row():
    fork = Fork(0, 0, 0, 0)
    fork.send(400)
    assert sorted(chain(*fork.got)) == list(range(400))
    assert all(one == sorted(one) for one in fork.got)
    assert max(max(runs(one)) for one in fork.got) == RUN_MAX
    assert max(fork.counts) - min(fork.counts) <= RUN_MAX
    assert max(fork.batches()) == RUN_MAX - 1


@pytest.mark.parametrize("address", ["orders", "closest"])
@pytest.mark.parametrize("settled", [False, True])
def test_with_few_messages_none_gets_more_than_its_part(address, settled):
    fork = Fork(0, 0, 0, 0, 0, address=address)
    for _ in range(10):
        fork.send(5, settled=settled)
    assert fork.counts == [10] * 5
    assert all(max(runs(one)) == 1 for one in fork.got)


@pytest.mark.parametrize("count", [7, 30, 65, 200])
@pytest.mark.parametrize(("address", "settled"), [("orders", True), ("closest", False), ("closest", True)])
def test_those_that_take_turns_get_equally_many_whatever_comes_together(count, address, settled):
    fork = Fork(0, 0, 0, 0, address=address, credit=10_000)
    # Where the window of the producer's session is opened again, a run ends early.
    for _ in range(1000 // count):
        fork.send(count, settled=settled)
        for consumer in range(4):
            fork.decide(consumer, ACCEPTED)
    assert max(fork.counts) - min(fork.counts) <= 1


def test_a_consumer_with_much_under_way_gets_none_until_others_have_as_much():
    fork = Fork(0)
    fork.send(100)
    fork.consumers.append(fork.come(0))
    fork.send(80)
    assert fork.counts == [100, 80]
    fork.send(100)
    assert fork.counts[0] + fork.counts[1] == 280
    assert abs(fork.counts[0] - fork.counts[1]) <= RUN_MAX


def test_credit_bounds_what_a_consumer_gets_in_a_row():
    fork = Fork(0, 0)
    fork.consumers.append(fork.come(0, credit=3))
    fork.send(200)
    assert fork.counts[2] == 3
    assert sum(fork.counts) == 200
    assert fork.consumers[2][1].credit == 0


@pytest.mark.parametrize("settled", [False, True])
def test_a_sibling_gets_as_much_as_its_consumers_should_have(settled):
    fork = Fork(0, 1, 1, credit=1000)
    for _ in range(3):
        fork.send(100, settled=settled)
    assert sum(fork.counts) == 300
    assert all(abs(count - 100) <= 2 * RUN_MAX for count in fork.counts)


def test_each_outcome_finds_its_delivery():
    fork = Fork(0, 0, 0)
    fork.send(300)
    states = [RELEASED, ACCEPTED, Rejected()]
    fork.decide(1, states[1])
    fork.decide(2, states[2])
    fork.decide(0, states[0])
    expected = {number: states[index] for index, numbers in enumerate(fork.got) for number in numbers}
    assert [outcome(one) for one in fork.sent] == [(expected[number], True) for number in range(300)]
    assert (fork.client.unsettled, fork.sender.unsettled_count) == ({}, 0)


def test_what_a_consumer_accepts_is_told_by_ranges_whoever_accepts_first():
    fork = Fork(0, 0, 0)
    fork.send(300)
    for consumer in (2, 0, 1):
        before = fork.batches(consumer)
        fork.decide(consumer, ACCEPTED, count=20)
        # Those behind are still together.
        assert sum(fork.batches(consumer)) >= sum(before) - 20
    told = [outcome(one) == (ACCEPTED, True) for one in fork.sent]
    accepted = {number for numbers in fork.got for number in numbers[:20]}
    assert [number for number in range(300) if told[number]] == sorted(accepted)


def test_a_consumer_that_vanishes_leaves_those_of_others_alone():
    fork = Fork(0, 0, 0)
    fork.send(300)
    fork.consumers[1][0].vanish()
    fork.decide(0, ACCEPTED)
    fork.decide(2, ACCEPTED)
    lost = set(fork.got[1])
    maybe_seen = Modified(delivery_failed=True)
    assert [outcome(one)[0] for one in fork.sent] == [maybe_seen if n in lost else ACCEPTED for n in range(300)]


def test_consumers_of_one_session_may_decide_in_any_order():
    fork = Fork(0)
    client, _ = fork.consumers[0]
    for _ in range(3):
        fork.consumers.append((client, client.consumer("orders", credit=200)))
    fork.send(200)
    for consumer in (3, 1, 0, 2):
        fork.decide(consumer, ACCEPTED)
    assert [outcome(one) for one in fork.sent] == [(ACCEPTED, True)] * 200
    assert fork.batches() == []


@pytest.mark.parametrize("settled", [False, True])
def test_what_waits_for_several_consumers_waits_together_and_leaves_in_order(settled):
    fork = Fork(0, 0, 0, credit=1)
    fork.send(60, settled=settled)
    address = fork.workers[0].router.addresses["M0orders"]
    assert [type(one) for one in address.parked].count(ParkedTogether) == 1
    for _, link in fork.consumers:
        link.grant(100)
    fork.workers.pump()
    count = len(fork.sent)
    assert sorted(chain(*fork.got)) == list(range(count))
    assert all(one == sorted(one) for one in fork.got)
    assert address.waiting == 0


@pytest.mark.parametrize("every", [1, 7])
def test_recorded_decisions_name_all_that_could_have_been_chosen(every):
    fork = Fork(0, 0, 0)
    fork.consumers.append(fork.come(0, credit=0))
    record(fork.workers[0].router, every, rows=64)
    fork.send(120)
    for consumer in range(3):
        fork.decide(consumer, ACCEPTED)
    records = take(fork.workers[0].router)
    rows = decision_rows(records)
    assert len(rows) == 120 // every
    assert all(len(row["candidates"]) == 3 for row in rows)
    assert all(row["candidates"][row["choice"]][0] == row["egress"] for row in rows)
    if every == 1:
        # The load of the consumer that was chosen is what had gone there before.
        loads: Counter[str] = Counter()
        for row in rows:
            assert [load for _, _, load in row["candidates"]] == [loads[link] for link, *_ in row["candidates"]]
            loads[row["egress"]] += 1
    sums = flow_rows(records)
    assert sorted(flow["accepted"] for flow in sums) == sorted(flow["messages"] for flow in sums)
    assert sum(flow["messages"] for flow in sums) == 120


steps = st.one_of(
    st.tuples(st.just("send"), st.integers(1, 120), st.booleans()),
    st.tuples(
        st.just("decide"),
        st.integers(0, 3),
        st.sampled_from([ACCEPTED, ACCEPTED, RELEASED, Rejected()]),
        st.sampled_from([0, 0, 5]),
        st.integers(1, 60),
    ),
    st.tuples(st.just("grant"), st.integers(0, 3), st.integers(1, 60)),
    st.tuples(st.just("come"), st.integers(0, 1), st.integers(0, 60)),
    st.tuples(st.just("vanish"), st.integers(0, 3)),
)


@pytest.mark.parametrize("at", [(0, 0), (0, 1)], ids=["one worker", "two workers"])
@pytest.mark.parametrize("credit", [100, 5], ids=["most go at once", "most wait"])
@settings(max_examples=60)
@given(story=st.lists(steps, max_size=14), every=st.sampled_from([None, 0, 1, 7]))
def test_none_is_lost_or_sent_twice_and_each_has_its_outcome(at, credit, story, every):
    fork = Fork(*at, credit=credit)
    for worker in fork.workers.workers.values() if every is not None else ():
        record(worker.router, every, rows=16)
    decided: dict[int, Any] = {}
    gone: set[int] = set()
    for kind, *values in story:
        if kind == "send":
            fork.send(values[0], settled=values[1])
        elif kind == "come" and len(fork.consumers) < 4:
            fork.consumers.append(fork.come(min(values[0], max(at)), credit=values[1]))
        elif kind in ("decide", "grant", "vanish") and values[0] < len(fork.consumers) and values[0] not in gone:
            consumer = values[0]
            if kind == "vanish":
                gone.add(consumer)
                fork.consumers[consumer][0].vanish()
            elif kind == "grant":
                fork.consumers[consumer][1].grant(values[1])
                fork.workers.pump()
            else:
                _, state, first, count = values
                decided.update(dict.fromkeys(fork.decide(consumer, state, first, count), state))
        got = list(chain(*fork.got))
        assert len(got) == len(set(got))
        assert all(numbers == sorted(numbers) for numbers in fork.got)
    told = {number: outcome(one)[0] for number, one in enumerate(fork.sent)}
    assert {number: told[number] for number in decided} == decided
    # What was never decided was not told, unless its consumer has vanished, or all have.
    seen = {number for index, numbers in enumerate(fork.got) if index in gone for number in numbers}
    for number, one in enumerate(fork.sent):
        if number not in decided and number not in seen and len(gone) < len(fork.consumers):
            assert outcome(one)[0] in (None, RELEASED)
    for client in (fork.client, *(client for index, (client, _) in enumerate(fork.consumers) if index not in gone)):
        client.leave()
    assert fork.workers.left_over() == LEFT_OVER
