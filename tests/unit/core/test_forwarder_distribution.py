"""Which consumer gets the next message: balanced by what is outstanding, closest in turns, siblings by their weight."""

import pytest

from tests.routers import Workers, message


def counts(clients):
    """How many messages each consumer, given with its client, has got."""
    return [len(client.received(receiver)) for client, receiver in clients]


def consumers(workers, address, *at, credit=1000):
    """A consumer at each of the workers named, with its client."""
    found = []
    for index in at:
        client = workers.client(index)
        found.append((client, client.consumer(address, credit=credit)))
    return found


def settle_all(client, receiver):
    for delivery in client.unsettled.pop(receiver.name, []):
        delivery.accept()


@pytest.mark.parametrize("address", ["orders", "closest"])
@pytest.mark.parametrize("settled", [False, True])
def test_equal_consumers_take_turns(address, settled):
    workers = Workers()
    found = consumers(workers, address, 0, 0, 0)
    client = workers.client()
    sender = client.producer(address)
    for number in range(9):
        client.send(sender, message(str(number)), settled=settled)
    assert [client.received(receiver) for client, receiver in found] == [
        [message(str(number)) for number in range(first, 9, 3)] for first in range(3)
    ]


def test_closest_goes_on_in_turns_whatever_is_outstanding():
    workers = Workers()
    found = consumers(workers, "closest", 0, 0)
    client = workers.client()
    sender = client.producer("closest")
    for _ in range(20):
        client.send(sender, message())
        settle_all(*found[0])
        workers.pump()
    assert counts(found) == [10, 10]


def test_balanced_gives_a_consumer_that_settles_nothing_less():
    workers = Workers()
    found = consumers(workers, "orders", 0, 0)
    client = workers.client()
    sender = client.producer("orders")
    for _ in range(100):
        client.send(sender, message())
        settle_all(*found[0])
        workers.pump()
    quick, slow = counts(found)
    assert (quick + slow, slow) == (100, 1)


def test_balanced_shares_by_what_is_outstanding():
    workers = Workers()
    found = consumers(workers, "orders", 0, 0)
    client = workers.client()
    sender = client.producer("orders")
    for _ in range(10):
        client.send(sender, message())
    settle_all(*found[0])
    for _ in range(5):
        client.send(sender, message())
    assert counts(found) == [10, 5]
    for _ in range(4):
        client.send(sender, message())
    assert counts(found) == [12, 7]


def test_a_consumer_without_credit_is_passed_over():
    workers = Workers()
    found = [*consumers(workers, "orders", 0, credit=2), *consumers(workers, "orders", 0)]
    client = workers.client()
    sender = client.producer("orders")
    for _ in range(10):
        client.send(sender, message())
    assert counts(found) == [2, 8]


def test_a_consumer_whose_connection_has_no_room_is_passed_over():
    workers = Workers()
    found = consumers(workers, "orders", 0, 0)
    workers[0].router.set_blocked(found[0][0].peer, True)
    client = workers.client()
    sender = client.producer("orders")
    for _ in range(4):
        client.send(sender, message())
    assert counts(found) == [0, 4]
    workers[0].router.set_blocked(found[0][0].peer, False)
    for _ in range(4):
        client.send(sender, message())
    assert counts(found) == [4, 4]


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("address", ["orders", "closest"])
def test_consumers_get_as_much_wherever_they_are(address, settled):
    workers = Workers(3)
    found = consumers(workers, address, 0, 1, 1, 2, 2, 2)
    client = workers.client(0)
    sender = client.producer(address)
    for _ in range(120):
        client.send(sender, message(), settled=settled)
    assert counts(found) == [20] * 6


def test_the_weight_of_a_sibling_follows_the_number_of_its_consumers():
    workers = Workers(2)
    found = consumers(workers, "closest", 0, 1)
    client = workers.client(0)
    sender = client.producer("closest")
    for _ in range(10):
        client.send(sender, message())
    assert counts(found) == [5, 5]
    found += consumers(workers, "closest", 1)
    for _ in range(12):
        client.send(sender, message())
    assert counts(found) == [9, 9, 4]
    found[1][0].leave()
    for _ in range(10):
        client.send(sender, message())
    assert counts(found) == [14, 9, 9]


def test_what_a_sibling_sent_is_not_sent_back():
    workers = Workers(2)
    near, far = consumers(workers, "orders", 0, 1, credit=0)
    client = workers.client(0)
    sender = client.producer("orders")
    far[1].grant(1)
    workers.pump()
    for number in range(4):
        client.send(sender, message(str(number)))
    near[1].grant(4)
    workers.pump()
    assert counts([near, far])[1] == 1
    # Whatever went to the sibling waits for the consumer there.
    far[1].grant(4)
    workers.pump()
    assert sum(counts([near, far])) == 4


def test_order_is_kept_for_each_consumer():
    workers = Workers(2)
    found = consumers(workers, "orders", 0, 0, 1, credit=5)
    client = workers.client(1)
    sender = client.producer("orders")
    for number in range(60):
        client.send(sender, message(f"{number:03}"))
        for other, receiver in found:
            if number % 7 == 0:
                receiver.grant(4)
            settle_all(other, receiver)
    for other, receiver in found:
        assert other.received(receiver) == sorted(other.received(receiver))
    assert sum(counts(found)) >= 45
