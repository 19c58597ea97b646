"""How consumers share the messages of an address, whichever connections and actors they are on."""

from itertools import combinations_with_replacement

import pytest

from tests.system.conftest import Connect
from tests.system.proton_links import Sent
from tests.waiting import eventually

RANKS = ("released", "modified", "accepted", "rejected")
"""Of several outcomes of a multicast message, the last one here prevails."""


@pytest.mark.parametrize("kind", ["closest", "balanced"])
@pytest.mark.parametrize("is_settled", [False, True], ids=["unsettled", "settled"])
def test_several_producers_and_consumers_lose_and_double_nothing(
    connect: Connect, address: str, kind: str, is_settled: bool
) -> None:
    address = f"{kind}.{address}"
    consumers = [connect().consumer(address) for _ in range(4)]
    producers = [connect().producer(address) for _ in range(4)]
    sent = [
        producer.send([number, turn], settled=is_settled)
        for turn in range(100)
        for number, producer in enumerate(producers)
    ]
    if not is_settled:
        assert {one.outcome() for one in sent} == {"accepted"}
    eventually(lambda: sum(len(one.received) for one in consumers) >= 400, "everything arrives")
    received = [body for consumer in consumers for body in consumer.bodies]
    assert sorted(received) == [[number, turn] for number in range(4) for turn in range(100)]
    assert all(consumer.received for consumer in consumers)


@pytest.mark.parametrize("is_settled", [False, True], ids=["unsettled", "settled"])
def test_what_one_producer_sends_to_one_consumer_keeps_its_order(
    connect: Connect, address: str, is_settled: bool
) -> None:
    consumer = connect().consumer(address, credit=20)
    connect().producer(address).send_all(list(range(1000)), settled=is_settled)
    assert consumer.wait_for(1000) == list(range(1000))


def test_closest_spreads_evenly_among_equals(connect: Connect, address: str) -> None:
    address = f"closest.{address}"
    consumers = [connect().consumer(address) for _ in range(5)]
    producer = connect().producer(address)
    assert {producer.send(number).outcome() for number in range(50)} == {"accepted"}
    assert [len(consumer.bodies) for consumer in consumers] == [10] * 5


def test_balanced_gives_less_to_who_has_much_to_do(connect: Connect, address: str) -> None:
    address = f"balanced.{address}"
    slow = connect().consumer(address, outcome=None)
    quick = connect().consumer(address)
    producer = connect().producer(address)
    sent: list[Sent] = []
    for number in range(60):
        sent.append(producer.send(number))
        eventually(lambda: len(slow.received) + len(quick.received) == len(sent), "it has arrived")
        eventually(lambda: sum(one.state is None for one in sent) == len(slow.received), "outcomes are here")
    assert len(slow.bodies) <= 2
    assert len(quick.bodies) >= 58


def test_who_has_no_credit_gets_nothing_and_holds_up_nobody(connect: Connect, address: str) -> None:
    without = connect().consumer(address, credit=0)
    quick = connect().consumer(address)
    sent = connect().producer(address).send_all(list(range(100)))
    assert {one.outcome() for one in sent} == {"accepted"}
    assert quick.bodies == list(range(100))
    assert without.bodies == []


def test_a_multicast_message_is_copied_to_each_consumer(connect: Connect, address: str) -> None:
    address = f"multicast.{address}"
    consumers = [connect().consumer(address) for _ in range(6)]
    sent = connect().producer(address).send_all(list(range(50)))
    settled = connect().producer(address)
    assert {one.outcome() for one in sent} == {"accepted"}
    settled.send_all(list(range(50, 100)), settled=True)
    assert [consumer.wait_for(100) for consumer in consumers] == [list(range(100))] * 6


@pytest.mark.parametrize("outcomes", [*combinations_with_replacement(RANKS, 2)], ids="+".join)
def test_the_outcomes_of_several_copies_become_one(connect: Connect, address: str, outcomes: tuple[str, ...]) -> None:
    address = f"multicast.{address}"
    for outcome in outcomes:
        connect().consumer(address, outcome=outcome)
    assert connect().producer(address).send("one").outcome() == max(outcomes, key=RANKS.index)


def test_a_multicast_message_waits_for_the_consumer_that_decides_last(connect: Connect, address: str) -> None:
    address = f"multicast.{address}"
    quick, slow = connect().consumer(address), connect().consumer(address, outcome=None)
    sent = connect().producer(address).send("one")
    received = slow.take()
    assert quick.wait_for(1) == ["one"]
    assert sent.state is None
    received.decide("released")
    assert sent.outcome() == "accepted"


def test_a_multicast_message_to_nobody_is_released(connect: Connect, address: str) -> None:
    assert connect().producer(None).send("one", address=f"multicast.{address}").outcome() == "released"


def test_a_multicast_consumer_that_vanishes_does_not_hold_up_the_outcome(connect: Connect, address: str) -> None:
    address = f"multicast.{address}"
    vanishing = connect()
    silent = vanishing.consumer(address, outcome=None)
    connect().consumer(address, outcome="released")
    sent = connect().producer(address).send("one")
    silent.take()
    vanishing.cut()
    assert sent.outcome() == "modified"
