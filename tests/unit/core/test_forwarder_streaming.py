"""Messages of several frames: they leave as they come, within the windows of both sides, or are given up."""

import pytest

from routerd.wire import ACCEPTED, RELEASED, Modified
from tests.routers import Workers, message, outcome

MAYBE_SEEN = Modified(delivery_failed=True)
OCTETS = message(b"x" * 200)
FIRST, REST = OCTETS[:80], OCTETS[80:]
WINDOW = 2048
"""Frames that a session takes unless it is told otherwise."""


class Ends:
    """A producer at the first worker and a consumer at the last one."""

    def __init__(self, workers, *, credit=1000, address="orders", **consuming):
        self.workers = workers
        self.producer = workers.client(0)
        self.consumer = workers.client(workers.last)
        self.receiver = self.consumer.consumer(address, credit=credit, **consuming)
        self.sender = self.producer.producer(address)

    def stream(self, *parts, **options):
        return self.producer.stream(self.sender, *parts, **options)

    @property
    def received(self):
        return self.consumer.received(self.receiver)

    def check_nothing_is_under_way(self):
        assert self.sender.unsettled_count == 0
        for worker in self.workers.workers.values():
            for peer in worker.router.peers.values():
                for end in (*peer.inlets, *peer.outlets):
                    assert end.link.unsettled_count == 0
                assert [inlet.current for inlet in peer.inlets if inlet.current is not None] == []
                assert [outlet for outlet in peer.outlets if outlet.link.current is not None] == []


@pytest.mark.parametrize("settled", [False, True])
def test_a_frame_leaves_before_the_next_comes(workers, settled):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False, settled=settled)
    assert (ends.consumer.bodies, ends.received) == ([FIRST], [])
    ends.producer.go_on(delivery, REST[:50])
    assert ends.consumer.bodies == [FIRST, REST[:50]]
    ends.producer.go_on(delivery, REST[50:], more=False)
    assert ends.received == [OCTETS]
    if not settled:
        ends.consumer.latest(ends.receiver).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)
    ends.check_nothing_is_under_way()


def test_a_large_message_is_cut_as_the_consumers_frames_ask_for():
    workers = Workers()
    producer, consumer = workers.client(), workers.client(max_frame_size=512)
    receiver = consumer.consumer("orders", credit=1)
    octets = message(b"x" * 10_000)
    producer.send(producer.producer("orders"), octets)
    assert consumer.received(receiver) == [octets]
    assert max(map(len, consumer.bodies)) <= 512


@pytest.mark.parametrize("settled", [False, True])
def test_what_has_come_waits_for_credit_and_the_rest_follows(workers, settled):
    ends = Ends(workers, credit=0)
    delivery = ends.stream(FIRST, REST[:20], ends=False, settled=settled)
    ends.receiver.grant(1)
    workers.pump()
    assert b"".join(ends.consumer.bodies) == FIRST + REST[:20]
    ends.producer.go_on(delivery, REST[20:], more=False)
    assert ends.received == [OCTETS]


@pytest.mark.parametrize("settled", [False, True])
def test_a_whole_message_may_wait_for_credit(workers, settled):
    ends = Ends(workers, credit=0)
    ends.stream(FIRST, REST, settled=settled)
    ends.receiver.grant(1)
    workers.pump()
    assert ends.received == [OCTETS]


def test_what_waits_closes_the_window_of_its_session_and_no_other():
    workers = Workers()
    ends = Ends(workers, credit=0)
    other = ends.producer.another_session()
    ends.stream(FIRST, *[b"x"] * WINDOW, ends=False)
    assert ends.sender.session.remote_incoming_window == 0
    assert other.remote_incoming_window == WINDOW
    ends.receiver.grant(1)
    workers.pump()
    assert ends.sender.session.remote_incoming_window >= WINDOW - 1
    assert sum(map(len, ends.consumer.bodies)) == len(FIRST) + WINDOW


