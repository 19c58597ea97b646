"""Settlement and outcomes from end to end, in all settle modes, over one worker and over two."""

import pytest

from routerd.wire import ACCEPTED, RELEASED, Accepted, Described, Error, Modified, Received, Rejected, Symbol, ULong
from tests.routers import Workers, message, outcome

UNSETTLED, SETTLED, MIXED = 0, 1, 2
FIRST, SECOND = 0, 1

OUTCOMES = [
    Accepted(),
    RELEASED,
    Rejected(),
    Rejected(error=Error(condition=Symbol("x:bad"), description="no good", info={Symbol("line"): 7})),
    Modified(delivery_failed=True, undeliverable_here=True, message_annotations={Symbol("x-opt-tries"): 2}),
    Modified(delivery_failed=False, undeliverable_here=True),
    Modified(message_annotations={Symbol("x-opt-tries"): 2}),
    Described(ULong(0x34), [b"transaction", Described(ULong(0x24), [])]),
]


class Ends:
    """A producer at the first worker and a consumer at the last one."""

    def __init__(self, workers, *, producing=None, consuming=None, credit=10, capacity=0):
        self.workers = workers
        self.producer = workers.client(0, peer={"capacity": capacity} if capacity else None)
        self.consumer = workers.client(workers.last)
        self.receiver = self.consumer.consumer("orders", credit=credit, **consuming or {})
        self.sender = self.producer.producer("orders", **producing or {})

    def send(self, body="hello", **options):
        return self.producer.send(self.sender, message(body), **options)

    @property
    def arrived(self):
        """What the consumer has of the last message that came."""
        return self.consumer.latest(self.receiver)

    def pump(self):
        self.workers.pump()

    def check_nothing_is_unsettled(self):
        for link in (self.sender, self.receiver):
            assert link.unsettled_count == 0
        for worker in self.workers.workers.values():
            for peer in worker.router.peers.values():
                assert [link for link in (*peer.inlets, *peer.outlets) if link.link.unsettled_count] == []


@pytest.mark.parametrize("decided", OUTCOMES, ids=repr)
def test_an_outcome_reaches_the_producer_as_the_consumer_said_it(workers, decided):
    ends = Ends(workers)
    delivery = ends.send()
    assert ends.consumer.received(ends.receiver) == [message()]
    assert outcome(delivery) == (None, False)
    ends.arrived.decide(decided)
    ends.pump()
    assert outcome(delivery) == (decided, True)
    ends.check_nothing_is_unsettled()


@pytest.mark.parametrize("decided", [Modified(), Modified(delivery_failed=False, undeliverable_here=False)], ids=repr)
def test_modified_without_a_word_of_how_counts_as_failed(workers, decided):
    ends = Ends(workers)
    delivery = ends.send()
    ends.arrived.decide(decided)
    ends.pump()
    assert outcome(delivery) == (Modified(delivery_failed=True), True)
    ends.check_nothing_is_unsettled()


def test_a_message_keeps_its_octets_and_its_format(workers):
    ends = Ends(workers)
    octets = bytes(range(256)) * 20
    ends.producer.send(ends.sender, message(octets), message_format=7)
    assert ends.consumer.received(ends.receiver) == [message(octets)]
    assert ends.arrived.message_format == 7


def test_a_presettled_message_arrives_settled(workers):
    ends = Ends(workers)
    delivery = ends.send(settled=True)
    assert ends.consumer.received(ends.receiver) == [message()]
    assert (ends.arrived.remote_settled, outcome(delivery)) == (True, (None, False))
    ends.check_nothing_is_unsettled()


def test_a_state_that_is_no_outcome_goes_before_the_outcome(workers):
    ends = Ends(workers)
    delivery = ends.send()
    ends.arrived.update(Received(section_number=1, section_offset=20), False)
    ends.pump()
    assert outcome(delivery) == (Received(section_number=1, section_offset=20), False)
    ends.arrived.accept()
    ends.pump()
    assert outcome(delivery) == (ACCEPTED, True)
    ends.check_nothing_is_unsettled()


