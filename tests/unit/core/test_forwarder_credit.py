"""Credit: who gets it and when, what becomes of messages when it is taken back, and drains."""

import pytest

from routerd.core import REACH_OCTETS
from routerd.wire import ACCEPTED, RELEASED, Source, Target
from tests.routers import Workers, message, outcome

CAPACITY, FABRIC_CAPACITY = 250, 1000


def addresses(workers, index=0):
    return workers[index].router.addresses


def test_a_producer_gets_credit_when_a_consumer_comes_and_none_before(workers):
    one, other = workers.ends()
    sender = one.producer("orders")
    assert sender.credit == 0
    other.consumer("orders")
    assert sender.credit == CAPACITY


def test_a_producer_gets_credit_at_once_where_a_consumer_is(workers):
    one, other = workers.ends()
    other.consumer("orders")
    assert one.producer("orders").credit == CAPACITY


def test_the_capacity_of_a_link_is_what_its_listener_says():
    workers = Workers()
    client = workers.client(peer={"capacity": 7})
    client.consumer("orders")
    assert client.producer("orders").credit == 7


def test_a_consumer_of_another_address_gives_no_credit(workers):
    one, other = workers.ends()
    sender = one.producer("orders")
    other.consumer("offers", credit=10)
    assert sender.credit == 0


def test_all_producers_get_credit_when_two_consumers_come_at_once():
    # Both attaches wait for the siblings to know, so neither is the only one when it is answered.
    workers = Workers(2)
    one, other = workers.ends()
    sender, remote = one.producer("orders"), other.producer("orders")
    workers.holds_confirmations = True
    first, second = other.consumer("orders"), other.consumer("orders")
    assert (first.is_attached, second.is_attached) == (False, False)
    workers.holds_confirmations = False
    workers.pump()
    assert (first.is_attached, second.is_attached) == (True, True)
    assert (sender.credit, remote.credit) == (CAPACITY, CAPACITY)


def test_credit_is_renewed_as_deliveries_are_settled(workers):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    for number in range(3 * CAPACITY):
        one.send(sender, message(str(number)))
        other.latest(receiver).accept()
    workers.pump()
    assert len(other.received(receiver)) == 3 * CAPACITY
    assert CAPACITY // 2 <= sender.credit <= CAPACITY


def test_all_credit_comes_back_once_all_is_settled(workers):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    sent = [one.send(sender, message(str(number))) for number in range(CAPACITY)]
    assert sender.credit == 0
    for delivery in other.unsettled[receiver.name]:
        delivery.accept()
    workers.pump()
    assert [outcome(each) for each in sent] == [(ACCEPTED, True)] * CAPACITY
    # What is less than a quarter comes with the next step.
    assert CAPACITY - CAPACITY // 4 <= sender.credit <= CAPACITY


def test_credit_is_renewed_as_settled_messages_leave(workers):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    for number in range(3 * CAPACITY):
        one.send(sender, message(str(number)), settled=True)
    assert other.received(receiver) == [message(str(number)) for number in range(3 * CAPACITY)]
    assert CAPACITY // 2 <= sender.credit <= CAPACITY


def test_credit_and_unsettled_deliveries_never_exceed_the_capacity():
    workers = Workers()
    one, other = workers.ends()
    other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    sent = []
    while sender.credit:
        sent.append(one.send(sender, message()))
        assert sender.credit + sender.unsettled_count <= CAPACITY
    assert len(sent) == CAPACITY


@pytest.mark.parametrize("settled", [False, True])
def test_what_waits_for_a_consumer_without_credit_uses_the_capacity_up(workers, settled):
    one, other = workers.ends()
    receiver = other.consumer("orders")
    sender = one.producer("orders")
    sent = []
    while sender.credit:
        sent.append(message(str(len(sent))))
        one.send(sender, sent[-1], settled=settled)
    # It waits where it came in, also when the consumer is at a sibling.
    assert len(sent) == CAPACITY
    assert other.received(receiver) == []
    receiver.grant(len(sent))
    workers.pump()
    assert other.received(receiver) == sent


def test_who_sends_settled_messages_keeps_step_with_its_consumers():
    workers = Workers()
    one, other = workers.ends()
    receivers = [other.consumer("orders", name, credit=CAPACITY >> 1) for name in ("a", "b")]
    sender = one.producer("orders")
    for number in range(CAPACITY):
        one.send(sender, message(str(number)), settled=True)
    # The consumers have used their credit up, and so nothing is granted that would only wait, but a few.
    ahead = sender.credit
    assert 0 < ahead <= CAPACITY >> 2
    for receiver in receivers:
        receiver.grant(CAPACITY >> 1)
    workers.pump()
    assert ahead < sender.credit <= CAPACITY
    assert sum(len(other.received(receiver)) for receiver in receivers) == CAPACITY


