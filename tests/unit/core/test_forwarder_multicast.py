"""Multicast: a copy for each consumer, and one outcome of all of theirs."""

import pytest

from routerd.core import DEFAULT_LINK_CAPACITY
from routerd.wire import ACCEPTED, RELEASED, Described, Error, Modified, Received, Rejected, Symbol, ULong
from tests.routers import Workers, message, outcome

ADDRESS = "multicast"
REJECTED = Rejected(error=Error(condition=Symbol("x:bad"), description="no good"))
MODIFIED = Modified(undeliverable_here=True)
MAYBE_SEEN = Modified(delivery_failed=True)
UNSETTLED, SETTLED = 0, 1


@pytest.fixture(params=[1, 3], ids=["one worker", "three workers"])
def workers(request):
    return Workers(request.param)


class Group:
    """A producer at the first worker, and consumers spread over all."""

    def __init__(self, workers, consumers=2, *, credit=1000, consuming=None, producing=None):
        self.workers = workers
        self.consumers = []
        for number in range(consumers):
            client = workers.client(number % len(workers.workers))
            self.consumers.append((client, client.consumer(ADDRESS, credit=credit, **consuming or {})))
        self.client = workers.client(0)
        self.sender = self.client.producer(ADDRESS, **producing or {})

    def send(self, body="hello", **options):
        return self.client.send(self.sender, message(body), **options)

    def received(self):
        return [client.received(receiver) for client, receiver in self.consumers]

    def latest(self, number):
        client, receiver = self.consumers[number]
        return client.latest(receiver)

    def decide(self, number, decided):
        self.latest(number).decide(decided)
        self.workers.pump()

    def check_nothing_is_unsettled(self):
        assert self.sender.unsettled_count == 0
        for worker in self.workers.workers.values():
            for peer in worker.router.peers.values():
                assert [end for end in (*peer.inlets, *peer.outlets) if end.link.unsettled_count] == []


@pytest.mark.parametrize("settled", [False, True])
def test_each_consumer_gets_a_copy(workers, settled):
    group = Group(workers, 5)
    delivery = group.send(settled=settled)
    assert group.received() == [[message()]] * 5
    assert [group.latest(number).remote_settled for number in range(5)] == [settled] * 5
    assert outcome(delivery) == (None, False)


def test_the_producer_is_told_once_all_have_decided(workers):
    group = Group(workers, 4)
    delivery = group.send()
    for number in range(3):
        group.decide(number, ACCEPTED)
        assert outcome(delivery) == (None, False)
    group.decide(3, ACCEPTED)
    assert outcome(delivery) == (ACCEPTED, True)
    group.check_nothing_is_unsettled()


COMBINATIONS = [
    ((ACCEPTED, ACCEPTED), ACCEPTED),
    ((MODIFIED, MODIFIED), MODIFIED),
    ((REJECTED, REJECTED), REJECTED),
    ((ACCEPTED, RELEASED), ACCEPTED),
    ((RELEASED, RELEASED), RELEASED),
    ((REJECTED, ACCEPTED), REJECTED),
    ((MODIFIED, RELEASED), MODIFIED),
    ((ACCEPTED, MODIFIED), ACCEPTED),
    ((REJECTED, MODIFIED), REJECTED),
    ((REJECTED, RELEASED), REJECTED),
    ((Described(ULong(0x34), []), REJECTED), REJECTED),
    ((Described(ULong(0x34), []), MODIFIED), Described(ULong(0x34), [])),
    ((None, RELEASED), RELEASED),
    ((None, ACCEPTED), ACCEPTED),
]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize(("decided", "combined"), COMBINATIONS)
def test_outcomes_combine(workers, order, decided, combined):
    group = Group(workers, 2)
    delivery = group.send()
    for number in order:
        group.latest(number).update(decided[number], True)
        group.workers.pump()
    assert outcome(delivery) == (combined, True)
    group.check_nothing_is_unsettled()


def test_a_state_that_is_no_outcome_is_kept_from_the_producer():
    group = Group(Workers(), 2)
    delivery = group.send()
    for number in range(2):
        group.latest(number).update(Received(section_number=1, section_offset=1), False)
    group.workers.pump()
    assert outcome(delivery) == (None, False)


def test_the_state_of_a_transfer_reaches_all_consumers(workers):
    group = Group(workers)
    delivery = group.sender.begin(state=Described(ULong(0x34), [b"posted"]))
    group.sender.write(delivery, message(), 0, len(message()), False)
    workers.pump()
    assert [group.latest(number).remote_state for number in range(2)] == [delivery.state] * 2