def test_a_consumer_that_settles_without_an_outcome_settles_the_producers_delivery(workers):
    ends = Ends(workers)
    delivery = ends.send()
    ends.arrived.update(None, True)
    ends.pump()
    assert outcome(delivery) == (None, True)
    ends.check_nothing_is_unsettled()


def test_many_outcomes_reach_their_own_deliveries(workers):
    ends = Ends(workers, credit=100)
    deliveries = [ends.sender.send(message(str(number))) for number in range(40)]
    ends.pump()
    decisions = [Accepted(), RELEASED, Modified(delivery_failed=True), Rejected()]
    arrived = ends.consumer.unsettled[ends.receiver.name]
    for number in (*range(1, 40, 2), *range(0, 40, 2)):
        arrived[number].decide(decisions[number % 4])
        ends.pump()
    assert [outcome(each) for each in deliveries] == [(decisions[number % 4], True) for number in range(40)]
    ends.check_nothing_is_unsettled()


@pytest.mark.parametrize("consuming", [FIRST, SECOND])
@pytest.mark.parametrize("producing", [FIRST, SECOND])
class TestUnsettledOutcomes:
    """Outcomes that their consumer has not settled, in all receiver settle modes."""

    def start(self, workers, producing, consuming):
        ends = Ends(workers, producing={"rcv_settle_mode": producing}, consuming={"rcv_settle_mode": consuming})
        return ends, ends.send()

    @pytest.mark.parametrize("decided", [ACCEPTED, RELEASED, Rejected(), Modified(undeliverable_here=True)], ids=repr)
    def test_the_consumer_waits_for_the_producer(self, workers, producing, consuming, decided):
        ends, delivery = self.start(workers, producing, consuming)
        ends.arrived.update(decided, False)
        ends.pump()
        assert (outcome(delivery), ends.arrived.remote_settled) == ((decided, False), False)
        delivery.settle()
        ends.pump()
        assert ends.arrived.remote_settled
        ends.check_nothing_is_unsettled()

    def test_the_consumer_may_settle_what_it_has_decided(self, workers, producing, consuming):
        ends, delivery = self.start(workers, producing, consuming)
        ends.arrived.update(RELEASED, False)
        ends.pump()
        assert outcome(delivery) == (RELEASED, False)
        ends.arrived.settle()
        ends.pump()
        assert outcome(delivery) == (RELEASED, True)
        ends.check_nothing_is_unsettled()

    def test_an_outcome_that_is_settled_at_once_is_settled(self, workers, producing, consuming):
        ends, delivery = self.start(workers, producing, consuming)
        ends.arrived.update(ACCEPTED, True)
        ends.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        ends.check_nothing_is_unsettled()

    def test_the_producer_gets_the_mode_that_it_asked_for(self, workers, producing, consuming):
        ends, _ = self.start(workers, producing, consuming)
        assert ends.sender.rcv_settle_mode == producing

    def test_states_of_both_ends_pass(self, workers, producing, consuming):
        ends, delivery = self.start(workers, producing, consuming)
        ends.arrived.update(ACCEPTED, False)
        ends.pump()
        delivery.update(ACCEPTED, True)
        ends.pump()
        assert (ends.arrived.remote_state, ends.arrived.remote_settled) == (ACCEPTED, True)
        ends.check_nothing_is_unsettled()


def test_capacity_is_taken_until_the_producer_or_the_consumer_settles():
    workers = Workers()
    ends = Ends(workers, credit=100, capacity=4)
    deliveries = [ends.send() for _ in range(4)]
    arrived = list(ends.consumer.unsettled[ends.receiver.name])
    for one in arrived:
        one.update(ACCEPTED, False)
    ends.pump()
    assert ([outcome(one) for one in deliveries], ends.sender.credit) == ([(ACCEPTED, False)] * 4, 0)
    deliveries[0].settle()
    ends.pump()
    assert ends.sender.credit == 1
    arrived[1].settle()
    ends.pump()
    assert ends.sender.credit == 2
    for one in arrived[2:]:
        one.settle()
    ends.pump()
    assert ends.sender.credit == 4
    ends.check_nothing_is_unsettled()


