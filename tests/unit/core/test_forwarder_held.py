"""Messages that come many at a time and have to wait: what becomes of each is as if it had waited alone."""

import gc
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from routerd.core.links.parked import Parked, ParkedTogether
from routerd.wire import ACCEPTED, RELEASED
from routerd.wire.held_batch import HeldBatch
from tests.routers import Workers, message, outcome


def texts(count: int, first: int = 0, size: int = 60) -> list[bytes]:
    return [message(f"{number:05}" + "." * size) for number in range(first, first + count)]


class Stop:
    """A router whose consumer takes a few, and what waits there."""

    def __init__(self, workers: int = 1, *, taken: int = 5, settled: bool = False) -> None:
        self.workers = Workers(workers, forgets_of_lost_producers=True)
        self.consumer = self.workers.client(workers - 1)
        self.receiver = self.consumer.consumer("orders", credit=taken)
        self.client = self.workers.client(0)
        self.sender = self.client.producer("orders")
        self.settled = settled

    def send(self, count: int, first: int = 0) -> list[Any]:
        sent = [self.sender.send(octets, None, self.settled) for octets in texts(count, first)]
        self.workers.pump()
        return sent

    def address(self, worker: int = 0) -> Any:
        return self.workers[worker].router.addresses["M0orders"]

    def together(self, worker: int = 0) -> list[int]:
        """How many wait together, held batch by held batch."""
        address = self.address(worker)
        return [one.count for one in (*address.parked, *address.parked_from_siblings) if type(one) is ParkedTogether]

    @property
    def got(self) -> list[bytes]:
        return self.consumer.received(self.receiver)


