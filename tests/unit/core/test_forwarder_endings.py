"""Links, sessions and connections that end while messages are under way."""

import gc

import pytest

from routerd.core.delivery.settlement import LEFT_MAX
from routerd.wire import ACCEPTED, RELEASED, Error, Modified, Received, Sender, Symbol
from tests.routers import Workers, message, outcome

MAYBE_SEEN = Modified(delivery_failed=True)


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def forgetful(request):
    return Workers(request.param, forgets_of_lost_producers=True)


class Ends:
    """A producer at the first worker and a consumer at the last one."""

    def __init__(self, workers, *, credit=10, producing=None, consuming=None):
        self.workers = workers
        self.producer = workers.client(0)
        self.consumer = workers.client(workers.last)
        self.receiver = self.consumer.consumer("orders", credit=credit, **consuming or {})
        self.sender = self.producer.producer("orders", **producing or {})

    def send(self, **options):
        return self.producer.send(self.sender, message(), **options)


def end_connection(client, link):
    client.leave()


def lose_connection(client, link):
    client.vanish()


def close_link(client, link):
    client.detach(link)


def detach_link(client, link):
    client.detach(link, closed=False)


def detach_with_error(client, link):
    client.detach(link, closed=False, error=Error(condition=Symbol("x:tired")))


def end_session(client, link):
    link.session.end()
    client.line.carry(0.0)
    client.line.carry(0.0)


def steal_link(client, link):
    client.connection.links.drop(link)  # our own engine would not attach the name twice
    if link.is_sender:
        client.producer("elsewhere", link.name, session=client.another_session())
    else:
        client.consumer("elsewhere", link.name, session=client.another_session())


ENDS = [end_connection, lose_connection, close_link, detach_link, detach_with_error, end_session, steal_link]
ending = pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)


def check_nothing_is_under_way(workers):
    for worker in workers.workers.values():
        for address in worker.router.addresses.values():
            assert (len(address.parked), len(address.parked_from_siblings)) == (0, 0)
        for peer in worker.router.peers.values():
            for end in (*peer.inlets, *peer.outlets):
                assert (end, end.link.unsettled_count) == (end, 0)


@ending
def test_what_a_lost_consumer_may_have_seen_is_modified(workers, end):
    ends = Ends(workers)
    delivery = ends.send()
    other = workers.client(0)
    staying = other.consumer("orders", credit=10)
    end(ends.consumer, ends.receiver)
    workers.pump()
    assert outcome(delivery) == (MAYBE_SEEN, True)
    assert other.received(staying) == []
    check_nothing_is_under_way(workers)


@ending
def test_what_a_lost_consumer_has_decided_stays_decided(workers, end):
    ends = Ends(workers)
    delivery = ends.send()
    ends.consumer.latest(ends.receiver).accept()
    end(ends.consumer, ends.receiver)
    workers.pump()
    # What the consumer wrote before its connection broke did not arrive.
    assert outcome(delivery) == ((MAYBE_SEEN if end is lose_connection else ACCEPTED), True)


@ending
def test_what_a_lost_consumer_never_got_is_released(workers, end):
    ends = Ends(workers, credit=0)
    delivery = ends.send()
    end(ends.consumer, ends.receiver)
    workers.pump()
    assert outcome(delivery) == (RELEASED, True)
    check_nothing_is_under_way(workers)


def test_what_a_lost_consumer_never_got_goes_to_another():
    workers = Workers()
    ends = Ends(workers, credit=0)
    ends.send()
    other = workers.client()
    receiver = other.consumer("orders")
    ends.consumer.vanish()
    receiver.grant(1)
    workers.pump()
    assert other.received(receiver) == [message()]


@ending
def test_a_state_that_is_no_outcome_does_not_keep_a_lost_consumers_delivery(workers, end):
    ends = Ends(workers)
    delivery = ends.send()
    ends.consumer.latest(ends.receiver).update(Received(section_number=1, section_offset=3), False)
    workers.pump()
    end(ends.consumer, ends.receiver)
    workers.pump()
    assert outcome(delivery) == (MAYBE_SEEN, True)


@ending
def test_settled_messages_of_a_lost_consumer_are_nobodys(workers, end):
    ends = Ends(workers)
    delivery = ends.send(settled=True)
    end(ends.consumer, ends.receiver)
    workers.pump()
    assert outcome(delivery) == (None, False)
    check_nothing_is_under_way(workers)


@ending
def test_what_a_lost_producer_sent_can_still_be_settled(workers, end):
    ends = Ends(workers)
    ends.send()
    end(ends.producer, ends.sender)
    workers.pump()
    assert not ends.consumer.latest(ends.receiver).remote_settled
    ends.consumer.latest(ends.receiver).accept()
    workers.pump()
    check_nothing_is_under_way(workers)