def test_a_settlement_without_an_outcome_gives_way_to_an_acceptance():
    group = Group(Workers())
    delivery = group.send()
    group.latest(0).update(Described(ULong(0x99), ["done"]), True)
    group.decide(1, ACCEPTED)
    assert outcome(delivery) == (ACCEPTED, True)
    group.check_nothing_is_unsettled()


def test_without_consumers_a_message_is_released(workers):
    group = Group(workers, 1)
    group.client.line.holds.add(group.client.server)
    group.consumers[0][0].leave()
    delivery, settled = group.send(), group.send(settled=True)
    group.client.line.holds.clear()
    workers.pump()
    assert (outcome(delivery), outcome(settled)) == ((RELEASED, True), (None, False))


@pytest.mark.parametrize("consuming", [0, 1])
@pytest.mark.parametrize("producing", [0, 1])
def test_all_end_settled_whoever_settles_second(workers, producing, consuming):
    group = Group(workers, 2, producing={"rcv_settle_mode": producing}, consuming={"rcv_settle_mode": consuming})
    delivery = group.send()
    for number in range(2):
        group.decide(number, ACCEPTED)
    assert outcome(delivery) == (ACCEPTED, not consuming)
    if consuming:
        assert [group.latest(number).remote_settled for number in range(2)] == [False, False]
        delivery.settle()
        workers.pump()
        assert [group.latest(number).remote_settled for number in range(2)] == [True, True]
    group.check_nothing_is_unsettled()


