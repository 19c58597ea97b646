"""Messages that nobody takes: a fallback destination gets them, whichever actors everybody is at."""

from tests.system.conftest import Connect


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
