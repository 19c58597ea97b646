"""The end of a router, and that nothing is left of clients that went."""

import pytest

from routerd.core import Distribution, Router, Totals
from routerd.wire import ACCEPTED, RELEASED, Modified, Source
from tests.routers import Workers, message, message_to, outcome, settings

REASON = "amqp:connection:forced"


def detaches(client):
    """The links of a client that the router ended, and why."""
    return [(event[1], event[3]) for event in client.events if event[0] == "link detached"]


class TestDrain:
    def test_no_link_is_taken_any_more(self):
        workers = Workers()
        client = workers.client()
        workers[0].router.leaving.drain()
        client.producer("orders", "p")
        client.consumer("orders", "c")
        assert detaches(client) == [("p", REASON), ("c", REASON)]
        assert workers[0].router.attaching.is_draining

    def test_the_credit_of_producers_is_taken_back_and_not_given_again(self):
        workers = Workers()
        client = workers.client()
        receiver = client.consumer("orders", credit=10)
        sender, anonymous = client.producer("orders"), client.producer(None)
        delivery = client.send(sender, message())
        workers[0].router.leaving.drain()
        workers.pump()
        assert (sender.credit, anonymous.credit) == (0, 0)
        client.latest(receiver).accept()
        workers.pump()
        assert (outcome(delivery), sender.credit) == ((ACCEPTED, True), 0)

    def test_it_is_over_once_all_is_settled(self, workers):
        producer, consumer = workers.ends()
        receiver = consumer.consumer("orders", credit=10)
        sender = producer.producer("orders", "p")
        idle = producer.producer("orders", "idle")
        deliveries = [producer.send(sender, message()) for _ in range(2)]
        router = workers[0].router
        router.leaving.drain()
        assert not router.leaving.is_drained()
        workers.pump()
        assert detaches(producer) == []  # a message of its may have been on its way
        assert not router.leaving.is_drained()
        workers.pump()
        assert detaches(producer) == [("idle", REASON)]
        assert not idle.is_attached
        for delivery in consumer.unsettled[receiver.name]:
            delivery.accept()
        workers.pump()
        assert router.leaving.is_drained()
        workers.pump()
        assert detaches(producer) == [("idle", REASON), ("p", REASON)]
        assert [outcome(each) for each in deliveries] == [(ACCEPTED, True)] * 2

    @pytest.mark.parametrize("settled", [False, True])
    def test_it_waits_for_what_waits(self, settled):
        workers = Workers()
        client = workers.client()
        receiver = client.consumer("orders")
        client.send(client.producer("orders"), message(), settled=settled)
        router = workers[0].router
        router.leaving.drain()
        assert not router.leaving.is_drained()
        receiver.grant(1)
        workers.pump()
        if not settled:
            assert not router.leaving.is_drained()
            client.latest(receiver).accept()
            workers.pump()
        assert router.leaving.is_drained()

    def test_it_waits_for_copies_that_wait(self):
        workers = Workers()
        client = workers.client()
        receiver = client.consumer("multicast")
        client.send(client.producer("multicast"), message(), settled=True)
        router = workers[0].router
        router.leaving.drain()
        assert not router.leaving.is_drained()
        receiver.grant(1)
        workers.pump()
        assert router.leaving.is_drained()

    def test_it_waits_for_the_rest_of_a_message(self):
        workers = Workers()
        client = workers.client()
        client.consumer("orders", credit=1)
        octets = message("x" * 100)
        delivery = client.stream(client.producer("orders"), octets[:50], ends=False, settled=True)
        router = workers[0].router
        router.leaving.drain()
        assert not router.leaving.is_drained()
        client.go_on(delivery, octets[50:], more=False)
        assert router.leaving.is_drained()

    def test_a_lost_consumer_does_not_keep_it_waiting_for_the_rest(self):
        workers = Workers()
        client, consumer = workers.client(), workers.client()
        consumer.consumer("orders", credit=1)
        client.stream(client.producer("orders"), message("x" * 100)[:50], ends=False)
        router = workers[0].router
        router.leaving.drain()
        consumer.vanish()
        assert router.leaving.is_drained()


