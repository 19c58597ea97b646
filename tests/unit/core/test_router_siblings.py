"""Workers of one router: what the table tells them, the links of the fabric, and siblings that are lost and return."""

import pytest

from routerd.core import Changes, Delta, Interest, Router
from routerd.core.errors import FullDeltaMissing
from routerd.wire import ACCEPTED, RELEASED, Connection, ConnectionConfig, LinkState, Modified, Source, Target
from tests.endpoints import Recorder
from tests.routers import Workers, message, message_to, outcome, settings

MAYBE_SEEN = Modified(delivery_failed=True)
CAPACITY = 250


@pytest.fixture
def workers():
    return Workers(2)


def fabric_outlets(workers, index):
    """The addresses for which a worker has links to siblings, by sibling."""
    neighbours = workers[index].router.directory.neighbours
    return {other: sorted(neighbour.outlets) for other, neighbour in neighbours.items() if neighbour.outlets}


def loaded(workers, *, credit=10, address="orders"):
    """A producer at worker 0 and a consumer at worker 1."""
    producer, consumer = workers.client(0), workers.client(1)
    receiver = consumer.consumer(address, credit=credit)
    return producer, producer.producer(address), consumer, receiver


class TestTable:
    def test_a_worker_tells_how_many_consumers_it_has(self):
        workers = Workers(2)
        router = workers[0].router
        workers.holds_changes = True
        client = workers.client(0)
        links = [client.consumer("orders") for _ in range(2)]
        client.consumer("offers")
        assert router.siblings.take_changes() == Changes(1, (Interest("M0orders", 2), Interest("M0offers", 1)))
        assert router.siblings.take_changes() is None
        assert router.siblings.all_interests() == Changes(1, (Interest("M0orders", 2), Interest("M0offers", 1)))
        client.detach(links[0])
        assert router.siblings.take_changes() == Changes(2, (Interest("M0orders", 1),))
        client.leave()
        assert router.siblings.take_changes() == Changes(3, (Interest("M0orders", 0), Interest("M0offers", 0)))
        assert router.siblings.all_interests() == Changes(3, ())

    def test_producers_are_nobodys_business(self, workers):
        workers.holds_changes = True
        workers.client(0).producer("orders")
        assert workers[0].router.siblings.take_changes() is None

    def test_late_news_change_nothing(self, workers):
        loaded(workers)
        router = workers[0].router
        late = Delta(router.siblings.version, False, None, ((1, Interest("M0orders", 0)),))
        router.siblings.apply(late)
        router.siblings.apply(Delta((1, 0), True, (), ()))
        assert router.directory.neighbours[1].interests == {"M0orders": 1}

    def test_news_of_another_table_must_be_complete(self, workers):
        router = workers[0].router
        known = router.siblings.version
        with pytest.raises(FullDeltaMissing):
            router.siblings.apply(Delta((2, 5), False, None, ((1, Interest("M0orders", 1)),)))
        assert (router.siblings.version, router.directory.neighbours[1].interests) == (known, {})

    def test_news_of_itself_and_of_strangers_are_ignored(self, workers):
        router = workers[0].router
        version = (1, router.siblings.version[1] + 1)
        router.siblings.apply(Delta(version, False, None, ((0, Interest("M0a", 1)), (7, Interest("M0b", 1)))))
        neighbours = router.directory.neighbours
        assert (router.siblings.version, list(neighbours), neighbours[1].interests) == (version, [1], {})

    def test_a_full_delta_stands_in_for_all_that_was_known(self, workers):
        _producer, sender, _consumer, _receiver = loaded(workers)
        assert sender.credit == CAPACITY
        router = workers[0].router
        version = (1, router.siblings.version[1] + 1)
        siblings = (workers[0].sibling, workers[1].sibling)
        router.siblings.apply(Delta(version, True, siblings, ((1, Interest("M0offers", 1)),)))
        workers.pump()
        assert (router.directory.neighbours[1].interests, sender.credit) == ({"M0offers": 1}, 0)

    def test_a_new_table_learns_everything_and_forwarding_goes_on(self, workers):
        producer, sender, consumer, receiver = loaded(workers)
        line = workers[0].line_to(1)
        workers.restart_table()
        workers.pump()
        assert (workers[0].line_to(1), sender.credit) == (line, CAPACITY)
        delivery = producer.send(sender, message())
        consumer.latest(receiver).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        assert workers.table.consumers("M0orders") == {1: 1}

    def test_attaches_that_waited_for_a_table_that_died_are_answered_by_the_next(self, workers):
        client = workers.client(0)
        workers.holds_changes = True
        early = client.consumer("orders")
        workers.restart_table()
        workers.holds_changes = False
        workers.holds_confirmations = True
        late = client.consumer("orders")
        workers.restart_table()
        workers.holds_confirmations = False
        workers.pump()
        assert (early.is_attached, late.is_attached) == (True, True)