@pytest.mark.parametrize("part", [b"x", bytes(300)], ids=["small", "more than a burst"])
def test_a_consumer_whose_connection_is_full_closes_the_window_of_the_producers_session(workers, part):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False)
    workers[workers.last].router.set_blocked(ends.consumer.peer, True)
    for _ in range(3 * WINDOW):
        ends.producer.go_on(delivery, part)
    blocked = ends.sender.session.remote_incoming_window
    assert blocked == 0
    assert sum(map(len, ends.consumer.bodies)) == len(FIRST)
    workers[workers.last].router.set_blocked(ends.consumer.peer, False)
    workers.pump()
    ends.producer.go_on(delivery, b"end", more=False)
    assert ends.received == [FIRST + 3 * WINDOW * part + b"end"]
    assert ends.sender.session.remote_incoming_window > WINDOW // 4


def test_a_consumer_whose_window_is_full_closes_that_of_the_producer():
    workers = Workers()
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False)
    session = ends.receiver.session
    session.withhold(WINDOW)
    for _ in range(3 * WINDOW):
        ends.producer.go_on(delivery, b"x")
    assert ends.sender.session.remote_incoming_window == 0
    assert sum(map(len, ends.consumer.bodies)) <= len(FIRST) + WINDOW
    session.give_back(WINDOW)
    workers.pump()
    ends.producer.go_on(delivery, b"end", more=False)
    assert ends.received == [FIRST + 3 * WINDOW * b"x" + b"end"]


def test_a_window_that_was_kept_closed_opens_when_the_consumer_vanishes(workers):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False)
    workers[workers.last].router.set_blocked(ends.consumer.peer, True)
    for _ in range(3 * WINDOW):
        ends.producer.go_on(delivery, b"x")
    ends.consumer.vanish()
    assert outcome(delivery) == (MAYBE_SEEN, True)
    assert ends.sender.session.remote_incoming_window > 0
    ends.producer.go_on(delivery, b"end", more=False)
    ends.check_nothing_is_under_way()


@pytest.mark.parametrize("settled", [False, True])
def test_an_abort_is_passed_on(workers, settled):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False, settled=settled)
    ends.sender.abort(delivery)
    workers.pump()
    assert (ends.consumer.aborted, ends.received) == ([ends.receiver.name], [])
    ends.check_nothing_is_under_way()


@pytest.mark.parametrize("settled", [False, True])
def test_what_is_aborted_while_it_waits_never_leaves(workers, settled):
    # A sibling gets the beginning, and keeps it until there is credit.
    ends = Ends(workers, credit=0)
    delivery = ends.stream(FIRST, ends=False, settled=settled)
    ends.sender.abort(delivery)
    workers.pump()
    ends.receiver.grant(2)
    workers.pump()
    assert (ends.consumer.aborted, ends.consumer.bodies) == ([], [])
    ends.producer.send(ends.sender, OCTETS)
    assert ends.received == [OCTETS]


def test_aborted_messages_use_no_credit_up(workers):
    ends = Ends(workers)
    for _ in range(600):
        delivery = ends.stream(FIRST, ends=False)
        ends.sender.abort(delivery)
        workers.pump()
    ends.receiver.grant(1)
    ends.producer.send(ends.sender, OCTETS)
    assert ends.received == [OCTETS]


def test_messages_aborted_before_their_address_was_read_use_no_credit_up():
    workers = Workers()
    ends = Ends(workers)
    anonymous = ends.producer.producer(None)
    for _ in range(600):
        delivery = ends.producer.stream(anonymous, b"\0", ends=False)
        anonymous.abort(delivery)
        workers.pump()
    assert anonymous.credit > 100


def test_messages_aborted_by_their_first_frame_use_no_credit_up():
    workers = Workers()
    ends = Ends(workers)
    for _ in range(600):
        delivery = ends.stream(b"", ends=False)
        ends.sender.abort(delivery)
        workers.pump()
    assert ends.sender.credit > 100


def test_others_wait_until_a_link_is_through_with_a_message(workers):
    ends = Ends(workers)
    other = workers.client(0)
    sender = other.producer("orders")
    delivery = ends.stream(FIRST, ends=False)
    for number in range(3):
        other.send(sender, message(str(number)))
    assert ends.received == []
    ends.producer.go_on(delivery, REST, more=False)
    assert ends.received == [OCTETS, *(message(str(number)) for number in range(3))]