def test_messages_that_went_together_wait_for_their_producer_one_by_one(workers):
    ends = Ends(workers, credit=100)
    deliveries = [ends.sender.send(message(str(number))) for number in range(20)]
    ends.pump()
    arrived = list(ends.consumer.unsettled[ends.receiver.name])
    for one in arrived[5:15]:
        one.update(ACCEPTED, False)
    ends.pump()
    expected = [(ACCEPTED, False) if 5 <= number < 15 else (None, False) for number in range(20)]
    assert [outcome(one) for one in deliveries] == expected
    for one in deliveries[5:15]:
        one.settle()
    for one in (*arrived[:5], *arrived[15:]):
        one.accept()
    ends.pump()
    assert all(one.remote_settled for one in arrived[5:15])
    ends.check_nothing_is_unsettled()


class TestLargeMessages:
    """Messages whose consumer decides, and does not settle, before the last of them has come."""

    OCTETS = message(b"y" * 3000)

    def begin(self, workers, **consuming):
        ends = Ends(workers, consuming=consuming)
        delivery = ends.producer.stream(ends.sender, self.OCTETS[:1000], ends=False)
        ends.consumer.partial[0].update(RELEASED, False)
        ends.pump()
        assert outcome(delivery) == (RELEASED, False)
        return ends, delivery

    def end(self, ends, delivery):
        ends.producer.go_on(delivery, self.OCTETS[1000:], more=False)

    def test_the_consumer_waits_until_the_producer_settles(self, workers):
        ends, delivery = self.begin(workers)
        self.end(ends, delivery)
        assert (outcome(delivery), ends.arrived.remote_settled) == ((RELEASED, False), False)
        delivery.settle()
        ends.pump()
        assert ends.arrived.remote_settled
        ends.check_nothing_is_unsettled()

    def test_the_producer_may_settle_before_the_end(self, workers):
        ends, delivery = self.begin(workers)
        delivery.settle()
        ends.pump()
        self.end(ends, delivery)
        assert ends.arrived.remote_settled
        ends.check_nothing_is_unsettled()
        [inlet] = [one for one in workers[0].router.addresses["M0orders"].inlets if not one.is_fabric]
        assert (inlet.released, inlet.presettled) == (1, 0)

    def test_the_consumer_may_settle_before_the_end(self, workers):
        ends, delivery = self.begin(workers)
        ends.consumer.partial[0].settle()
        ends.pump()
        assert outcome(delivery) == (RELEASED, True)
        self.end(ends, delivery)
        ends.check_nothing_is_unsettled()

    def test_a_consumer_that_is_lost_leaves_its_outcome(self, workers):
        ends, delivery = self.begin(workers)
        ends.consumer.vanish()
        ends.pump()
        assert outcome(delivery) == (RELEASED, True)
        self.end(ends, delivery)
        ends.producer.leave()
        assert workers.left_over() == {}

    def test_a_producer_that_is_lost_aborts_the_message(self, workers):
        ends, _ = self.begin(workers)
        ends.producer.vanish()
        ends.pump()
        ends.check_nothing_is_unsettled()
        ends.consumer.leave()
        assert workers.left_over() == {}

    def test_one_that_proves_too_large_keeps_its_outcome(self, workers):
        ends, delivery = self.begin(workers, max_message_size=2000)
        self.end(ends, delivery)
        assert outcome(delivery) == (RELEASED, True)
        ends.check_nothing_is_unsettled()


def test_an_outcome_follows_a_state_that_is_none():
    workers = Workers()
    ends = Ends(workers, consuming={"rcv_settle_mode": SECOND})
    delivery = ends.send()
    ends.arrived.update(Received(section_number=1, section_offset=0), False)
    ends.pump()
    ends.arrived.accept()
    ends.pump()
    assert outcome(delivery) == (ACCEPTED, False)