class TestBarrier:
    def test_an_attach_is_answered_when_every_worker_knows(self):
        workers = Workers(3)
        client = workers.client(0)
        workers.holds_deltas = {2}
        receiver = client.consumer("orders")
        assert not receiver.is_attached
        workers.holds_deltas = set()
        workers.pump()
        assert receiver.is_attached
        assert [workers[index].router.directory.neighbours[0].interests for index in (1, 2)] == [{"M0orders": 1}] * 2

    def test_a_producer_does_not_wait(self):
        workers = Workers(3)
        client = workers.client(0)
        workers.holds_deltas = {1, 2}
        assert client.producer("orders").is_attached

    def test_a_producer_is_answered_behind_the_consumers_of_its_connection_that_came_before(self):
        workers = Workers(2)
        client, other = workers.client(0), workers.client(0)
        workers.holds_confirmations = True
        replies = client.session.receiver("replies")
        replies.attach(source=Source(dynamic=True), target=Target())
        requests = client.producer("service")
        refused = client.producer("x" * 40_000)
        unconcerned = other.producer("service")
        assert [link.is_attached for link in (replies, requests, unconcerned)] == [False, False, True]
        workers.holds_confirmations = False
        workers.pump()
        assert [link.is_attached for link in (replies, requests, refused)] == [True, True, False]
        assert refused.state in (LinkState.DETACH_RCVD, LinkState.DETACHED)
        late = client.producer("service")
        assert late.is_attached

    def test_a_producer_may_be_gone_when_it_could_be_answered(self):
        workers = Workers(2)
        client, other = workers.client(0), workers.client(0)
        workers.holds_confirmations = True
        for each in (client, other):
            each.consumer("replies")
            each.producer("service")
        client.vanish()
        gone = other.producer("elsewhere")
        gone.detach(closed=True)
        workers.pump()
        workers.holds_confirmations = False
        workers.pump()
        other.vanish()
        workers.pump()
        assert workers.left_over() == {}

    def test_attaches_are_answered_in_order_as_far_as_is_known(self):
        workers = Workers(2)
        client = workers.client(0)
        workers.holds_deltas = {1}
        links = [client.session.receiver(f"r{number}") for number in range(3)]
        for number, link in enumerate(links):
            link.attach(source=Source(address=f"a{number}"), target=Target())
            workers.pump()
        assert [link.is_attached for link in links] == [False] * 3
        workers[0].router.clients.confirm(1)
        workers.pump()
        assert [link.is_attached for link in links] == [True, False, False]
        workers[0].router.clients.confirm(3)
        workers.pump()
        assert [link.is_attached for link in links] == [True] * 3

    def test_messages_wait_for_a_consumer_whose_attach_is_not_answered(self):
        workers = Workers(2)
        client = workers.client(0)
        sender = client.producer("orders")
        workers.holds_confirmations = True
        receiver = client.session.receiver("r")
        receiver.attach(source=Source(address="orders"), target=Target())
        receiver.grant(5)
        workers.pump()
        assert sender.credit == CAPACITY
        client.send(sender, message())
        assert not receiver.is_attached
        workers.holds_confirmations = False
        workers.pump()
        assert client.received(receiver) == [message()]

    def test_a_worker_that_is_alone_answers_at_once(self):
        router = Router(settings(), lambda: "t")
        assert router.clients.is_alone
        client = Workers(1).client()
        assert client.consumer("orders").is_attached