@ending
def test_a_consumer_that_settles_second_is_answered_for_a_lost_producer(workers, end):
    ends = Ends(workers, consuming={"rcv_settle_mode": 1})
    ends.send()
    end(ends.producer, ends.sender)
    workers.pump()
    ends.consumer.latest(ends.receiver).accept()
    workers.pump()
    assert ends.consumer.latest(ends.receiver).remote_settled
    check_nothing_is_under_way(workers)


@ending
def test_a_consumer_that_has_decided_is_answered_when_the_producer_that_was_to_settle_is_lost(workers, end):
    ends = Ends(workers)
    ends.send()
    ends.consumer.latest(ends.receiver).update(ACCEPTED, False)
    workers.pump()
    end(ends.producer, ends.sender)
    workers.pump()
    assert ends.consumer.latest(ends.receiver).remote_settled
    check_nothing_is_under_way(workers)


@ending
@pytest.mark.parametrize("mode", [0, 1])
def test_what_a_lost_consumer_has_decided_is_settled_as_it_said(workers, mode, end):
    ends = Ends(workers, producing={"rcv_settle_mode": mode}, consuming={"rcv_settle_mode": mode})
    delivery = ends.send()
    ends.consumer.latest(ends.receiver).update(ACCEPTED, False)
    workers.pump()
    assert outcome(delivery) == (ACCEPTED, False)
    end(ends.consumer, ends.receiver)
    workers.pump()
    assert outcome(delivery) == (ACCEPTED, True)
    check_nothing_is_under_way(workers)


@ending
@pytest.mark.parametrize("who", ["producer", "consumer"])
def test_nothing_is_left_of_what_is_decided_and_not_settled(workers, who, end):
    ends = Ends(workers)
    ends.send()
    ends.consumer.latest(ends.receiver).update(ACCEPTED, False)
    workers.pump()
    end(ends.producer, ends.sender) if who == "producer" else end(ends.consumer, ends.receiver)
    workers.pump()
    ends.producer.vanish()
    ends.consumer.vanish()
    assert workers.left_over() == {}


@pytest.mark.parametrize("who", ["producer", "consumer"])
def test_a_lost_worker_settles_what_is_decided(who):
    workers = Workers(2)
    ends = Ends(workers)
    delivery = ends.send()
    arrived = ends.consumer.latest(ends.receiver)
    arrived.update(ACCEPTED, False)
    workers.pump()
    assert outcome(delivery) == (ACCEPTED, False)
    workers.kill(0 if who == "producer" else 1)
    workers.pump()
    assert (arrived.remote_settled, delivery.remote_settled) == (who == "producer", who == "consumer")
    (ends.consumer if who == "producer" else ends.producer).leave()
    assert workers.left_over() == {}


def test_what_waits_for_a_lost_producer_in_second_mode_is_sent_and_its_consumer_does_not_wait(workers):
    ends = Ends(workers, credit=0, producing={"rcv_settle_mode": 1}, consuming={"rcv_settle_mode": 1})
    ends.send()
    ends.producer.detach(ends.sender)
    ends.receiver.grant(10)
    workers.pump()
    assert ends.consumer.received(ends.receiver) == [message()]
    ends.consumer.latest(ends.receiver).accept()
    workers.pump()
    assert ends.consumer.latest(ends.receiver).remote_settled
    check_nothing_is_under_way(workers)


def test_what_waits_when_its_producer_closes_the_link_is_delivered_and_its_outcome_goes_nowhere(workers):
    ends = Ends(workers, credit=0)
    for _ in range(3):
        ends.send()
    ends.producer.detach(ends.sender)
    ends.receiver.grant(10)
    workers.pump()
    assert ends.consumer.received(ends.receiver) == [message()] * 3
    for delivery in ends.consumer.unsettled[ends.receiver.name]:
        delivery.accept()
    workers.pump()
    check_nothing_is_under_way(workers)


def test_what_waits_for_a_lost_producer_is_released_when_its_consumer_leaves_too(workers):
    ends = Ends(workers, credit=0)
    ends.send()
    ends.producer.leave()
    ends.consumer.leave()
    assert workers.left_over() == {}


@ending
def test_what_waits_for_a_lost_producer_is_forgotten_where_the_router_is_told_so(forgetful, end):
    workers = forgetful
    ends = Ends(workers, credit=0)
    for _ in range(3):
        ends.send()
    other = workers.client(0)
    other.send(other.producer("orders"), message("of another"))
    end(ends.producer, ends.sender)
    ends.receiver.grant(10)
    workers.pump()
    received = ends.consumer.received(ends.receiver)
    # A sibling that has a message keeps it for its consumer: it is not told that the producer left.
    assert received[-1] == message("of another")
    assert len(received) == 1 or len(workers.workers) == 2