@pytest.mark.parametrize("settled", [False, True])
def test_who_has_one_consumer_is_ahead_of_it_by_its_capacity(settled):
    # What waits for a single consumer waits together, which costs little.
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=70)
    sender = one.producer("orders")
    sent = []
    while sender.credit:
        sent.append(message(str(len(sent))))
        one.send(sender, sent[-1], settled=settled)
    if settled:
        assert CAPACITY < len(sent) <= CAPACITY + 70
    else:
        assert len(sent) == CAPACITY
    receiver.grant(CAPACITY)
    workers.pump()
    assert other.received(receiver) == sent


def test_and_it_goes_on_whatever_its_consumers_do():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=3 * CAPACITY)
    sender = one.producer("orders")
    # It has sent, is held to the step of a consumer that leaves, and then there is another.
    for number in range(3 * CAPACITY):
        one.send(sender, message(str(number)), settled=True)
    assert len(other.received(receiver)) == 3 * CAPACITY
    held = one.producer("orders", "held")
    one.send(held, message("first"), settled=True)
    one.detach(held)
    other.detach(receiver)
    assert sender.credit == 0
    late = other.consumer("orders", credit=5)
    assert sender.credit > 0
    for number in range(20):
        one.send(sender, message(str(number)), settled=True)
        late.grant(1)
        workers.pump()
    assert len(other.received(late)) == 20


def test_a_producer_of_one_message_at_a_time_may_always_have_one_that_waits():
    workers = Workers()
    one, other = workers.client(peer={"capacity": 1}), workers.client()
    receiver = other.consumer("orders", credit=1)
    sender = one.producer("orders")
    one.send(sender, message("first"), settled=True)
    assert sender.credit == 1
    one.send(sender, message("second"), settled=True)
    assert sender.credit == 0
    receiver.grant(1)
    workers.pump()
    assert other.received(receiver) == [message("first"), message("second")]
    assert sender.credit == 1


def test_a_consumer_that_grants_one_by_one_gets_all_that_is_settled():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=1)
    sender = one.producer("orders")
    sent = []
    while len(sent) < 2 * CAPACITY:
        while sender.credit and len(sent) < 2 * CAPACITY:
            sent.append(message(str(len(sent))))
            one.send(sender, sent[-1], settled=True)
        receiver.grant(1)
        workers.pump()
    receiver.grant(2 * CAPACITY)
    workers.pump()
    assert other.received(receiver) == sent


def test_the_credit_is_taken_back_when_the_last_consumer_leaves(workers):
    one, other = workers.ends()
    first, second = other.consumer("orders", credit=1), other.consumer("orders", credit=1)
    sender = one.producer("orders")
    other.detach(first)
    assert sender.credit == CAPACITY
    other.detach(second)
    assert sender.credit == 0
    other.consumer("orders")
    assert sender.credit == CAPACITY


def test_what_a_producer_has_queued_gets_its_outcome_when_the_last_consumer_leaves(workers):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10)
    sender = one.producer("orders")
    for _ in range(10):
        one.send(sender, message())
        other.latest(receiver).accept()
        workers.pump()
    assert sender.credit == CAPACITY - 10
    one.returns_credit = False
    other.detach(receiver)
    assert (sender.credit, sender.drain) == (CAPACITY, True)
    queued = [one.send(sender, message()) for _ in range(3)]
    sender.drained()
    workers.pump()
    assert [outcome(each) for each in queued] == [(RELEASED, True)] * 3
    [inlet] = addresses(workers)["M0orders"].inlets
    assert inlet.link.credit == 0


def test_a_producer_keeps_its_credit_if_a_consumer_comes_before_it_was_returned(workers):
    one, other = workers.ends()
    sender = one.producer("orders")
    one.returns_credit = False
    other.detach(other.consumer("orders", credit=10))
    assert sender.drain
    receiver = other.consumer("orders", credit=1)
    assert (sender.credit, sender.drain) == (CAPACITY, False)
    # Or it returns its credit while the flow is under way that lets it keep it.
    other.detach(receiver)
    one.line.holds.add(one.server)
    sender.drained()
    other.consumer("orders", credit=1)
    one.line.holds.clear()
    workers.pump()
    assert sender.credit == CAPACITY