class TestLinks:
    def test_there_is_one_for_each_address_that_somebody_sends_to_and_a_sibling_wants(self, workers):
        consumer = workers.client(1)
        consumer.consumer("orders")
        consumer.consumer("offers")
        assert fabric_outlets(workers, 0) == {}
        client = workers.client(0)
        client.producer("orders")
        client.producer("orders")
        assert fabric_outlets(workers, 0) == {1: ["M0orders"]}
        assert fabric_outlets(workers, 1) == {}

    def test_it_goes_with_the_last_consumer(self, workers):
        _producer, _sender, consumer, receiver = loaded(workers)
        assert fabric_outlets(workers, 0) == {1: ["M0orders"]}
        consumer.detach(receiver)
        assert fabric_outlets(workers, 0) == {}
        line = workers[0].line_to(1)
        assert (line.client.sessions(), line.server.sessions()) == ([], [])

    def test_it_goes_with_a_consumer_that_leaves_before_it_is_attached(self, workers):
        consumer, producer = workers.client(1), workers.client(0)
        receiver = consumer.consumer("orders")
        line = workers[0].line_to(1)
        # The answer is held back.
        line.holds = {line.client}
        sender = producer.producer("orders")
        assert fabric_outlets(workers, 0) == {1: ["M0orders"]}
        consumer.detach(receiver)
        line.holds = set()
        workers.pump()
        assert (fabric_outlets(workers, 0), sender.credit) == ({}, 0)
        assert line.client.sessions() == []

    def test_it_is_made_anew_when_consumers_return_before_it_has_gone(self, workers):
        producer, sender, consumer, receiver = loaded(workers)
        line = workers[0].line_to(1)
        line.holds = {line.client, line.server}
        consumer.detach(receiver)
        again = consumer.consumer("orders", credit=1)
        line.holds = set()
        workers.pump()
        delivery = producer.send(sender, message())
        consumer.latest(again).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_copies_wait_for_consumers_that_return_before_it_has_gone(self, workers):
        client, consumer = workers.client(0), workers.client(1)
        here, there = client.consumer("multicast", credit=9), consumer.consumer("multicast", credit=1)
        sender = client.producer(None)
        client.send(sender, message_to("multicast"))
        consumer.latest(there).accept()
        workers.pump()
        line = workers[0].line_to(1)
        line.holds = {line.client, line.server}
        consumer.detach(there)
        again = consumer.consumer("multicast", credit=1)
        delivery = client.send(sender, message_to("multicast"))
        client.latest(here).accept()
        workers.pump()
        assert outcome(delivery) == (None, False)
        line.holds = set()
        workers.pump()
        assert len(consumer.received(again)) == 1

    def test_it_is_used_by_consumers_that_come_before_it_is_known_that_others_left(self, workers):
        producer, consumer = workers.client(0), workers.client(1)
        receiver = consumer.consumer("orders")
        workers.holds_changes = True
        consumer.detach(receiver)
        sender = producer.producer("orders")
        assert fabric_outlets(workers, 0) == {1: ["M0orders"]}
        again = consumer.session.receiver("again")
        again.attach(source=Source(address="orders"), target=Target())
        again.grant(1)
        workers.pump()
        # The table is told of one consumer, as before, and has no news for anybody.
        workers.holds_changes = False
        workers.pump()
        producer.send(sender, message())
        assert consumer.received(again) == [message()]

    @pytest.mark.parametrize("address", ["multicast/x", "closest/x", "_local/x", "_topo/0/R/x"])
    def test_one_that_comes_before_any_consumer_is_treated_as_its_address_is(self, workers, address):
        producer, consumer = workers.client(0), workers.client(1)
        receiver = consumer.consumer(address)
        workers.holds_changes = True
        consumer.detach(receiver)
        producer.producer(address)
        [mine], [theirs] = (workers[index].router.addresses.values() for index in (0, 1))
        assert theirs.distribution is mine.distribution
        assert theirs.is_idle is False
        workers.holds_changes = False
        workers.pump()
        assert workers[1].router.addresses == {}

    def test_each_has_a_window_of_its_own(self):
        workers = Workers(2, fabric={"incoming_window": 8})
        producer, consumer = workers.client(0), workers.client(1)
        stalled, flowing = consumer.consumer("stalled"), consumer.consumer("flowing", credit=100)
        one, two = producer.producer("stalled"), producer.producer("flowing")
        octets = message(b"x" * 2000)
        producer.stream(one, *[octets[at : at + 50] for at in range(0, 1000, 50)], ends=False)
        for _ in range(20):
            producer.send(two, message())
        assert (consumer.received(stalled), len(consumer.received(flowing))) == ([], 20)

    def test_a_sibling_that_attaches_something_else_is_refused(self, workers):
        stranger = Recorder()
        worker = workers[0]
        peer = worker.router.connections.new_peer("fabric")
        server = worker.end(peer, ConnectionConfig(container_id="R"), is_client=False)
        client = Connection(
            ConnectionConfig(container_id="x", properties={"worker": 1, "incarnation": 2}), stranger, is_client=True
        )
        worker.line_to(1).cut()
        client.open()
        workers.line(client, server)
        workers.connects = False
        workers.pump()
        session = client.session()
        session.begin()
        session.sender("no target").attach(source=Source(), target=Target())
        session.receiver("a receiver").attach(source=Source(address="M0x"), target=Target(address="M0x"))
        workers.pump()
        detached = [event for event in stranger.events if event[0] == "link detached"]
        assert [event[1:] for event in detached] == [
            ("no target", True, "amqp:invalid-field"),
            ("a receiver", True, "amqp:invalid-field"),
        ]