def test_others_wait_until_a_message_is_given_up(workers):
    ends = Ends(workers)
    other = workers.client(0)
    sender = other.producer("orders")
    aborted = ends.stream(FIRST, ends=False)
    other.send(sender, message("after the abort"))
    ends.sender.abort(aborted)
    workers.pump()
    assert ends.received == [message("after the abort")]
    ends.stream(FIRST, ends=False)
    other.send(sender, message("after the loss"))
    ends.producer.vanish()
    assert ends.received == [message("after the abort"), message("after the loss")]


def test_two_streams_go_to_two_consumers_side_by_side(workers):
    ends = Ends(workers)
    second = ends.consumer.consumer("orders", credit=10)
    other = workers.client(0)
    sender = other.producer("orders")
    one = ends.stream(FIRST, ends=False)
    # Over the fabric there is one link for each address, so the second waits for the first.
    two = other.stream(sender, FIRST, ends=False)
    ends.producer.go_on(one, REST, more=False)
    other.go_on(two, REST, more=False)
    assert sorted([*ends.received, *ends.consumer.received(second)]) == [OCTETS, OCTETS]


@pytest.mark.parametrize("settled", [False, True])
def test_the_rest_of_what_a_lost_consumer_began_is_ignored(workers, settled):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False, settled=settled)
    ends.consumer.vanish()
    assert outcome(delivery) == ((None, False) if settled else (MAYBE_SEEN, True))
    late = workers.client(0)
    receiver = late.consumer("orders", credit=10)
    # Its frames are not kept: the window does not close.
    for _ in range(3 * WINDOW):
        ends.producer.go_on(delivery, b"x")
    assert ends.sender.session.remote_incoming_window > 0
    ends.producer.go_on(delivery, REST, more=False)
    assert late.bodies == []
    ends.check_nothing_is_under_way()
    ends.producer.send(ends.sender, OCTETS)
    assert late.received(receiver) == [OCTETS]


def test_settled_messages_that_lose_their_consumer_in_the_middle_use_no_credit_up():
    workers = Workers()
    client, consumer = workers.client(peer={"capacity": 1}), workers.client()
    consumer.consumer("orders", credit=10, snd_settle_mode=0)
    workers.client().consumer("orders")
    sender = client.producer("orders")
    delivery = client.stream(sender, FIRST, ends=False, settled=True)
    consumer.vanish()
    client.go_on(delivery, REST, more=False)
    [inlet] = client.peer.inlets
    assert (sender.credit, inlet.dropped_presettled) == (1, 1)


@pytest.mark.parametrize("settled", [False, True])
def test_a_detached_consumer_is_sent_no_more_of_it(workers, settled):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False, settled=settled)
    ends.consumer.detach(ends.receiver)
    ends.producer.go_on(delivery, REST, more=False)
    assert outcome(delivery) == ((None, False) if settled else (MAYBE_SEEN, True))
    assert ends.consumer.bodies == [FIRST]
    ends.check_nothing_is_under_way()


@pytest.mark.parametrize("settled", [False, True])
def test_a_producer_that_vanishes_aborts_what_it_began(workers, settled):
    ends = Ends(workers)
    ends.stream(FIRST, ends=False, settled=settled)
    ends.producer.vanish()
    assert (ends.consumer.aborted, ends.received) == ([ends.receiver.name], [])
    ends.check_nothing_is_under_way()


@pytest.mark.parametrize("settled", [False, True])
def test_what_a_lost_producer_began_and_never_left_is_forgotten(workers, settled):
    ends = Ends(workers, credit=0)
    ends.stream(FIRST, ends=False, settled=settled)
    ends.producer.vanish()
    ends.receiver.grant(1)
    workers.pump()
    assert ends.consumer.bodies == []