class TestUnsettledOutcomes:
    """Copies whose consumers wait for the producer, or do not."""

    def decide(self, group, *numbers, settled=False, decided=ACCEPTED):
        for number in numbers:
            group.latest(number).update(decided, settled)
        group.workers.pump()

    def settled(self, group):
        return [group.latest(number).remote_settled for number in range(len(group.consumers))]

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
    def test_one_that_waits_leaves_the_outcome_unsettled(self, workers, order):
        group = Group(workers, 3)
        delivery = group.send()
        for number in order:
            assert outcome(delivery) == (None, False)
            self.decide(group, number, settled=number != 1)
        assert (outcome(delivery), self.settled(group)[1]) == ((ACCEPTED, False), False)
        delivery.settle()
        workers.pump()
        assert self.settled(group)[1]
        group.check_nothing_is_unsettled()

    def test_the_outcome_is_settled_once_all_consumers_have_settled(self, workers):
        group = Group(workers, 3)
        delivery = group.send()
        self.decide(group, 0, 1, 2, decided=RELEASED)
        for number in range(3):
            assert outcome(delivery) == (RELEASED, False)
            group.latest(number).settle()
            workers.pump()
        assert outcome(delivery) == (RELEASED, True)
        group.check_nothing_is_unsettled()

    def test_a_consumer_may_settle_before_others_decide(self, workers):
        group = Group(workers, 2)
        delivery = group.send()
        self.decide(group, 0, decided=REJECTED)
        group.latest(0).settle()
        self.decide(group, 1)
        assert outcome(delivery) == (REJECTED, False)
        group.latest(1).settle()
        workers.pump()
        assert outcome(delivery) == (REJECTED, True)
        group.check_nothing_is_unsettled()

    def test_an_outcome_said_twice_counts_once(self, workers):
        group = Group(workers, 2)
        delivery = group.send()
        self.decide(group, 0)
        self.decide(group, 0)
        assert outcome(delivery) == (None, False)
        self.decide(group, 1, settled=True)
        assert outcome(delivery) == (ACCEPTED, False)

    def test_a_producer_that_settles_first_settles_with_those_that_wait(self, workers):
        group = Group(workers, 3)
        delivery = group.send()
        self.decide(group, 0, 1)
        delivery.settle()
        workers.pump()
        # A consumer of a sibling hears of it as well, as that has a delivery of its own.
        assert self.settled(group)[:2] == [True, True]
        self.decide(group, 2)
        assert self.settled(group) == [True] * 3
        group.check_nothing_is_unsettled()

    @pytest.mark.parametrize("how", ["detach", "leave", "vanish"])
    def test_a_lost_consumer_does_not_keep_the_producer_waiting(self, workers, how):
        group = Group(workers, 3)
        delivery = group.send()
        self.decide(group, 0, 1, 2)
        assert outcome(delivery) == (ACCEPTED, False)
        for client, receiver in group.consumers:
            assert outcome(delivery) == (ACCEPTED, False)
            client.detach(receiver) if how == "detach" else getattr(client, how)()
            workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        group.check_nothing_is_unsettled()

    def test_what_a_lost_consumer_decided_still_counts(self, workers):
        group = Group(workers, 2)
        delivery = group.send()
        self.decide(group, 0, decided=REJECTED)
        group.consumers[0][0].vanish()
        workers.pump()
        self.decide(group, 1, settled=True)
        assert outcome(delivery) == (REJECTED, True)
        group.check_nothing_is_unsettled()

    @pytest.mark.parametrize("how", ["detach", "leave", "vanish"])
    @pytest.mark.parametrize("decided", [(0, 1, 2), (0, 1)])
    def test_a_lost_producer_keeps_no_consumer_waiting(self, workers, decided, how):
        group = Group(workers, 3)
        group.send()
        self.decide(group, *decided)
        group.client.detach(group.sender) if how == "detach" else getattr(group.client, how)()
        workers.pump()
        if len(decided) < 3:
            self.decide(group, 2)
        assert self.settled(group) == [True] * 3
        group.client.vanish()
        for client, _ in group.consumers:
            client.vanish()
        assert workers.left_over() == {}

    def test_a_large_message_whose_producer_settles_with_its_end(self):
        group = Group(Workers(), 2)
        octets = message(b"y" * 3000)
        delivery = group.client.stream(group.sender, octets[:1000], ends=False)
        for client, _ in group.consumers:
            client.partial[0].update(ACCEPTED, False)
        group.workers.pump()
        assert outcome(delivery) == (None, False)
        delivery.settle()
        group.client.go_on(delivery, octets[1000:], more=False)
        assert (self.settled(group), group.received()) == ([True, True], [[octets], [octets]])
        group.check_nothing_is_unsettled()

    def test_a_large_message_that_is_decided_early_is_told_at_its_end(self):
        group = Group(Workers(), 2)
        octets = message(b"y" * 3000)
        delivery = group.client.stream(group.sender, octets[:1000], ends=False)
        for client, _ in group.consumers:
            client.partial[0].update(ACCEPTED, False)
        group.workers.pump()
        group.client.go_on(delivery, octets[1000:], more=False)
        assert (outcome(delivery), self.settled(group)) == ((ACCEPTED, False), [False, False])
        delivery.settle()
        group.workers.pump()
        assert self.settled(group) == [True, True]
        group.check_nothing_is_unsettled()

    def test_a_large_message_that_is_aborted_leaves_no_consumer_waiting(self):
        group = Group(Workers(), 2)
        delivery = group.client.stream(group.sender, message(b"y" * 3000)[:1000], ends=False)
        group.consumers[0][0].partial[0].update(ACCEPTED, False)
        group.workers.pump()
        delivery.link.abort(delivery)
        group.workers.pump()
        group.check_nothing_is_unsettled()
        for client in (group.client, *(client for client, _ in group.consumers)):
            client.leave()
        assert group.workers.left_over() == {}

    def test_a_copy_that_is_decided_before_it_proves_too_large_keeps_its_outcome(self):
        group = Group(Workers(), 1)
        client = group.workers.client()
        group.consumers.append((client, client.consumer(ADDRESS, credit=10, max_message_size=2000)))
        octets = message(b"y" * 3000)
        delivery = group.client.stream(group.sender, octets[:1000], ends=False)
        client.partial[0].update(RELEASED, False)
        group.workers.pump()
        group.client.go_on(delivery, octets[1000:], more=False)
        self.decide(group, 0, settled=True)
        assert outcome(delivery) == (ACCEPTED, True)
        group.check_nothing_is_unsettled()


def test_a_producer_may_settle_before_the_consumers_decide(workers):
    group = Group(workers, 2)
    group.send().settle()
    workers.pump()
    for number in range(2):
        group.decide(number, ACCEPTED)
    group.check_nothing_is_unsettled()


def test_consumers_say_for_themselves_whether_their_copies_are_settled():
    workers = Workers()
    group = Group(workers, 1)
    for mode in (SETTLED, UNSETTLED):
        client = workers.client()
        group.consumers.append((client, client.consumer(ADDRESS, credit=10, snd_settle_mode=mode)))
    delivery = group.send()
    assert [group.latest(number).remote_settled for number in range(3)] == [False, True, False]
    group.decide(0, RELEASED)
    group.decide(2, RELEASED)
    assert outcome(delivery) == (ACCEPTED, True)
    group.send(settled=True)
    assert [group.latest(number).remote_settled for number in range(3)] == [True, True, False]
    group.decide(2, RELEASED)
    group.check_nothing_is_unsettled()