class TestConnections:
    def test_of_two_siblings_the_one_with_the_higher_number_connects(self):
        workers = Workers(3)
        ends = [(line.client.handler.worker, line.server.handler.worker) for line in workers.lines]
        assert sorted(ends) == [(1, 0), (2, 0), (2, 1)]

    def test_a_stranger_is_turned_away(self, workers):
        for properties in ({}, {"worker": 1, "incarnation": 99}, {"worker": 7, "incarnation": 1}):
            stranger = Recorder()
            worker = workers[0]
            peer = worker.router.connections.new_peer("fabric")
            server = worker.end(peer, ConnectionConfig(container_id="R"), is_client=False)
            client = Connection(
                ConnectionConfig(container_id="x", properties=properties or None), stranger, is_client=True
            )
            client.open()
            workers.line(client, server)
            workers.pump()
            assert stranger.take() == [("opened", "R"), ("closed", "amqp:not-found")]
        assert list(workers[0].router.peers) == [workers[0].router.directory.neighbours[1].peer.number]

    def test_a_second_connection_of_a_sibling_is_turned_away(self, workers):
        first = workers[0].line_to(1)
        workers._connect(workers[1], workers[0])
        workers.pump()
        assert workers[0].line_to(1) is first

    def test_consumers_of_a_sibling_that_cannot_be_reached_do_not_count(self, workers):
        producer, sender, _consumer, _receiver = loaded(workers)
        assert sender.credit == CAPACITY
        workers.connects = False
        workers[0].line_to(1).cut()
        workers.pump()
        assert sender.credit == 0
        late = producer.producer("orders")
        assert late.credit == 0
        delivery = producer.send(producer.producer(None), message_to("orders"))
        assert outcome(delivery) == (RELEASED, True)
        workers.connects = True
        workers.pump()
        assert (sender.credit, late.credit) == (CAPACITY, CAPACITY)

    def test_a_sibling_that_was_never_reached_does_not_count(self):
        workers = Workers(1)
        workers._is_alone = False
        workers.connects = False
        router = workers.start(0).router
        workers.start(1)
        workers.pump()
        client = workers.client(0)
        far = workers.client(1)
        far.consumer("orders")
        assert router.directory.neighbours[1].interests == {"M0orders": 1}
        # It is the other one that connects, and until it tries there is hope.
        sender = client.producer("orders")
        assert sender.credit == CAPACITY
        delivery = client.send(sender, message())
        router.siblings.connect_failed(1)
        router.siblings.connect_failed(7)
        workers.pump()
        assert (sender.credit, outcome(delivery)) == (0, (RELEASED, True))

    def test_what_is_under_way_on_a_connection_that_breaks_is_modified(self, workers):
        producer, sender, consumer, receiver = loaded(workers, credit=1)
        sent = [producer.send(sender, message()) for _ in range(3)]
        workers.connects = False
        workers[0].line_to(1).cut()
        workers.pump()
        # A sibling may have delivered what it had; what waited for its consumer has not left.
        assert [outcome(each) for each in sent] == [(MAYBE_SEEN, True), (RELEASED, True), (RELEASED, True)]
        receiver.grant(5)
        workers.pump()
        assert consumer.received(receiver) == [message()]

    def test_what_waits_for_a_link_that_breaks_is_released(self, workers):
        producer, consumer = workers.client(0), workers.client(1)
        consumer.consumer("orders", credit=1)
        line = workers[0].line_to(1)
        line.holds = {line.client}
        delivery = producer.send(producer.producer("orders"), message())
        workers.connects = False
        line.cut()
        workers.pump()
        assert outcome(delivery) == (RELEASED, True)

    def test_forwarding_goes_on_over_the_next_connection(self, workers):
        producer, sender, consumer, receiver = loaded(workers)
        workers[0].line_to(1).cut()
        workers.pump()
        delivery = producer.send(sender, message())
        consumer.latest(receiver).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)