@ending
def test_settled_messages_of_a_lost_producer_are_still_delivered(workers, end):
    ends = Ends(workers, credit=0)
    for _ in range(3):
        ends.send(settled=True)
    end(ends.producer, ends.sender)
    ends.receiver.grant(10)
    workers.pump()
    assert ends.consumer.received(ends.receiver) == [message()] * 3


def test_what_waits_and_is_settled_by_its_producer_is_still_delivered(workers):
    ends = Ends(workers, credit=0)
    delivery = ends.send()
    delivery.settle()
    workers.pump()
    ends.receiver.grant(1)
    workers.pump()
    assert ends.consumer.received(ends.receiver) == [message()]
    check_nothing_is_under_way(workers)


def test_what_waits_and_is_settled_by_its_producer_counts_against_its_capacity():
    workers = Workers()
    ends = Ends(workers, credit=0)
    for _ in range(250):
        ends.send().settle()
    workers.pump()
    assert ends.sender.credit == 0
    ends.receiver.grant(1000)
    workers.pump()
    assert 125 < ends.sender.credit <= 250


def test_a_consumer_may_decide_what_it_got_on_a_link_that_it_detached():
    workers = Workers()
    ends = Ends(workers)
    delivery = ends.send()
    arrived = ends.consumer.latest(ends.receiver)
    ends.consumer.detach(ends.receiver, closed=False)
    arrived.update(ACCEPTED, False)
    workers.pump()
    assert outcome(delivery) == (MAYBE_SEEN, True)
    assert arrived.remote_settled


def test_a_producer_that_detaches_without_closing_is_told_that_nobody_will_know_more():
    workers = Workers()
    ends = Ends(workers, credit=1, producing={"rcv_settle_mode": 1})
    first, second, third = ends.send(), ends.send(), ends.send()
    ends.consumer.latest(ends.receiver).accept()
    workers.pump()
    ends.receiver.grant(1)
    workers.pump()
    ends.producer.detach(ends.sender, closed=False)
    assert [outcome(each) for each in (first, second, third)] == [
        (ACCEPTED, True),
        (MAYBE_SEEN, True),
        (RELEASED, True),
    ]
    ends.consumer.latest(ends.receiver).release()
    workers.pump()
    assert outcome(second) == (MAYBE_SEEN, True)
    check_nothing_is_kept(workers)


@pytest.mark.parametrize("closed", [False, True])
def test_what_crosses_the_detach_of_a_consumer_is_not_kept(closed):
    workers = Workers()
    ends = Ends(workers)
    ends.receiver.detach(closed=closed)
    delivery = ends.sender.send(message())
    ends.producer.line.carry(0.0)
    ends.consumer.line.carry(0.0)
    workers.pump()
    assert outcome(delivery) in ((MAYBE_SEEN, True), (RELEASED, True))
    check_nothing_is_kept(workers)


def check_nothing_is_kept(workers):
    for worker in workers.workers.values():
        for peer in worker.router.peers.values():
            for session in peer.connection.sessions():
                assert (session.incoming.count, session.outgoing.count) == (0, 0)


def test_frames_for_links_that_are_gone_are_ignored():
    workers = Workers()
    ends = Ends(workers)
    [server] = ends.producer.server.sessions()
    [link] = server.links()
    link.detach()
    ends.sender.send(message())
    ends.sender.session.send_flow(ends.sender)
    workers.pump()
    assert ends.consumer.received(ends.receiver) == []
    assert workers[0].router.addresses["M0orders"].inlets == {}


def test_no_garbage_is_left_of_consumers_whose_connection_is_lost():
    workers = Workers()
    consumer, producer = workers.client(), workers.client()
    for _ in range(5):
        consumer.consumer("orders", credit=1)
    sender = producer.producer("orders")
    for _ in range(5):
        producer.send(sender, message())
    lost = consumer.line.server
    gc.collect()
    gc.disable()
    try:
        consumer.vanish()
        left = [one for one in gc.get_objects() if isinstance(one, Sender)]
        assert [one.name for one in left if one.session.connection is lost] == []
    finally:
        gc.enable()


def test_what_lost_producers_leave_waiting_has_a_limit():
    workers = Workers()
    consumer = workers.client()
    receiver = consumer.consumer("orders")
    for _ in range(41):
        client = workers.client()
        sender = client.producer("orders")
        for _ in range(250):
            sender.send(message())
        workers.pump()
        client.vanish()
    [address] = workers[0].router.addresses.values()
    assert address.waiting == LEFT_MAX
    receiver.grant(2 * LEFT_MAX)
    workers.pump()
    assert (len(consumer.received(receiver)), address.waiting) == (LEFT_MAX, 0)