def test_a_copy_that_a_consumer_does_not_take_for_its_size_is_rejected():
    workers = Workers()
    group = Group(workers, 1)
    client = workers.client()
    group.consumers.append((client, client.consumer(ADDRESS, credit=10, max_message_size=20)))
    delivery = group.send("x" * 50)
    group.send("y" * 50, settled=True)
    assert group.received() == [[message("x" * 50), message("y" * 50)], []]
    group.consumers[0][0].unsettled[group.consumers[0][1].name][0].accept()
    workers.pump()
    state, settled = outcome(delivery)
    assert (state.error.condition, settled) == ("amqp:link:message-size-exceeded", True)


class TestConsumersWithoutCredit:
    def test_their_copies_wait(self, workers):
        group = Group(workers, 3, credit=0)
        group.consumers[0][1].grant(10)
        workers.pump()
        deliveries = [group.send(str(number)) for number in range(4)]
        assert len(group.received()[0]) == 4
        for _, receiver in group.consumers[1:]:
            receiver.grant(10)
        workers.pump()
        assert group.received() == [[message(str(number)) for number in range(4)]] * 3
        for client, receiver in group.consumers:
            for delivery in client.unsettled[receiver.name]:
                delivery.accept()
        workers.pump()
        assert [outcome(each) for each in deliveries] == [(ACCEPTED, True)] * 4
        group.check_nothing_is_unsettled()

    def test_new_copies_wait_behind_earlier_ones(self):
        workers = Workers()
        group = Group(workers, 2, credit=0)
        for number in range(3):
            group.send(str(number))
        for _ in range(3):
            for _, receiver in group.consumers:
                receiver.grant(1)
            workers.pump()
        assert group.received() == [[message(str(number)) for number in range(3)]] * 2

    def test_settled_copies_wait_in_a_bounded_number(self):
        workers = Workers()
        group = Group(workers, 1)
        client = workers.client(peer={"capacity": 5})
        receiver = client.consumer(ADDRESS)
        for number in range(8):
            group.send(str(number), settled=True)
        receiver.grant(10)
        workers.pump()
        assert client.received(receiver) == [message(str(number)) for number in range(5)]
        assert len(group.received()[0]) == 8
        [outlet] = client.peer.outlets
        assert (outlet.deliveries, outlet.dropped_presettled) == (5, 3)

    @pytest.mark.parametrize("settled", [False, True])
    def test_settled_copies_are_counted_that_are_too_large_or_wait_for_one_who_leaves(self, settled):
        workers = Workers()
        group = Group(workers, 1)
        clients = workers.client(), workers.client()
        small, waiting = clients[0].consumer(ADDRESS, credit=1, max_message_size=50), clients[1].consumer(ADDRESS)
        group.send("x" * 100, settled=settled)
        [outlet] = clients[0].peer.outlets
        assert (clients[0].received(small), outlet.dropped_presettled) == ([], settled)
        group.client.stream(group.sender, message("x" * 3000)[:20], message("x" * 3000)[20:], settled=settled)
        assert outlet.dropped_presettled == 2 * settled
        [outlet] = clients[1].peer.outlets
        clients[1].detach(waiting)
        assert outlet.dropped_presettled == 2 * settled

    def test_unsettled_copies_that_wait_are_bounded_by_the_producers_capacity(self):
        workers = Workers()
        group = Group(workers, 1, credit=0)
        while group.sender.credit:
            group.send()
        assert group.sender.unsettled_count == DEFAULT_LINK_CAPACITY

    @pytest.mark.parametrize("vanishes", [False, True])
    def test_copies_that_wait_outlive_their_producer(self, workers, vanishes):
        group = Group(workers, credit=1)
        for body in ("1", "2", "3"):
            group.send(body)
        if vanishes:
            group.client.vanish()
        else:
            group.sender.detach()
            workers.pump()
        for _, receiver in group.consumers:
            receiver.grant(10)
        workers.pump()
        assert group.received() == [[message(body) for body in ("1", "2", "3")]] * 2

    def test_a_copy_that_waits_is_released_when_its_consumer_leaves(self, workers):
        group = Group(workers, 2, credit=0)
        delivery = group.send()
        group.send(settled=True)
        group.consumers[0][0].leave()
        assert outcome(delivery) == (None, False)
        group.consumers[1][0].leave()
        assert outcome(delivery) == (RELEASED, True)
        group.check_nothing_is_unsettled()

    @pytest.mark.parametrize("number_of_workers", [1, 3])
    def test_a_copy_that_waits_goes_with_its_producer_if_that_is_wanted(self, number_of_workers):
        workers = Workers(number_of_workers, forgets_of_lost_producers=True)
        group = Group(workers, 2, credit=0)
        group.send()
        group.client.leave()
        for _, receiver in group.consumers:
            receiver.grant(1)
        workers.pump()
        # A sibling may have had its copy before; then it is known by nobody that its producer left.
        for number, (client, receiver) in enumerate(group.consumers):
            assert client.received(receiver) == [] or number % len(workers.workers)

    def test_a_settled_copy_that_waits_is_sent_even_when_its_producer_is_gone(self, workers):
        group = Group(workers, 2, credit=0)
        group.send(settled=True)
        group.client.leave()
        for _, receiver in group.consumers:
            receiver.grant(1)
        workers.pump()
        assert group.received() == [[message()]] * 2


