"""Settled messages that come many at a time: they take one way together, and are counted as if they had not."""

import pytest

from routerd.core import Observer
from routerd.wire import Symbol
from tests.routers import Workers, message

SENT = 200


class Watching(Observer):
    """Writes down what it is shown."""

    def __init__(self):
        self.shown = []

    def message_received(self, inlet, data, start, end, is_partial):
        self.shown.append(("in", bytes(data[start:end])))

    def message_sent(self, outlet, data, start, end, is_partial):
        self.shown.append(("out", bytes(data[start:end])))


def texts(number, size=60):
    return [message(f"{one:05}" + "." * size) for one in range(number)]


def burst(workers, sender, octets):
    """Send all at once, as credit comes, and let them arrive together."""
    left = list(octets)
    while left:
        assert sender.credit > 0
        while left and sender.credit > 0:
            sender.send(left.pop(0), None, True)
        workers.pump()


def ends(workers, address="orders"):
    """The counters of all inlets and outlets of an address, worker by worker."""
    key = f"M0{address}"
    found = []
    for worker in workers.workers.values():
        place = worker.router.addresses[key]
        inlets = [(inlet.deliveries, inlet.presettled, inlet.dropped_presettled) for inlet in place.inlets]
        outlets = [(outlet.deliveries, outlet.presettled) for outlet in place.outlets]
        found.append((inlets, outlets, place.ingress, place.egress))
    return found


def test_all_arrive_in_order_and_are_counted(workers):
    last = workers.last
    consumer = workers.client(last)
    receiver = consumer.consumer("orders", credit=10_000)
    sender = workers.client(0).producer("orders")
    octets = texts(SENT)
    burst(workers, sender, octets)
    assert consumer.received(receiver) == octets
    into = [(SENT, SENT, 0)]
    out = [(SENT, SENT)]
    if last == 0:
        assert ends(workers) == [(into, out, SENT, SENT)]
    else:
        assert ends(workers) == [(into, out, SENT, 0), (into, out, 0, SENT)]
    assert receiver.credit == 10_000 - SENT


def test_what_a_consumer_has_no_credit_for_waits_in_order(workers):
    consumer = workers.client(workers.last)
    receiver = consumer.consumer("orders", credit=37)
    sender = workers.client(0).producer("orders")
    octets = texts(min(150, sender.credit))
    for one in octets:
        sender.send(one, None, True)
    workers.pump()
    assert consumer.received(receiver) == octets[:37]
    receiver.grant(1000)
    workers.pump()
    assert consumer.received(receiver) == octets


def test_two_consumers_get_half_each(workers):
    consumers = [workers.client(index % len(workers.workers)) for index in range(2)]
    receivers = [consumer.consumer("orders", credit=10_000) for consumer in consumers]
    sender = workers.client(0).producer("orders")
    burst(workers, sender, texts(SENT))
    came = [len(consumer.received(link)) for consumer, link in zip(consumers, receivers, strict=True)]
    assert came == [SENT // 2] * 2


def test_a_consumer_that_comes_later_gets_its_half(workers):
    first = workers.client(0)
    receiver = first.consumer("orders", credit=10_000)
    sender = workers.client(0).producer("orders")
    burst(workers, sender, texts(100))
    second = workers.client(workers.last)
    other = second.consumer("orders", credit=10_000)
    burst(workers, sender, texts(100))
    assert (len(first.received(receiver)), len(second.received(other))) == (150, 50)


def test_copies_go_to_all(workers):
    consumers = [workers.client(index % len(workers.workers)) for index in range(2)]
    receivers = [consumer.consumer("multicast/news", credit=10_000) for consumer in consumers]
    sender = workers.client(0).producer("multicast/news")
    octets = texts(50)
    burst(workers, sender, octets)
    assert [consumer.received(link) for consumer, link in zip(consumers, receivers, strict=True)] == [octets] * 2


def test_none_stands_between_the_frames_of_a_large_message():
    workers = Workers()
    consumer = workers.client()
    receiver = consumer.consumer("orders", credit=5)
    one, other = workers.client(), workers.client()
    sender = one.producer("orders")
    octets = texts(13)
    for number in range(10):
        sender.send(octets[number], None, True)
    workers.pump()
    link = other.producer("orders")
    large = message("y" * 500)
    delivery = other.stream(link, large[:100], ends=False)
    # What waited leaves, and the large message begins to.
    receiver.grant(100)
    workers.pump()
    for number in range(10, 13):
        sender.send(octets[number], None, True)
    workers.pump()
    assert consumer.received(receiver) == octets[:10]
    other.go_on(delivery, large[100:], more=False)
    assert consumer.received(receiver) == [*octets[:10], large, *octets[10:]]


@pytest.mark.parametrize("watched", ["producer", "consumer"])
def test_each_message_of_a_connection_that_is_watched_is_shown(watched):
    observer = Watching()
    workers = Workers(observer=lambda: observer)
    ends = {"producer": workers.client(), "consumer": workers.client()}
    ends["consumer"].consumer("orders", credit=10_000)
    sender = ends["producer"].producer("orders")
    octets = texts(20)
    burst(workers, sender, octets[:10])
    ends[watched].peer.watch(True)
    burst(workers, sender, octets[10:])
    assert observer.shown == [("in" if watched == "producer" else "out", one) for one in octets[10:]]


@pytest.mark.parametrize("strips_in", [True, False])
def test_annotations_of_routers_are_taken_out_of_each(strips_in):
    workers = Workers()
    consumer = workers.client()
    receiver = consumer.consumer("orders", credit=10_000)
    sender = workers.client(peer={"strips_in": strips_in}).producer("orders")
    plain = texts(5)
    marked = [message("x" * 70, message_annotations={Symbol("x-opt-qd.to"): "elsewhere"})] * 3
    burst(workers, sender, [*plain, *marked, *plain])
    assert consumer.received(receiver) == [*plain, *[message("x" * 70)] * 3, *plain]