def test_an_outcome_that_is_said_twice_is_told_once():
    workers = Workers()
    ends = Ends(workers)
    ends.send()
    ends.arrived.update(ACCEPTED, False)
    ends.pump()
    ends.producer.take()
    ends.arrived.update(ACCEPTED, False)
    ends.pump()
    assert ends.producer.take() == []
    [outlet] = workers[0].router.addresses["M0orders"].outlets
    assert outlet.accepted == 1


def test_a_producer_may_settle_before_the_consumer_decides(workers):
    ends = Ends(workers)
    delivery = ends.send()
    delivery.settle()
    ends.pump()
    assert ends.arrived.remote_settled
    ends.arrived.settle()
    ends.pump()
    ends.check_nothing_is_unsettled()


def test_a_consumer_that_wants_all_settled_gets_all_settled_and_the_producer_hears_accepted(workers):
    ends = Ends(workers, consuming={"snd_settle_mode": SETTLED})
    delivery = ends.send()
    assert ends.arrived.remote_settled
    assert outcome(delivery) == (ACCEPTED, True)
    ends.check_nothing_is_unsettled()


def test_a_consumer_that_wants_all_unsettled_gets_what_was_sent_settled_unsettled(workers):
    ends = Ends(workers, consuming={"snd_settle_mode": UNSETTLED})
    ends.send(settled=True)
    assert not ends.arrived.remote_settled
    ends.arrived.accept()
    ends.pump()
    ends.check_nothing_is_unsettled()
    # One that settles second is answered, too.
    ends.send(settled=True)
    ends.arrived.update(ACCEPTED, False)
    ends.pump()
    assert ends.arrived.remote_settled
    ends.check_nothing_is_unsettled()


@pytest.mark.parametrize("mode", [UNSETTLED, SETTLED, MIXED])
def test_a_producers_settle_mode_is_what_it_asked_for(workers, mode):
    ends = Ends(workers, producing={"snd_settle_mode": mode})
    assert ends.sender.snd_settle_mode == mode
    delivery = ends.send(settled=mode == SETTLED)
    assert ends.arrived.remote_settled == (mode == SETTLED)
    ends.arrived.settle() if mode == SETTLED else ends.arrived.accept()
    ends.pump()
    assert outcome(delivery) == ((None, False) if mode == SETTLED else (ACCEPTED, True))
    ends.check_nothing_is_unsettled()


def test_an_outcome_too_long_for_the_producers_frames_is_told_in_kind():
    workers = Workers()
    producer, consumer = workers.client(max_frame_size=512), workers.client()
    receiver = consumer.consumer("orders", credit=10)
    sender = producer.producer("orders")
    long = "y" * 600
    deliveries = [producer.send(sender, message()) for _ in range(2)]
    rejected, modified = consumer.unsettled[receiver.name]
    rejected.reject(Error(condition=Symbol("x:bad"), description=long))
    modified.decide(Modified(message_annotations={Symbol("x-opt-why"): long}))
    workers.pump()
    assert [outcome(each) for each in deliveries] == [(Rejected(), True), (Modified(delivery_failed=True), True)]


def test_links_count_what_became_of_their_deliveries():
    workers = Workers()
    ends = Ends(workers)
    [inlet] = workers[0].router.addresses["M0orders"].inlets
    [outlet] = workers[0].router.addresses["M0orders"].outlets
    for decided in (Accepted(), RELEASED, Rejected(), Modified(), Described(ULong(0x33), [])):
        ends.send()
        ends.arrived.decide(decided)
        ends.pump()
    ends.send(settled=True)
    for end in (inlet, outlet):
        assert (end.deliveries, end.presettled) == (6, 1)
        assert (end.accepted, end.released, end.rejected, end.modified) == (1, 1, 1, 1)