class TestConsumersThatVanish:
    def test_what_they_may_have_seen_is_modified(self, workers):
        group = Group(workers, 1)
        delivery = group.send()
        group.consumers[0][0].vanish()
        assert outcome(delivery) == (MAYBE_SEEN, True)

    @pytest.mark.parametrize("decided", [ACCEPTED, RELEASED, REJECTED])
    def test_the_others_decide_with_them(self, workers, decided):
        group = Group(workers, 2)
        delivery = group.send()
        group.consumers[1][0].vanish()
        assert outcome(delivery) == (None, False)
        group.decide(0, decided)
        assert outcome(delivery) == (MAYBE_SEEN if decided is RELEASED else decided, True)
        group.check_nothing_is_unsettled()

    def test_their_producer_may_vanish_too(self, workers):
        group = Group(workers, 2)
        group.send()
        group.client.vanish()
        group.decide(0, ACCEPTED)
        group.consumers[1][0].vanish()
        group.check_nothing_is_unsettled()


class TestStreams:
    def test_each_frame_leaves_before_the_next_comes(self, workers):
        group = Group(workers, 3)
        octets = message("x" * 90)
        delivery = group.client.stream(group.sender, octets[:40], ends=False)
        for client, receiver in group.consumers:
            assert (client.bodies, client.received(receiver)) == ([octets[:40]], [])
        group.client.go_on(delivery, octets[40:], more=False)
        assert group.received() == [[octets]] * 3
        for number in range(3):
            group.decide(number, ACCEPTED)
        assert outcome(delivery) == (ACCEPTED, True)
        group.check_nothing_is_unsettled()

    @pytest.mark.parametrize("settled", [False, True])
    def test_a_consumer_that_gets_credit_later_gets_it_all(self, workers, settled):
        group = Group(workers, 3, credit=0)
        octets = message("x" * 90)
        delivery = group.client.stream(group.sender, octets[:30], octets[30:60], ends=False, settled=settled)
        group.consumers[0][1].grant(1)
        workers.pump()
        group.client.go_on(delivery, octets[60:70])
        group.consumers[1][1].grant(1)
        workers.pump()
        group.client.go_on(delivery, octets[70:], more=False)
        group.consumers[2][1].grant(1)
        workers.pump()
        assert group.received() == [[octets]] * 3
        if not settled:
            for number in range(3):
                group.decide(number, ACCEPTED)
            assert outcome(delivery) == (ACCEPTED, True)
        group.check_nothing_is_unsettled()

    def test_the_producer_is_told_when_the_last_frame_is_sent_if_all_decided_before(self, workers):
        group = Group(workers, 2)
        octets = message("x" * 90)
        delivery = group.client.stream(group.sender, octets[:40], ends=False)
        for client, _ in group.consumers:
            client.deliveries[-1].accept()
        workers.pump()
        assert outcome(delivery) == (None, False)
        group.client.go_on(delivery, octets[40:], more=False)
        assert outcome(delivery) == (ACCEPTED, True)
        group.check_nothing_is_unsettled()

    @pytest.mark.parametrize("settled", [False, True])
    def test_an_abort_reaches_all(self, workers, settled):
        group = Group(workers, 4)
        waiting = workers.client(0)
        receiver = waiting.consumer(ADDRESS)
        delivery = group.client.stream(group.sender, message("x" * 90)[:40], ends=False, settled=settled)
        group.sender.abort(delivery)
        workers.pump()
        assert [client.aborted for client, receiver in group.consumers] == [
            [receiver.name] for client, receiver in group.consumers
        ]
        receiver.grant(1)
        workers.pump()
        assert (waiting.received(receiver), waiting.aborted) == ([], [])
        group.send("next")
        assert waiting.received(receiver) == [message("next")]
        assert group.received() == [[message("next")]] * 4

    @pytest.mark.parametrize("settled", [False, True])
    def test_a_producer_that_vanishes_aborts_it(self, workers, settled):
        group = Group(workers, 3)
        group.client.stream(group.sender, message("x" * 90)[:40], ends=False, settled=settled)
        group.client.vanish()
        assert [len(client.aborted) for client, _ in group.consumers] == [1, 1, 1]
        group.check_nothing_is_unsettled()

    @pytest.mark.parametrize("settled", [False, True])
    def test_a_consumer_that_vanishes_does_not_stop_it(self, workers, settled):
        group = Group(workers, 3)
        octets = message("x" * 90)
        delivery = group.client.stream(group.sender, octets[:40], ends=False, settled=settled)
        group.consumers[1][0].vanish()
        group.client.go_on(delivery, octets[40:], more=False)
        assert group.received() == [[octets], [], [octets]]
        if not settled:
            group.decide(0, RELEASED)
            group.decide(2, RELEASED)
            assert outcome(delivery) == (MAYBE_SEEN, True)
        group.check_nothing_is_unsettled()

    @pytest.mark.parametrize("settled", [False, True])
    def test_a_copy_that_grows_too_large_for_its_consumer_is_aborted(self, workers, settled):
        group = Group(workers, 1)
        client = workers.client(0)
        receiver = client.consumer(ADDRESS, credit=10, max_message_size=50)
        octets = message("x" * 90)
        delivery = group.client.stream(group.sender, octets[:40], octets[40:], settled=settled)
        assert (client.aborted, client.received(receiver)) == ([receiver.name], [])
        assert group.received() == [[octets]]
        if not settled:
            group.decide(0, ACCEPTED)
            assert outcome(delivery)[0].error.condition == "amqp:link:message-size-exceeded"
        group.send("small")
        assert client.received(receiver) == [message("small")]

    def test_what_comes_meanwhile_from_others_waits_its_turn(self, workers):
        group = Group(workers, 3)
        other = workers.client(0)
        sender = other.producer(ADDRESS)
        octets = message("x" * 90)
        delivery = group.client.stream(group.sender, octets[:40], ends=False)
        other.send(sender, message("in between"))
        group.client.go_on(delivery, octets[40:], more=False)
        assert group.received() == [[octets, message("in between")]] * 3
        started = group.client.stream(group.sender, octets[:40], ends=False)
        other.send(sender, message("then"))
        group.sender.abort(started)
        workers.pump()
        assert group.received() == [[octets, message("in between"), message("then")]] * 3

    def test_the_window_stays_closed_while_a_copy_waits(self):
        workers = Workers()
        client = workers.client()
        session = client.server.sessions()[0]
        consumer = workers.client()
        receiver = consumer.consumer(ADDRESS)
        sender = client.producer(ADDRESS)
        octets = message(b"x" * 300_000)
        parts = [octets[at : at + 100] for at in range(0, len(octets), 100)]
        delivery = client.stream(sender, *parts[:-1], ends=False)
        assert (session.incoming_window, sender.session.remote_incoming_window) == (0, 0)
        receiver.grant(1)
        workers.pump()
        assert sum(map(len, consumer.bodies)) == sum(map(len, parts[:-1]))
        client.go_on(delivery, parts[-1], more=False)
        assert consumer.received(receiver) == [octets]
        assert session.incoming_window > 1000


def test_a_message_waits_until_the_links_to_all_siblings_are_there():
    workers = Workers(2)
    consumer = workers.client(1)
    client = workers.client(0)
    workers.connects = False
    workers[0].line_to(1).cut()
    workers.connects = True
    workers.holds_deltas = {0, 1}
    receiver = consumer.consumer(ADDRESS, credit=10)
    near = client.consumer(ADDRESS, credit=10)
    workers.holds_deltas = set()
    workers.pump()
    sender = client.producer(ADDRESS)
    client.send(sender, message())
    assert (consumer.received(receiver), client.received(near)) == ([message()], [message()])
