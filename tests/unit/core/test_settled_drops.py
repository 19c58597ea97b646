"""Producers that have their credit back at once, as in qdrouterd: settled messages are dropped if too many wait."""

import pytest

from routerd.core import EDGE, FABRIC, INTER_ROUTER
from routerd.core.links.peer import INNER, NORMAL, ROUTE_CONTAINER
from routerd.wire import ACCEPTED, RELEASED
from tests.routers import Workers, message, message_to, outcome

CAPACITY = 20


def bodies(start, stop):
    return [message(str(number)) for number in range(start, stop)]


class Ends:
    """A producer with a small window, and consumers that give no credit yet."""

    def __init__(self, workers=1, *, consumers=1, **options):
        self.workers = Workers(workers, **{"gives_credit_at_once": True} | options)
        self.there = self.workers.client(workers - 1)
        self.receivers = [self.there.consumer("orders") for _ in range(consumers)]
        self.client = self.workers.client(peer={"capacity": CAPACITY})
        self.sender = self.client.producer("orders")

    def send(self, start, stop, *, settled=True):
        return [self.client.send(self.sender, octets, settled=settled) for octets in bodies(start, stop)]

    def dropped(self):
        """At each consumer's link of the worker that the producer is at, and at the producer's."""
        peers = self.workers[0].router.peers.values()
        outlets = [outlet.dropped_presettled for peer in peers for outlet in peer.outlets if not outlet.is_fabric]
        return outlets, [inlet.dropped_presettled for peer in peers for inlet in peer.inlets if not inlet.is_fabric]

    def take_all(self):
        for receiver in self.receivers:
            receiver.grant(1000)
        self.workers.pump()
        return [octets for receiver in self.receivers for octets in self.there.received(receiver)]


def test_all_that_wait_are_dropped_when_one_more_comes_than_the_link_may_hold():
    ends = Ends()
    ends.send(0, CAPACITY)
    assert ends.dropped() == ([0], [0])
    ends.send(CAPACITY, CAPACITY + 3)
    assert (ends.dropped(), ends.sender.credit) == (([CAPACITY], [0]), CAPACITY)
    assert ends.take_all() == bodies(CAPACITY, CAPACITY + 3)


def test_they_wait_for_credit_elsewhere():
    ends = Ends(gives_credit_at_once=False)
    ends.send(0, CAPACITY)
    assert (ends.sender.credit, ends.dropped()) == (0, ([0], [0]))
    assert ends.take_all() == bodies(0, CAPACITY)


def test_consumers_count_those_that_waited_for_them_in_turn():
    ends = Ends(consumers=2)
    sender = ends.client.producer(None)
    for _ in range(2 * CAPACITY + 1):
        ends.client.send(sender, message_to("orders"), settled=True)
    assert ends.dropped() == ([CAPACITY, CAPACITY], [0, 0])


def test_the_credit_of_a_producer_still_keeps_step_with_that_of_several_consumers():
    ends = Ends(consumers=2)
    ends.send(0, CAPACITY)
    assert (ends.sender.credit, ends.dropped()) == (0, ([0, 0], [0]))
    assert sorted(ends.take_all()) == sorted(bodies(0, CAPACITY))


def test_unsettled_ones_wait_and_are_not_dropped():
    ends = Ends()
    first = ends.send(0, 10, settled=False)
    ends.send(10, 20)
    assert ends.dropped() == ([0], [0])
    last = ends.send(20, 21, settled=False)
    ends.send(21, 22)
    assert ends.dropped() == ([10], [0])
    assert ends.take_all() == [*bodies(0, 10), *bodies(20, 22)]
    for delivery in list(ends.there.unsettled[ends.receivers[0].name]):
        delivery.accept()
    ends.workers.pump()
    assert [outcome(delivery) for delivery in (*first, *last)] == [(ACCEPTED, True)] * 11


def test_one_that_is_still_coming_is_not_dropped():
    ends = Ends()
    octets = message("x" * 100)
    begun = ends.client.stream(ends.sender, octets[:50], ends=False, settled=True)
    other = ends.workers.client(peer={"capacity": CAPACITY})
    sender = other.producer("orders")
    for body in bodies(0, CAPACITY):
        other.send(sender, body, settled=True)
    assert ends.dropped()[0] == [CAPACITY - 1]
    ends.client.go_on(begun, octets[50:], more=False)
    assert ends.take_all() == [octets, *bodies(CAPACITY - 1, CAPACITY)]


def test_those_that_wait_for_a_consumer_of_another_worker_count_at_their_producer():
    ends = Ends(2)
    ends.send(0, CAPACITY + 1)
    assert ends.dropped() == ([], [CAPACITY])
    assert ends.take_all() == bodies(CAPACITY, CAPACITY + 1)


