"""Messages that nobody takes: fallback destinations get them, and what is released goes to others."""

from tests.system.conftest import Connect
from tests.waiting import eventually


def test_a_fallback_destination_gets_what_no_consumer_does(connect: Connect, address: str) -> None:
    address = f"spare.{address}"
    stand_in = connect().consumer(address, capability="qd.fallback")
    producer = connect().producer(address)
    assert {producer.send(number).outcome() for number in range(50)} == {"accepted"}
    assert stand_in.bodies == list(range(50))
    client = connect()
    consumer = client.consumer(address)
    # Other actors learn of a consumer before it is answered.
    assert {producer.send(number).outcome() for number in range(50, 60)} == {"accepted"}
    assert consumer.bodies == list(range(50, 60))
    assert len(stand_in.bodies) == 50


def test_what_consumers_release_goes_to_one_that_takes_it(connect: Connect, address: str) -> None:
    address = f"again.{address}"
    picky = [connect().consumer(address, outcome="released") for _ in range(3)]
    taker = connect().consumer(address)
    producer = connect().producer(address)
    assert {producer.send(number).outcome() for number in range(40)} == {"accepted"}
    eventually(lambda: len(taker.bodies) == 40, "the one that takes them has all")
    assert sorted(taker.bodies) == list(range(40))
    assert all(len(one.bodies) <= 40 for one in picky)


def test_what_all_consumers_release_is_released(connect: Connect, address: str) -> None:
    address = f"again.{address}"
    picky = [connect().consumer(address, outcome="released") for _ in range(4)]
    producer = connect().producer(address)
    assert {producer.send(number).outcome() for number in range(20)} == {"released"}
    assert [sorted(one.bodies) for one in picky] == [list(range(20))] * 4
