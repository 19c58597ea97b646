"""What waits leaves a burst at a time, so that a transport has some of it while the rest is composed."""

import pytest

from tests.routers import Workers, message

BURST = 1 << 18
"""What is composed at once, at the least, if so much waits."""
BODY = bytes(8192)
MESSAGES = 200
SMALLEST_COUNT = 3
"""Bursts that all of it takes, at the least."""


def numbered(address):
    return [message(BODY, properties=None, application_properties={address: n}) for n in range(MESSAGES)]


class Bursts:
    """A consumer's connection whose transport is looked at, and messages that wait for its credit."""

    def __init__(self, *addresses):
        self.workers = Workers()
        self.router = self.workers[0].router
        self.client = self.workers.client()
        self.receivers = [self.client.consumer(address) for address in addresses]
        self.sent = {}
        for address in addresses:
            producer = self.workers.client()
            sender = producer.producer(address)
            self.sent[address] = numbered(address)
            for octets in self.sent[address]:
                producer.send(sender, octets)
        self.client.line.holds.add(self.client.server)

    def grant(self, credit, *, drain=False):
        for receiver in self.receivers:
            receiver.set_credit(credit, drain=drain)
        self.workers.pump()

    def burst(self):
        """Write what there is, once, and have the router go on; how many octets it was."""
        octets = self.client.server.data_to_send(self.workers.now)
        self.client.connection.receive_data(bytes(octets), self.workers.now)
        self.router.written(self.client.peer)
        return len(octets)

    def rest(self):
        sizes = []
        while size := self.burst():
            sizes.append(size)
        return sizes


def is_bounded(size):
    return size < BURST + 2 * len(BODY)


def test_what_waits_is_composed_a_burst_at_a_time():
    bursts = Bursts("orders")
    [receiver] = bursts.receivers
    bursts.grant(2 * MESSAGES)
    sizes = bursts.rest()
    assert len(sizes) >= SMALLEST_COUNT
    assert [size for size in sizes if not is_bounded(size)] == []
    assert [size for size in sizes[:-1] if size < BURST] == []
    assert bursts.client.received(receiver) == bursts.sent["orders"]


def test_a_burst_is_no_stall_and_nobody_is_left_waiting():
    bursts = Bursts("orders")
    bursts.grant(2 * MESSAGES)
    [outlet] = bursts.client.peer.outlets
    before = outlet.stalls
    bursts.rest()
    assert (outlet.stalls, dict(bursts.client.peer.starved)) == (before, {})


def test_a_drain_is_answered_behind_the_last_burst():
    bursts = Bursts("orders")
    [receiver] = bursts.receivers
    bursts.grant(2 * MESSAGES, drain=True)
    bursts.burst()
    assert 0 < len(bursts.client.received(receiver)) < MESSAGES
    assert receiver.credit == 2 * MESSAGES - len(bursts.client.received(receiver))
    bursts.rest()
    assert (receiver.credit, bursts.client.received(receiver)) == (0, bursts.sent["orders"])


def test_links_of_a_connection_take_turns():
    bursts = Bursts("orders", "offers")
    one, other = bursts.receivers
    bursts.grant(2 * MESSAGES)
    counts = []
    while bursts.burst():
        counts.append((len(bursts.client.received(one)), len(bursts.client.received(other))))
    assert [(first, second) for first, second in counts if first == MESSAGES and second == 0] == []
    assert [bursts.client.received(receiver) for receiver in bursts.receivers] == list(bursts.sent.values())


@pytest.mark.parametrize("workers", [1, 2])
def test_octets_that_are_carried_at_once_make_no_difference(workers):
    routers = Workers(workers)
    producer, consumer = routers.client(0), routers.client(workers - 1)
    receiver = consumer.consumer("orders")
    sender = producer.producer("orders")
    sent = numbered("orders")
    for octets in sent:
        producer.send(sender, octets)
    receiver.grant(MESSAGES)
    routers.pump()
    assert consumer.received(receiver) == sent


def test_copies_leave_a_burst_at_a_time():
    bursts = Bursts("multicast.news")
    [receiver] = bursts.receivers
    bursts.grant(2 * MESSAGES)
    sizes = bursts.rest()
    assert [size for size in sizes if not is_bounded(size)] == []
    assert bursts.client.received(receiver) == bursts.sent["multicast.news"]