@pytest.fixture(params=[False, True], ids=["unsettled", "settled"])
def settled(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("workers", [1, 2])
def test_they_wait_together_and_leave_in_order(workers, settled):
    stop = Stop(workers, settled=settled)
    stop.send(100)
    waiting = 100 - len(stop.got)
    where = [stop.address(worker).waiting for worker in range(workers)]
    assert sum(where) == waiting
    assert sum(sum(stop.together(worker)) for worker in range(workers)) > waiting - 10
    stop.receiver.grant(20)
    stop.workers.pump()
    assert stop.got == texts(len(stop.got))
    assert sum(stop.address(worker).waiting for worker in range(workers)) == 100 - len(stop.got)
    stop.receiver.grant(500)
    stop.workers.pump()
    assert stop.got == texts(100)
    assert [stop.address(worker).waiting for worker in range(workers)] == [0] * workers
    [inlet] = stop.client.peer.inlets
    [outlet] = stop.consumer.peer.outlets
    assert (inlet.parked, inlet.waiting, inlet.deliveries, outlet.deliveries) == (0, 0, 100, 100)
    assert (inlet.presettled, outlet.presettled) == ((100, 100) if settled else (0, 0))
    assert stop.address().ingress == stop.address(workers - 1).egress == 100


def test_the_producer_has_room_again_as_they_leave():
    stop = Stop(settled=True)
    stop.send(stop.sender.credit)
    assert stop.sender.credit == 0
    stop.receiver.grant(300)
    stop.workers.pump()
    assert stop.sender.credit > 50


def test_outcomes_go_to_the_producer_of_each():
    stop = Stop()
    sent = stop.send(60)
    stop.receiver.grant(100)
    stop.workers.pump()
    for number, one in enumerate(list(stop.consumer.unsettled[stop.receiver.name])):
        one.update(RELEASED if number == 30 else ACCEPTED, True)
    stop.workers.pump()
    assert [outcome(one) for one in sent] == [((RELEASED if number == 30 else ACCEPTED), True) for number in range(60)]


def test_those_that_wait_are_released_with_the_last_consumer():
    stop = Stop()
    sent = stop.send(60)
    assert stop.together()
    stop.consumer.vanish()
    assert [outcome(one)[0] for one in sent[5:]] == [RELEASED] * 55
    assert stop.address().waiting == 0


def test_settled_ones_that_wait_are_dropped_with_the_last_consumer():
    stop = Stop(settled=True)
    stop.send(60)
    assert stop.together()
    stop.consumer.vanish()
    [inlet] = stop.client.peer.inlets
    assert (inlet.dropped_presettled, inlet.waiting, stop.address().waiting) == (55, 0, 0)


def test_a_producer_that_vanishes_takes_those_that_wait_with_it():
    stop = Stop()
    stop.send(60)
    stop.client.vanish()
    assert stop.address().waiting == 0
    stop.receiver.grant(100)
    stop.workers.pump()
    assert stop.got == texts(5)


def test_settled_ones_of_a_producer_that_vanishes_are_sent():
    stop = Stop(settled=True)
    stop.send(60)
    stop.client.vanish()
    stop.receiver.grant(100)
    stop.workers.pump()
    assert stop.got == texts(60)


def test_one_that_the_producer_settles_keeps_its_place():
    stop = Stop()
    sent = stop.send(60)
    sent[30].update(None, True)
    stop.workers.pump()
    assert (stop.together(), stop.address().waiting) == ([], 55)
    assert all(type(one) is Parked for one in stop.address().parked)
    stop.receiver.grant(100)
    stop.workers.pump()
    assert stop.got == texts(60)


@pytest.mark.parametrize("end", ["vanish", "detach"])
def test_a_producer_may_end_after_it_settled_one_that_waits(end):
    stop = Stop(taken=30)
    sent = stop.send(100)
    sent[80].update(None, True)
    stop.workers.pump()
    assert stop.address().waiting == 70
    if end == "vanish":
        stop.client.vanish()
    else:
        stop.client.detach(stop.sender)
    stop.receiver.grant(100)
    stop.workers.pump()
    # That one is sent, as any that is settled.
    assert stop.got == [*texts(30), *texts(1, 80)]
    assert stop.address().waiting == 0


@pytest.mark.parametrize("end", ["left", "parted"])
def test_no_garbage_is_left_of_what_waited(settled, end):
    stop = Stop(settled=settled)
    stop.send(60)
    gc.collect()
    gc.disable()
    try:
        if end == "parted":
            stop.workers.client().consumer("orders", credit=10)
        stop.receiver.grant(100)
        stop.workers.pump()
        assert stop.address().waiting == 0
        kinds = (ParkedTogether, HeldBatch)
        assert [one for one in gc.get_objects() if isinstance(one, kinds)] == []
    finally:
        gc.enable()


def test_another_consumer_has_its_share(settled):
    stop = Stop(settled=settled)
    stop.send(65)
    other = stop.workers.client()
    link = other.consumer("orders")
    stop.receiver.grant(30)
    link.grant(30)
    stop.workers.pump()
    assert sorted([*stop.got, *other.received(link)]) == texts(65)
    assert min(len(stop.got), len(other.received(link))) >= 30


def test_a_consumer_that_is_watched_is_shown_each():
    stop = Stop()
    stop.send(60)
    stop.consumer.peer.watch(True)
    stop.receiver.grant(100)
    stop.workers.pump()
    assert stop.got == texts(60)


def test_a_consumer_of_settled_ones_gets_those_that_are_not():
    stop = Stop()
    stop.consumer.detach(stop.receiver)
    stop.receiver = stop.consumer.consumer("orders", "settled", credit=5, snd_settle_mode=1)
    sent = stop.send(40)
    assert stop.together()
    stop.receiver.grant(100)
    stop.workers.pump()
    assert stop.got == texts(40)
    assert [outcome(one) for one in sent] == [(ACCEPTED, True)] * 40


def test_those_of_siblings_take_turns_with_ours(settled):
    workers = Workers(2)
    consumer = workers.client(1)
    receiver = consumer.consumer("orders", credit=10)
    producers = [workers.client(index).producer("orders") for index in range(2)]
    for index, link in enumerate(producers):
        for octets in texts(40, 1000 * index):
            link.send(octets, None, settled)
    workers.pump()
    address = workers[1].router.addresses["M0orders"]
    from_siblings = address.waiting_from_siblings
    assert 3 < from_siblings < address.waiting - 3
    before = len(consumer.received(receiver))
    receiver.grant(6)
    workers.pump()
    ours = [octets in texts(40, 1000) for octets in consumer.received(receiver)[before:]]
    assert ours == [False, True] * 3
    receiver.grant(100)
    workers.pump()
    for index in range(2):
        own = [octets for octets in consumer.received(receiver) if octets in texts(40, 1000 * index)]
        assert own == texts(40, 1000 * index)


actions = st.one_of(
    st.tuples(st.just("send"), st.integers(1, 60), st.integers(0, 1)),
    st.tuples(st.just("grant"), st.integers(0, 1), st.integers(1, 60)),
    st.tuples(st.just("come"), st.integers(0, 20)),
    st.tuples(st.just("detach"), st.integers(0, 4), st.booleans()),
    st.tuples(st.just("vanish"), st.integers(0, 3)),
)


def play(workers: Workers, steps: list[Any], is_watched: bool) -> list[Any]:
    """Have settled messages come and consumers take them; return what consumers got, and how many nobody did."""

    def client(index: int) -> Any:
        made = workers.client(index)
        made.peer.watch(is_watched)
        return made

    last = workers.last
    consumers = [(one, one.consumer("orders", credit=3)) for one in [client(last)]]
    producers = [(one, one.producer("orders")) for one in (client(0), client(last))]
    number = 0
    seen: list[Any] = []
    for kind, *values in steps:
        if kind == "send":
            _, link = producers[values[1]]
            for _ in range(values[0]):
                if link.is_attached and link.credit > 0:
                    link.send(message(f"{number:05}" + "." * 60), None, True)
                    number += 1
        elif kind == "grant":
            one, link = consumers[values[0] % len(consumers)]
            if link.is_attached:
                link.grant(values[1])
        elif kind == "come" and len(consumers) < 3 and not any(link.is_attached for _, link in consumers):
            # Which of several consumers gets a message does depend on what came with it.
            one = client(last)
            consumers.append((one, one.consumer("orders", credit=values[0])))
        elif kind == "detach":
            everybody = [*consumers, *producers]
            one, link = everybody[values[0] % len(everybody)]
            if link.is_attached:
                one.detach(link, closed=values[1])
        elif kind == "vanish":
            everybody = [*consumers, *producers]
            one, _ = everybody[values[0] % len(everybody)]
            if not one.line.is_cut:
                one.vanish()
        workers.pump()
        router = workers[0].router
        places = [worker.router.addresses.get("M0orders") for worker in workers.workers.values()]
        seen.append(
            (
                [one.received(link) for one, link in consumers],
                [inlet.dropped_presettled for peer in router.peers.values() for inlet in peer.inlets],
                [inlet.parked for peer in router.peers.values() for inlet in peer.inlets],
                [0 if place is None else place.waiting for place in places],
            )
        )
    return seen


@pytest.mark.parametrize("workers", [1, 2])
@settings(max_examples=60)
@example(steps=[("send", 5, 1), ("send", 2, 0), ("grant", 0, 3)])
@given(steps=st.lists(actions, max_size=14))
def test_nobody_can_tell_whether_settled_ones_waited_together(workers, steps):
    # Those of a connection that is watched wait one by one.
    assert play(Workers(workers), steps, False) == play(Workers(workers), steps, True)