def test_credit_that_a_producer_does_not_return_is_taken_back(workers):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10)
    sender = one.producer("orders")
    one.returns_credit = False
    other.detach(receiver)
    pass_time(workers, 0.5)
    assert (sender.credit, sender.drain) == (CAPACITY, True)
    pass_time(workers, 1.5)
    assert (sender.credit, sender.drain) == (0, False)
    other.consumer("orders", credit=10)
    assert sender.credit == CAPACITY
    pass_time(workers, 2.0)
    assert sender.credit == CAPACITY


def pass_time(workers, seconds):
    workers.pump(seconds)
    for worker in workers.workers.values():
        worker.router.each_second(workers.now)
    workers.pump()


def test_a_producer_of_settled_messages_waits_without_credit(workers):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10)
    sender = one.producer("orders", snd_settle_mode=1)
    one.returns_credit = False
    other.detach(receiver)
    assert (sender.credit, sender.drain) == (0, False)


def test_a_consumer_that_loses_its_connection_takes_the_credit_back(workers):
    one, other = workers.ends()
    other.consumer("orders", credit=1)
    sender = one.producer("orders")
    other.vanish()
    assert sender.credit == 0


@pytest.mark.parametrize("settled", [False, True])
def test_what_arrives_on_earlier_credit_is_released_at_once(workers, settled):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10)
    sender = one.producer("orders")
    one.line.holds.add(one.server)
    other.detach(receiver)
    deliveries = [one.send(sender, message(), settled=settled) for _ in range(3)]
    one.line.holds.clear()
    workers.pump()
    expected = (None, False) if settled else (RELEASED, True)
    assert [outcome(each) for each in deliveries] == [expected] * 3
    assert sender.credit == 0
    [inlet] = addresses(workers)["M0orders"].inlets
    assert inlet.dropped_presettled == 3 * settled


@pytest.mark.parametrize("settled", [False, True])
def test_what_waits_is_released_when_the_last_consumer_leaves(workers, settled):
    one, other = workers.ends()
    receiver = other.consumer("orders")
    sender = one.producer("orders")
    deliveries = [one.send(sender, message(), settled=settled) for _ in range(3)]
    assert [outcome(each) for each in deliveries] == [(None, False)] * 3
    other.detach(receiver)
    expected = (None, False) if settled else (RELEASED, True)
    assert [outcome(each) for each in deliveries] == [expected] * 3
    assert sender.credit == 0
    # The whole capacity is free for the next consumer.
    other.consumer("orders")
    assert sender.credit == CAPACITY


def test_what_waits_goes_to_the_consumers_that_stay():
    workers = Workers()
    one, other = workers.ends()
    leaving = other.consumer("orders")
    sender = one.producer("orders")
    one.send(sender, message())
    staying = one.consumer("orders")
    other.detach(leaving)
    staying.grant(1)
    workers.pump()
    assert one.received(staying) == [message()]


def test_what_waits_for_a_consumer_that_leaves_goes_to_one_at_another_worker():
    workers = Workers(2)
    one, other = workers.ends()
    leaving = other.consumer("orders")
    sender = one.producer("orders")
    delivery = one.send(sender, message())
    staying = one.consumer("orders")
    other.detach(leaving)
    assert outcome(delivery) == (None, False)
    staying.grant(1)
    workers.pump()
    assert one.received(staying) == [message()]


def test_a_consumer_with_credit_is_not_held_up_by_one_without_at_another_worker():
    workers = Workers(2)
    one, other = workers.ends()
    other.consumer("orders")
    ready = one.consumer("orders", credit=10)
    sender = one.producer("orders")
    for number in range(10):
        one.send(sender, message(str(number)))
    assert len(one.received(ready)) == 10


def test_siblings_get_no_more_credit_than_consumers_have():
    workers = Workers(2)
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=5)
    one.producer("orders")
    [inlet] = workers[1].router.addresses["M0orders"].fabric_inlets
    assert inlet.link.credit == 5
    receiver.set_credit(0)
    other.send(other.producer("orders"), message())
    workers.pump()
    assert inlet.link.credit == 5  # nothing of its waits
    far = one.send(one.producer("orders"), message())
    workers.pump()
    assert (inlet.link.credit, outcome(far)) == (0, (None, False))


def test_credit_that_a_producer_gives_back_is_granted_anew():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=1000)
    sender = one.producer("orders")
    [inlet] = addresses(workers)["M0orders"].inlets
    # A drain that we never ask for, told unasked.
    sender.delivery_count += sender.credit
    sender.credit = 0
    sender.session.send_flow(sender)
    workers.pump()
    assert (inlet.link.credit, sender.credit) == (CAPACITY, CAPACITY)
    one.send(sender, message())
    assert len(other.received(receiver)) == 1