@pytest.mark.parametrize(("seconds", "counted"), [(0.5, (0, 0)), (2.0, (1, 0)), (11.0, (0, 1))])
def test_links_count_outcomes_that_were_long_in_coming(seconds, counted):
    workers = Workers()
    ends = Ends(workers)
    [inlet] = workers[0].router.addresses["M0orders"].inlets
    [outlet] = workers[0].router.addresses["M0orders"].outlets
    ends.send()
    workers.pump(seconds)
    ends.arrived.accept()
    workers.pump()
    for end in (inlet, outlet):
        assert (end.delayed_1s, end.delayed_10s) == counted


POSTED = Described(ULong(0x34), [b"transaction"])
HALF = Described(ULong(0x99), ["half"])


class TestStatesThatAreNoOutcomes:
    def send(self, ends, state=POSTED, **options):
        delivery = ends.sender.begin(state=state, **options)
        ends.sender.write(delivery, message(), 0, len(message()), False)
        ends.pump()
        return delivery

    @pytest.mark.parametrize("settled", [False, True])
    def test_the_state_of_a_transfer_reaches_the_consumer(self, workers, settled):
        ends = Ends(workers)
        self.send(ends, settled=settled)
        assert ends.consumer.received(ends.receiver) == [message()]
        assert (ends.arrived.remote_state, ends.arrived.remote_settled) == (POSTED, settled)

    def test_so_does_that_of_a_message_that_has_waited(self, workers):
        ends = Ends(workers, credit=0)
        self.send(ends)
        ends.receiver.grant(1)
        ends.pump()
        assert ends.arrived.remote_state == POSTED

    def test_they_pass_in_both_directions_and_settle_nothing(self, workers):
        ends = Ends(workers)
        delivery = ends.send()
        for state in (HALF, Received(section_number=1, section_offset=9), POSTED):
            ends.arrived.update(state, False)
            ends.pump()
            assert (outcome(delivery), ends.arrived.remote_settled) == ((state, False), False)
        for state in (POSTED, HALF):
            delivery.update(state, False)
            ends.pump()
            assert (ends.arrived.remote_state, ends.arrived.remote_settled) == (state, False)
        ends.arrived.accept()
        ends.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        ends.check_nothing_is_unsettled()

    def test_the_producers_last_state_comes_with_its_settlement(self, workers):
        ends = Ends(workers)
        delivery = ends.send()
        delivery.update(HALF, True)
        ends.pump()
        assert (ends.arrived.remote_state, ends.arrived.remote_settled) == (HALF, True)
        ends.check_nothing_is_unsettled()

    def test_a_consumer_that_is_lost_after_one_counts_as_undecided(self, workers):
        ends = Ends(workers)
        delivery = ends.send()
        ends.arrived.update(HALF, False)
        ends.pump()
        ends.consumer.vanish()
        ends.pump()
        assert outcome(delivery) == (Modified(delivery_failed=True), True)

    def test_a_message_with_one_too_long_for_the_consumers_frames_is_rejected(self):
        workers = Workers()
        consumer, producer = workers.client(max_frame_size=512), workers.client()
        receiver, sender = consumer.consumer("orders", credit=9), producer.producer("orders")
        delivery = sender.begin(state=Described(ULong(0x99), ["x" * 600]))
        sender.write(delivery, message(), 0, len(message()), False)
        workers.pump()
        told, is_settled = outcome(delivery)
        assert (told.error.condition, is_settled) == ("amqp:frame-size-too-small", True)
        assert consumer.received(receiver) == []

    def test_one_too_long_for_the_producers_frames_is_not_passed_on(self):
        workers = Workers()
        producer, consumer = workers.client(max_frame_size=512), workers.client()
        receiver, sender = consumer.consumer("orders", credit=9), producer.producer("orders")
        delivery = producer.send(sender, message())
        consumer.latest(receiver).update(Described(ULong(0x99), ["x" * 600]), False)
        workers.pump()
        assert outcome(delivery) == (None, False)
        consumer.latest(receiver).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)
