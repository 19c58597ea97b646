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
    Modified(),
    Modified(delivery_failed=True, undeliverable_here=True, message_annotations={Symbol("x-opt-tries"): 2}),
    Modified(delivery_failed=False, undeliverable_here=False),
    Described(ULong(0x34), [b"transaction", Described(ULong(0x24), [])]),
]


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def workers(request):
    return Workers(request.param)


class Ends:
    """A producer at the first worker and a consumer at the last one."""

    def __init__(self, workers, *, producing=None, consuming=None, credit=10):
        self.workers = workers
        self.producer = workers.client(0)
        self.consumer = workers.client(len(workers.workers) - 1)
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
def test_all_end_settled_whoever_settles_second(workers, producing, consuming):
    ends = Ends(workers, producing={"rcv_settle_mode": producing}, consuming={"rcv_settle_mode": consuming})
    delivery = ends.send()
    ends.arrived.accept()
    ends.pump()
    takes_part = producing == consuming == SECOND and len(workers.workers) == 1
    assert outcome(delivery) == (ACCEPTED, not takes_part)
    if takes_part:
        delivery.settle()
        ends.pump()
    if consuming == SECOND:
        assert ends.arrived.remote_settled
        ends.arrived.settle() if not ends.arrived.settled else None
        ends.pump()
    ends.check_nothing_is_unsettled()


def test_where_both_settle_second_the_consumer_waits_for_the_producer():
    workers = Workers()
    ends = Ends(workers, producing={"rcv_settle_mode": SECOND}, consuming={"rcv_settle_mode": SECOND})
    delivery = ends.send()
    ends.arrived.accept()
    ends.pump()
    assert (outcome(delivery), ends.arrived.remote_settled) == ((ACCEPTED, False), False)
    delivery.settle()
    ends.pump()
    assert ends.arrived.remote_settled
    ends.check_nothing_is_unsettled()


def test_where_both_settle_second_an_outcome_follows_a_state_that_is_none():
    workers = Workers()
    ends = Ends(workers, producing={"rcv_settle_mode": SECOND}, consuming={"rcv_settle_mode": SECOND})
    delivery = ends.send()
    ends.arrived.update(Received(section_number=1, section_offset=0), False)
    ends.pump()
    ends.arrived.accept()
    ends.pump()
    assert outcome(delivery) == (ACCEPTED, False)


def test_where_both_settle_second_the_consumer_may_settle_all_the_same():
    workers = Workers()
    ends = Ends(workers, producing={"rcv_settle_mode": SECOND}, consuming={"rcv_settle_mode": SECOND})
    delivery = ends.send()
    ends.arrived.update(RELEASED, True)
    ends.pump()
    assert outcome(delivery) == (RELEASED, True)
    ends.check_nothing_is_unsettled()


def test_where_both_settle_second_the_consumer_may_settle_what_it_has_decided():
    workers = Workers()
    ends = Ends(workers, producing={"rcv_settle_mode": SECOND}, consuming={"rcv_settle_mode": SECOND})
    delivery = ends.send()
    ends.arrived.update(ACCEPTED, False)
    ends.pump()
    assert outcome(delivery) == (ACCEPTED, False)
    ends.arrived.update(ACCEPTED, True)
    ends.pump()
    assert outcome(delivery) == (ACCEPTED, True)
    ends.check_nothing_is_unsettled()


def test_an_outcome_that_is_said_twice_is_told_once():
    workers = Workers()
    ends = Ends(workers, producing={"rcv_settle_mode": SECOND}, consuming={"rcv_settle_mode": SECOND})
    ends.send()
    ends.arrived.accept()
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