@pytest.mark.parametrize(("capacity", "expected"), [(20, 19), (31, 30), (40, 38)])
def test_a_small_window_is_renewed_message_by_message(capacity, expected):
    workers = Workers(gives_credit_at_once=True)
    client = workers.client(peer={"capacity": capacity})
    there = workers.client()
    there.consumer("orders", "out", credit=10)
    sender = client.producer("orders")
    for _ in range(2):
        client.send(sender, message())
    there.unsettled["out"][0].accept()
    workers.pump()
    assert sender.credit == expected


def leave_alone(role=NORMAL, **options):
    """A producer that has sent one message, after which the last consumer left."""
    workers = Workers(**options)
    client = workers.client(peer={"capacity": 50, "role": role})
    client.returns_credit = False
    there = workers.client()
    receiver = there.consumer("orders", "out", credit=10)
    sender = client.producer("orders")
    client.send(sender, message())
    there.unsettled["out"][0].accept()
    there.detach(receiver)
    return client, sender, there


@pytest.mark.parametrize("role", [NORMAL, ROUTE_CONTAINER])
def test_a_producer_keeps_its_credit_until_it_sends_what_nobody_gets(role):
    client, sender, there = leave_alone(role, gives_credit_at_once=True)
    assert (sender.credit, sender.drain) == (50, False)
    assert outcome(client.send(sender, message())) == (RELEASED, True)
    assert (sender.credit, sender.drain) == (49, True)
    sender.drained()
    there.consumer("orders", "again", credit=10)
    assert (sender.credit, sender.drain) == (50, False)


@pytest.mark.parametrize("news_is_late", [False, True])
def test_a_producer_is_drained_when_the_worker_of_the_last_consumer_releases_its_message(news_is_late):
    workers = Workers(2, gives_credit_at_once=True)
    client, there = workers.client(peer={"capacity": 50}), workers.client(1)
    client.returns_credit = False
    receiver = there.consumer("orders", "out", credit=10)
    sender = client.producer("orders")
    sent = client.send(sender, message())
    there.unsettled["out"][0].decide(RELEASED)
    if news_is_late:
        workers.pump()
        assert (outcome(sent), sender.drain) == ((RELEASED, True), False)
    there.detach(receiver)
    assert (outcome(sent), sender.credit, sender.drain) == ((RELEASED, True), 49, True)


def test_one_that_was_drained_gets_no_credit_when_it_is_told_again_that_nobody_is_there():
    workers = Workers(2, gives_credit_at_once=True)
    client, there = workers.client(peer={"capacity": 50}), workers.client(1)
    receiver = there.consumer("orders", "out", credit=10)
    sender = client.producer("orders")
    client.send(sender, message())
    there.unsettled["out"][0].decide(RELEASED)
    there.detach(receiver)
    returned = sender.delivery_count
    (inlet,) = client.peer.inlets
    inlet.recall()
    workers.pump()
    assert (sender.credit, sender.delivery_count) == (0, returned)
    there.consumer("orders", credit=10)
    assert (sender.credit, sender.drain) == (50, False)


@pytest.mark.parametrize(("role", "expected"), [(NORMAL, (50, True)), (ROUTE_CONTAINER, (0, False))])
def test_elsewhere_it_is_drained_at_once_and_a_broker_gets_no_more_credit(role, expected):
    _, sender, _ = leave_alone(role)
    assert (sender.credit, sender.drain) == expected


@pytest.mark.parametrize("role", [INNER, EDGE, INTER_ROUTER, FABRIC])
def test_what_routers_and_endpoints_inside_send_is_never_dropped(role):
    router = Workers(gives_credit_at_once=True)[0].router
    assert not router.connections.new_peer(role).gives_credit_at_once
    assert router.connections.new_peer().gives_credit_at_once


@pytest.mark.parametrize(("at_once", "credit"), [(True, 100), (False, 97)])
def test_a_client_that_has_nothing_under_way_has_all_its_credit_back(at_once, credit):
    workers = Workers(gives_credit_at_once=at_once)
    client, there = workers.client(peer={"capacity": 100}), workers.client()
    there.consumer("orders", credit=1000)
    sender = client.producer("orders")
    for number in range(3):
        client.send(sender, message(str(number)))
    first, *others = there.deliveries
    first.decide(ACCEPTED)
    workers.pump()
    assert sender.credit == 97
    for delivery in others:
        delivery.decide(ACCEPTED)
    workers.pump()
    assert sender.credit == credit