@pytest.mark.parametrize("waiting", [0, 2, 5])
def test_a_drain_is_answered_when_what_waits_has_been_sent(workers, waiting):
    one, other = workers.ends()
    receiver = other.consumer("orders")
    sender = one.producer("orders")
    for _ in range(waiting):
        one.send(sender, message())
    receiver.set_credit(3, drain=True)
    workers.pump()
    assert receiver.credit == 0
    assert len(other.received(receiver)) == min(3, waiting)


def test_a_drain_that_comes_before_the_attach_is_answered_is_answered_after_it(workers):
    _one, other = workers.ends()
    receiver = other.session.receiver("r")
    receiver.set_credit(5, drain=True)
    workers.holds_confirmations = True
    receiver.attach(source=Source(address="orders"), target=Target())
    workers.pump()
    workers.holds_confirmations = False
    workers.pump()
    assert (receiver.is_attached, receiver.credit) == (True, 0)


def test_a_drain_waits_for_the_room_that_messages_need():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders")
    sender = one.producer("orders")
    workers[0].router.set_blocked(other.peer, True)
    one.send(sender, message())
    receiver.set_credit(3, drain=True)
    workers.pump()
    assert (receiver.credit, other.received(receiver)) == (3, [])
    workers[0].router.set_blocked(other.peer, False)
    workers.pump()
    assert (receiver.credit, other.received(receiver)) == (0, [message()])


def test_credit_of_a_consumer_can_be_taken_back():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=5)
    sender = one.producer("orders")
    receiver.set_credit(0)
    workers.pump()
    one.send(sender, message())
    assert other.received(receiver) == []
    receiver.set_credit(1)
    workers.pump()
    assert other.received(receiver) == [message()]


def test_waiting_messages_keep_their_order(workers):
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=1)
    sender = one.producer("orders")
    for number in range(20):
        one.send(sender, message(str(number)))
    for _ in range(19):
        receiver.grant(1)
        workers.pump()
    assert other.received(receiver) == [message(str(number)) for number in range(20)]


def test_messages_of_siblings_take_turns_with_those_that_wait_here():
    workers = Workers(2)
    one, other = workers.ends()
    receiver = other.consumer("orders")
    far, near = one.producer("orders"), other.producer("orders")
    for number in range(6):
        one.send(far, message(f"far {number}"))
        other.send(near, message(f"near {number}"))
    for _ in range(6):
        receiver.grant(1)
        workers.pump()
    theirs = [message(f"far {number}") for number in range(6)]
    assert 2 <= len([octets for octets in other.received(receiver) if octets in theirs]) <= 4
    receiver.grant(6)
    workers.pump()
    assert len(other.received(receiver)) == 12


# --- large messages

LARGE = message("x" * (1 << 16))
REACH = REACH_OCTETS // len(LARGE)


def send_as_long_as_there_is_credit(client, sender, octets, count, settled=False):
    """Send up to so many messages; return the credit that was left before each."""
    credits = []
    while sender.credit and len(credits) < count:
        credits.append(sender.credit)
        client.send(sender, octets, settled=settled)
    return credits


@pytest.mark.parametrize("settled", [False, True])
def test_a_producer_of_large_messages_has_credit_for_few(settled):
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    credits = []
    for _ in range(3 * CAPACITY):
        credits += send_as_long_as_there_is_credit(one, sender, LARGE, 1, settled)
        if not settled:
            other.latest(receiver).accept()
        workers.pump()
    assert len(other.received(receiver)) == len(credits) == 3 * CAPACITY
    # What it was given before it sent anything, it has.
    assert credits[0] == CAPACITY
    assert 0 < min(credits[CAPACITY:]) <= max(credits[CAPACITY:]) <= REACH


def test_a_producer_whose_messages_are_small_again_has_credit_for_many():
    workers = Workers()
    one, other = workers.ends()
    other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    for octets in (LARGE, message()):
        for _ in range(2 * CAPACITY):
            one.send(sender, octets, settled=True)
    assert CAPACITY // 2 <= sender.credit <= CAPACITY


def test_a_producer_far_away_has_credit_for_more_large_messages():
    workers = Workers()
    one, other = workers.ends()
    one.peer.reach_octets = 4 * REACH_OCTETS
    other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    credits = send_as_long_as_there_is_credit(one, sender, LARGE, 3 * CAPACITY, settled=True)
    assert REACH < max(credits[CAPACITY:]) <= 4 * REACH_OCTETS // len(LARGE)