class TestSiblingsThatDie:
    def test_their_consumers_are_gone(self, workers):
        producer, sender, _consumer, _receiver = loaded(workers)
        delivery = producer.send(sender, message())
        workers.kill(1)
        workers.pump()
        assert (outcome(delivery), sender.credit) == ((MAYBE_SEEN, True), 0)
        assert workers[0].router.directory.neighbours == {}

    def test_one_that_returns_begins_anew(self, workers):
        producer, sender, consumer, receiver = loaded(workers)
        workers.kill(1)
        workers.start(1)
        workers.pump()
        assert (sender.credit, workers[0].router.directory.neighbours[1].interests) == (0, {})
        consumer = workers.client(1)
        receiver = consumer.consumer("orders", credit=1)
        producer.send(sender, message())
        assert consumer.received(receiver) == [message()]

    def test_one_that_returns_before_anybody_noticed_is_another(self, workers):
        _producer, sender, _consumer, _receiver = loaded(workers)
        workers.kill(1, is_noticed=False)
        workers.start(1)
        workers.pump()
        assert (sender.credit, workers[0].router.directory.neighbours[1].interests) == (0, {})
        assert workers[0].router.directory.neighbours[1].sibling == workers[1].sibling

    def test_one_that_the_table_gave_up_is_not_waited_for(self, workers):
        producer, sender, consumer, receiver = loaded(workers)
        one, waiting = (producer.send(sender, message()) for _ in range(2))
        line = workers[0].line_to(1)
        line.holds = {line.client, line.server}  # it hangs
        workers.table.leave(1, workers[1].sibling.incarnation)
        workers.holds_deltas = {1}
        workers.pump()
        assert [outcome(each) for each in (one, waiting)] == [(MAYBE_SEEN, True)] * 2
        assert (sender.credit, workers[0].router.directory.neighbours) == (0, {})
        # It joins again when it is back.
        line.holds = set()
        workers.join(workers[1])
        workers.holds_deltas = set()
        workers.pump()
        assert sender.credit == CAPACITY
        producer.send(sender, message())
        assert len(consumer.received(receiver)) == 3

    def test_one_whose_connection_is_closing_may_be_given_up(self, workers):
        loaded(workers)
        line = workers[0].line_to(1)
        line.holds = {line.client, line.server}
        neighbour = workers[0].router.directory.neighbours[1]
        neighbour.peer.connection.close()
        workers.table.leave(1, workers[1].sibling.incarnation)
        workers.pump()
        assert workers[0].router.directory.neighbours == {}

    def test_another_sibling_takes_over(self):
        workers = Workers(3)
        producer = workers.client(0)
        far = [workers.client(index) for index in (1, 2)]
        receivers = [client.consumer("closest/x", credit=100) for client in far]
        sender = producer.producer("closest/x")
        for _ in range(4):
            producer.send(sender, message())
        workers.kill(1)
        for _ in range(4):
            producer.send(sender, message())
        assert (len(far[0].received(receivers[0])), len(far[1].received(receivers[1]))) == (2, 6)

    def test_a_copy_for_one_counts_as_maybe_seen(self):
        workers = Workers(3)
        producer = workers.client(0)
        far = [workers.client(index) for index in (1, 2)]
        receivers = [client.consumer("multicast", credit=10) for client in far]
        delivery = producer.send(producer.producer("multicast"), message())
        workers.kill(1)
        workers.pump()
        assert outcome(delivery) == (None, False)
        far[1].latest(receivers[1]).release()
        workers.pump()
        assert outcome(delivery) == (MAYBE_SEEN, True)

    def test_a_copy_that_waits_for_one_is_released(self):
        workers = Workers(3)
        producer = workers.client(0)
        workers.client(1).consumer("multicast", credit=10)
        lines = [workers[0].line_to(index) for index in (1, 2)]
        workers.client(2).consumer("multicast", credit=10)
        lines[0].holds = {lines[0].client}
        lines[1].holds = {lines[1].client}
        delivery = producer.send(producer.producer("multicast"), message())
        workers.kill(1)
        workers.kill(2)
        workers.pump()
        assert outcome(delivery) == (RELEASED, True)