class TestCloseAll:
    def test_links_and_connections_are_told_why(self, workers):
        client = workers.client(0)
        client.consumer("orders", "c")
        client.producer("orders", "p")
        client.take()
        workers[0].router.leaving.close_all()
        workers.pump()
        assert client.take() == [
            ("link detached", "p", True, REASON),
            ("link detached", "c", True, REASON),
            ("session ended", 0, REASON),
            ("closed", REASON),
        ]
        assert [peer for peer in workers[0].router.peers.values() if not peer.is_fabric] == []

    def test_connections_that_are_not_open_or_close_already_are_left(self):
        workers = Workers()
        client = workers.client()
        workers[0].router.connections.new_peer().connection = client.server
        client.connection.close()
        client.line.holds.add(client.server)
        workers.pump()
        workers[0].router.leaving.close_all()
        client.line.holds.clear()
        workers.pump()
        assert client.events[-1] == ("closed", None)

    def test_attaches_that_wait_are_over(self):
        workers = Workers(2)
        client = workers.client(0)
        workers.holds_confirmations = True
        receiver = client.consumer("orders")
        workers[0].router.leaving.close_all()
        workers.holds_confirmations = False
        workers.pump()
        assert (receiver.is_attached, client.events[-1]) == (False, ("closed", REASON))

    def test_what_is_not_settled_is_given_back(self):
        workers = Workers()
        producer, consumer = workers.client(), workers.client()
        consumer.consumer("orders", credit=1)
        sender = producer.producer("orders")
        deliveries = [producer.send(sender, message()) for _ in range(2)]
        workers[0].router.leaving.close_all()
        workers.pump()
        assert [outcome(each) for each in deliveries] == [(Modified(delivery_failed=True), True), (RELEASED, True)]
        assert workers[0].router.peers == {}


def use(workers):
    """Do a little of everything, and leave it unfinished."""
    clients = [workers.client(index % len(workers.workers)) for index in range(4)]
    octets = message("x" * 100)
    for index, client in enumerate(clients):
        for address in ("orders", "closest/x", "multicast/x", "_local/x", f"own/{index}"):
            client.consumer(address, credit=index)
            client.consumer(None, source=Source(dynamic=True))
            sender = client.producer(address)
            for settled in (False, True):
                if sender.credit > 2:
                    client.send(sender, octets, settled=settled)
                    client.stream(sender, octets[:40], octets[40:], settled=settled)
            if sender.credit > 2:
                client.stream(sender, octets[:40], ends=False)
        anonymous = client.producer(None)
        for address in ("orders", "multicast/x", "nobody", ""):
            client.send(anonymous, message_to(address))
        client.stream(anonymous, octets[:2], ends=False)
    return clients


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("end", ["leave", "vanish"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_nothing_is_left_of_clients_that_went(count, end, order):
    workers = Workers(count)
    for _ in range(2):
        for client in use(workers)[::order]:
            getattr(client, end)()
        assert workers.left_over() == {}
    for worker in workers.workers.values():
        assert worker.router.totals.ingress["deliveries"] > 0
        assert worker.router.totals.egress["deliveries"] > 0
        assert worker.router.siblings.all_interests().interests == ()
    assert workers.table.snapshot().interests == ()


def test_links_that_come_and_go_leave_nothing(workers):
    client = workers.client(0)
    for number in range(50):
        links = [client.consumer(f"a{number % 3}", credit=1), client.producer(f"a{number % 3}")]
        for link in links[:: 1 if number % 2 else -1]:
            client.detach(link)
    assert workers[0].router.addresses == {}
    assert len(client.server.links) == 0


def test_what_links_counted_is_summed_up():
    workers = Workers(2)
    producer, consumer = workers.client(0), workers.client(1)
    receiver = consumer.consumer("orders", credit=2)
    sender = producer.producer("orders")
    for settled in (False, True):
        producer.send(sender, message(), settled=settled)
    consumer.unsettled[receiver.name][0].release()
    workers.pump()
    producer.leave()
    consumer.leave()
    expected = dict.fromkeys(Totals().ingress, 0) | {"deliveries": 2, "presettled": 1, "released": 1}
    nothing = Totals().ingress
    near, far = (workers[index].router.totals for index in (0, 1))
    assert (near.ingress, near.fabric_out, near.fabric_in, near.egress) == (expected, expected, nothing, nothing)
    assert (far.fabric_in, far.egress, far.fabric_out, far.ingress) == (expected, expected, nothing, nothing)
    copy = near.copy()
    copy.ingress["deliveries"] += 5
    assert near.ingress == expected


def test_an_address_counts_what_went_through_it():
    workers = Workers()
    client = workers.client()
    client.consumer("multicast", credit=10)
    client.consumer("multicast", credit=10)
    sender = client.producer("multicast")
    for _ in range(3):
        client.send(sender, message())
    address = workers[0].router.addresses["M0multicast"]
    assert (address.ingress, address.egress, address.distribution) == (3, 6, Distribution.MULTICAST)


def test_a_router_by_itself_has_nothing_to_tell():
    router = Router(settings(), lambda: "t")
    siblings = router.siblings
    assert (siblings.take_changes(), siblings.all_interests().interests, siblings.version) == (None, (), (0, 0))
    assert router.leaving.is_drained()