def test_a_consumer_may_settle_as_late_whether_messages_are_large_or_not():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    for _ in range(3):
        # Nothing is settled before all that may be under way has come, but for what is not worth a flow.
        sent = len(send_as_long_as_there_is_credit(one, sender, LARGE, 1000))
        assert CAPACITY - (REACH >> 2) <= sent <= CAPACITY
        for delivery in other.unsettled[receiver.name][-sent:]:
            delivery.accept()
        workers.pump()


def test_few_large_messages_wait_and_their_producer_goes_on_when_they_have_left():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=CAPACITY)
    sender = one.producer("orders")
    sent = len(send_as_long_as_there_is_credit(one, sender, LARGE, CAPACITY, settled=True))
    # The consumer takes no more, so some wait, and no more than that.
    sent += len(send_as_long_as_there_is_credit(one, sender, LARGE, 1000))
    assert sender.credit == 0
    assert CAPACITY < sent <= CAPACITY + REACH
    for _ in range(10):
        before = sent
        # None of these is settled, and yet there is credit for more.
        receiver.grant(REACH >> 1)
        workers.pump()
        sent += len(send_as_long_as_there_is_credit(one, sender, LARGE, 1000))
        assert before < sent <= before + REACH
    assert len(other.received(receiver)) == CAPACITY + 10 * (REACH >> 1)


def test_a_producer_of_the_largest_messages_sends_ahead_all_the_same():
    workers = Workers()
    one = workers.client(peer={"capacity": 16})
    receiver = one.consumer("orders", credit=100)
    sender = one.producer("orders")
    octets = message("x" * REACH_OCTETS)
    credits = send_as_long_as_there_is_credit(one, sender, octets, 40, settled=True)
    assert len(one.received(receiver)) == len(credits) == 40
    assert credits[0] == 16
    assert 1 < max(credits[16:]) <= 4


def test_a_large_message_that_has_come_in_part_says_nothing_of_their_size():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    for _ in range(2 * CAPACITY):
        one.send(sender, LARGE)
        other.latest(receiver).accept()
    workers.pump()
    one.send(sender, LARGE)
    for _ in range(REACH):
        streamed = one.stream(sender, LARGE[:100], ends=False)
        other.latest(receiver).accept()
        workers.pump()
        assert sender.credit <= REACH
        one.go_on(streamed, LARGE[100:], more=False)


def send_together(client, sender, other, receiver, octets, count, is_accepted=True):
    """Send so many messages, which arrive in one piece."""
    for _ in range(count):
        sender.send(octets)
    client.pump()
    if is_accepted:
        for delivery in other.unsettled[receiver.name][-count:]:
            delivery.accept()
        client.pump()


def test_messages_in_one_frame_that_come_together_count_as_well():
    workers = Workers()
    one, other = workers.ends()
    receiver = other.consumer("orders", credit=10_000)
    sender = one.producer("orders")
    octets = message("x" * 15_000)
    reach = REACH_OCTETS // len(octets)
    for number in range(40):
        send_together(workers, sender, other, receiver, octets, min(sender.credit, 20))
        assert sender.credit <= (reach if number > 20 else CAPACITY)
    while sender.credit < reach - 1:
        send_together(workers, sender, other, receiver, octets, 1)
    # There is credit for more than that though none is settled.
    sent = 0
    while sent < CAPACITY - (reach >> 2):
        assert sender.credit
        count = sender.credit
        send_together(workers, sender, other, receiver, octets, count, is_accepted=False)
        sent += count
    assert sent <= CAPACITY


def test_who_sends_large_messages_to_two_is_ahead_of_them_by_less():
    workers = Workers()
    one, other = workers.ends()
    for name in "ab":
        other.consumer("orders", name, credit=CAPACITY)
    sender = one.producer("orders")
    send_as_long_as_there_is_credit(one, sender, LARGE, 2 * CAPACITY, settled=True)
    # Both have used their credit up.
    assert 0 < sender.credit <= REACH >> 2


def test_a_small_message_between_large_ones_changes_little():
    workers = Workers()
    one, other = workers.ends()
    other.consumer("orders", credit=CAPACITY)
    sender = one.producer("orders")
    waiting = -CAPACITY
    while sender.credit:
        one.send(sender, message() if waiting % 8 == 0 else LARGE, settled=True)
        waiting += 1
    assert 0 < waiting <= 2 * REACH