class TestMulticast:
    def test_a_message_waits_for_the_link_to_every_sibling_that_wants_it(self):
        workers = Workers(2)
        producer, consumer = workers.client(0), workers.client(1)
        near = producer.consumer("multicast", credit=10)
        receiver = consumer.consumer("multicast", credit=10)
        producer.send(producer.producer("multicast"), message())
        assert (producer.received(near), consumer.received(receiver)) == ([message()], [message()])

    def test_messages_that_waited_for_a_link_keep_their_order(self):
        workers = Workers(2)
        line = workers[0].line_to(1)
        producer, consumer = workers.client(0), workers.client(1)
        receiver = consumer.consumer("multicast", credit=10)
        line.holds = {line.client}
        sender = producer.producer("multicast")
        near = producer.consumer("multicast", credit=10)
        for number in range(3):
            producer.send(sender, message(str(number)))
        line.holds = set()
        workers.pump()
        expected = [message(str(number)) for number in range(3)]
        assert (producer.received(near), consumer.received(receiver)) == (expected, expected)

    def test_what_waits_for_a_sibling_goes_to_the_others_when_that_is_lost(self):
        workers = Workers(1)
        workers._is_alone = False
        workers.connects = False
        router = workers.start(0).router
        workers.start(1)
        workers.pump()
        client, far = workers.client(0), workers.client(1)
        far.consumer("multicast")
        near = client.consumer("multicast", credit=1)
        delivery = client.send(client.producer("multicast"), message())
        assert client.received(near) == []
        router.siblings.connect_failed(1)
        workers.pump()
        assert client.received(near) == [message()]
        client.latest(near).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)


def test_a_consumer_that_comes_elsewhere_does_not_leave_a_drain_without_its_answer():
    workers = Workers(2)
    producer, consumer = workers.client(0), workers.client(1)
    receiver = consumer.consumer("orders", credit=5)
    producer.producer("orders")
    line = workers[1].line_to(0)
    line.holds = {line.client, line.server}
    receiver.set_credit(5, drain=True)
    workers.pump()
    assert receiver.credit == 5
    producer.consumer("orders")
    line.holds = set()
    workers.pump()
    assert receiver.credit == 0


def test_credit_is_shared_with_a_sibling_once_a_consumers_connection_has_room():
    workers = Workers(2)
    producer, consumer = workers.client(0), workers.client(1)
    receiver = consumer.consumer("orders", credit=5)
    # A large message to another link of the consumer fills the window of its session.
    other = consumer.consumer("others", credit=5)
    receiver.session.withhold(3000)
    octets = message(b"x" * 200_000)
    near = workers.client(1)
    near.stream(near.producer("others"), *[octets[at : at + 50] for at in range(0, len(octets), 50)])
    assert consumer.received(other) == []
    sender = producer.producer("orders")
    producer.send(sender, message())
    assert consumer.received(receiver) == []
    receiver.session.give_back(3000)
    workers.pump()
    assert (consumer.received(other), consumer.received(receiver)) == ([octets], [message()])