def test_an_outcome_before_the_end_of_a_message_is_passed_on_at_once(workers):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False)
    ends.consumer.deliveries[-1].release()
    workers.pump()
    assert outcome(delivery) == (RELEASED, True)
    ends.producer.go_on(delivery, REST, more=False)
    assert ends.received == [OCTETS]
    ends.check_nothing_is_under_way()


def test_the_rest_of_a_message_with_an_outcome_may_be_lost(workers):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False)
    ends.consumer.deliveries[-1].release()
    workers.pump()
    ends.consumer.vanish()
    ends.producer.go_on(delivery, REST, more=False)
    assert outcome(delivery) == (RELEASED, True)
    ends.check_nothing_is_under_way()


def test_a_message_is_released_where_nobody_is_and_its_rest_ignored(workers):
    ends = Ends(workers)
    ends.producer.line.holds.add(ends.producer.server)
    ends.consumer.leave()
    delivery = ends.stream(FIRST, ends=False)
    ends.producer.line.holds.clear()
    workers.pump()
    assert outcome(delivery) == (RELEASED, True)
    late = workers.client(0)
    late.consumer("orders", credit=10)
    ends.producer.go_on(delivery, REST, more=False)
    assert late.bodies == []
    ends.check_nothing_is_under_way()


@pytest.mark.parametrize("strips_in", [False, True])
def test_a_message_whose_first_frame_is_empty_is_routed_as_more_of_it_comes(strips_in):
    workers = Workers()
    client, consumer = workers.client(peer={"strips_in": strips_in}), workers.client()
    receiver = consumer.consumer("orders", credit=10)
    delivery = client.stream(client.producer("orders"), b"", ends=False)
    assert (outcome(delivery), consumer.partial) == ((None, False), [])
    client.go_on(delivery, OCTETS, more=False)
    assert consumer.received(receiver) == [OCTETS]


def test_a_message_settled_by_its_last_frame_is_settled(workers):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False)
    delivery.settle()
    workers.pump()
    ends.producer.go_on(delivery, REST, more=False)
    assert ends.received == [OCTETS]
    ends.consumer.latest(ends.receiver).accept()
    workers.pump()
    ends.check_nothing_is_under_way()


@pytest.mark.parametrize("settled", [False, True])
class TestTooLarge:
    def test_a_message_is_refused_before_it_leaves(self, settled):
        workers = Workers()
        ends = Ends(workers, max_message_size=100)
        delivery = ends.producer.send(ends.sender, OCTETS, settled=settled)
        self.check(ends, delivery, settled)

    def test_a_stream_is_aborted_where_it_passes_the_limit(self, settled):
        workers = Workers()
        ends = Ends(workers, max_message_size=100)
        delivery = ends.stream(FIRST, REST, settled=settled)
        assert ends.consumer.aborted == [ends.receiver.name]
        self.check(ends, delivery, settled)

    def test_a_message_that_waited_is_refused(self, settled):
        workers = Workers()
        ends = Ends(workers, max_message_size=100, credit=0)
        delivery = ends.stream(FIRST, REST, settled=settled)
        ends.receiver.grant(2)
        workers.pump()
        self.check(ends, delivery, settled)

    def check(self, ends, delivery, settled):
        assert ends.received == []
        if settled:
            [inlet] = ends.producer.peer.inlets
            assert (outcome(delivery), inlet.dropped_presettled) == ((None, False), 1)
        else:
            state, is_settled = outcome(delivery)
            assert (state.error.condition, is_settled) == ("amqp:link:message-size-exceeded", True)
            assert state.error.description == "the consumer takes messages of 100 octets at most"
        ends.check_nothing_is_under_way()
        ends.producer.send(ends.sender, message("small"))
        assert ends.received == [message("small")]


def test_many_frames_pass_without_being_kept(workers):
    ends = Ends(workers)
    delivery = ends.stream(FIRST, ends=False)
    for _ in range(100):
        ends.producer.go_on(delivery, b"x" * 100_000)
        del ends.consumer.bodies[:], ends.consumer.events[:]
    ends.producer.go_on(delivery, REST, more=False)
    assert len(ends.received[0]) == 10_000_000 + len(OCTETS)