def test_two_consumers_may_drain_at_once():
    workers = Workers(2)
    producer, consumer = workers.client(0), workers.client(1)
    first, second = (consumer.consumer("orders") for _ in range(2))
    sender = producer.producer("orders")
    for _ in range(5):
        producer.send(sender, message())
    line = workers[0].line_to(1)
    line.holds = {line.client, line.server}
    for receiver in (first, second):
        receiver.set_credit(2, drain=True)
        workers.pump()
    line.holds = set()
    workers.pump()
    assert (first.credit, second.credit) == (0, 0)
    assert len(consumer.received(first)) + len(consumer.received(second)) == 4


def test_links_share_sessions_once_there_is_no_channel_left():
    workers = Workers(2, fabric={"channel_max": 0})
    clients = [workers.client(index) for index in (0, 1)]
    addresses = ("a", "b", "closest/c")
    for near, far in (clients, clients[::-1]):
        receivers = [far.consumer(address, credit=2) for address in addresses]
        senders = [near.producer(address) for address in addresses]
        for sender in senders:
            near.send(sender, message())
        assert [far.received(receiver) for receiver in receivers] == [[message()]] * 3
        for delivery in [far.latest(receiver) for receiver in receivers]:
            delivery.accept()
        far.detach(receivers[1])
        near.send(senders[2], message("again"))
        assert far.received(receivers[2]) == [message(), message("again")]
    for client in clients:
        client.leave()
    assert workers.left_over() == {}


class TestCreditAhead:
    """What a sibling may send before a consumer has granted it."""

    @staticmethod
    def outlet(workers):
        return workers[0].router.directory.neighbours[1].outlets["M0orders"]

    @staticmethod
    def after_some(workers, *, sent, granted, credit=10):
        """As `loaded`, when some messages have been consumed, and that many are wanted in addition."""
        producer, sender, consumer, receiver = loaded(workers, credit=credit)
        for number in range(sent):
            producer.send(sender, message(number))
        receiver.grant(granted)
        workers.pump()
        return producer, sender, consumer, receiver

    def test_half_as_much_for_a_consumer_that_grants_more_before_it_has_run_dry(self, workers):
        self.after_some(workers, sent=4, granted=4)
        assert self.outlet(workers).link.credit == 15

    def test_nothing_for_a_consumer_that_had_run_dry(self, workers):
        self.after_some(workers, sent=10, granted=10)
        assert self.outlet(workers).link.credit == 10

    def test_nothing_for_a_consumer_that_takes_one_at_a_time(self, workers):
        producer, sender, _, receiver = loaded(workers, credit=1)
        for number in range(3):
            producer.send(sender, message(number))
            assert self.outlet(workers).link.credit == 0
            receiver.grant(1)
            workers.pump()
            assert self.outlet(workers).link.credit == 1

    def test_what_was_sent_ahead_waits_at_the_consumers_worker_and_no_more_is(self, workers):
        producer, sender, consumer, receiver = self.after_some(workers, sent=4, granted=4)
        for number in range(4, 24):
            producer.send(sender, message(number))
        addresses = [workers[index].router.addresses["M0orders"] for index in (0, 1)]
        assert len(consumer.received(receiver)) == 14
        ahead = len(addresses[1].parked_from_siblings)
        assert 0 < ahead <= 5
        assert (len(addresses[0].parked), self.outlet(workers).link.credit) == (10 - ahead, 0)
        receiver.grant(10)
        workers.pump()
        assert consumer.received(receiver) == [message(number) for number in range(24)]

    def test_a_drain_asks_for_what_the_consumer_has_granted(self, workers):
        producer, sender, consumer, receiver = self.after_some(workers, sent=4, granted=4)
        receiver.set_credit(receiver.credit, drain=True)
        workers.pump()
        assert (receiver.credit, self.outlet(workers).link.credit) == (0, 0)
        producer.send(sender, message("late"))
        assert len(consumer.received(receiver)) == 4
