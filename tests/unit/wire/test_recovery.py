"""Links that are attached again after the transport broke, and what becomes of their deliveries."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.connection import Connection
from routerd.wire.connection_config import ConnectionConfig
from routerd.wire.handler import Handler
from routerd.wire.outcomes import ACCEPTED, RELEASED, Received
from routerd.wire.recovery import RecoveredDelivery, Recovery, plan_recovery
from tests.endpoints import Pair
from tests.unit.wire.attached import SOURCE, TARGET, attached

PART = Received(section_number=0, section_offset=4)


def suspended(*states, is_sender=True):
    """A new endpoint that took over a delivery in each state, by tags a, b, c..."""
    link = attached(credit=len(states), rcv_settle_mode=1)
    for number, _ in enumerate(states):
        link.sender.send(b"m", bytes([ord("a") + number]))
    link.pair.pump()
    link.pair.client.transport_closed()
    link.pair.server.transport_closed()
    earlier = link.sender if is_sender else link.receiver
    for delivery, state in zip(earlier.suspended.values(), states, strict=True):
        if state is not None:
            delivery.update(state, False)
    pair = Pair().open()
    session = pair.session()
    later = session.sender("l") if is_sender else session.receiver("l")
    later.take_over(earlier)
    return later


# The plan

OURS = [None, PART, ACCEPTED]


@pytest.mark.parametrize("ours", OURS)
@pytest.mark.parametrize(
    ("theirs", "recovery"), [(None, "RESUME"), (PART, "RESUME"), (ACCEPTED, "CONFIRM"), (RELEASED, "CONFIRM")]
)
def test_a_sender_goes_on_from_what_the_receiver_has(ours, theirs, recovery):
    link = suspended(ours)
    (delivery,) = link.suspended.values()
    expected = Recovery.CONFIRM if ours is ACCEPTED else Recovery[recovery]
    assert plan_recovery(link, {b"a": theirs}) == [RecoveredDelivery(delivery, expected, theirs)]


@pytest.mark.parametrize(("ours", "recovery"), [(None, "RESEND"), (PART, "RESEND"), (ACCEPTED, "FORGET")])
@pytest.mark.parametrize("unsettled", [None, {}, {b"other": ACCEPTED}])
def test_a_sender_sends_anew_what_the_receiver_does_not_know(ours, recovery, unsettled):
    link = suspended(ours)
    (delivery,) = link.suspended.values()
    assert plan_recovery(link, unsettled) == [RecoveredDelivery(delivery, Recovery[recovery], None)]


@pytest.mark.parametrize("ours", OURS)
@pytest.mark.parametrize("theirs", [None, PART, ACCEPTED])
def test_a_receiver_awaits_what_the_sender_knows(ours, theirs):
    link = suspended(ours, is_sender=False)
    (delivery,) = link.suspended.values()
    assert plan_recovery(link, {b"a": theirs}) == [RecoveredDelivery(delivery, Recovery.AWAIT, theirs)]


@pytest.mark.parametrize("ours", OURS)
def test_a_receiver_forgets_what_the_sender_settled(ours):
    link = suspended(ours, is_sender=False)
    (delivery,) = link.suspended.values()
    assert plan_recovery(link, {}) == [RecoveredDelivery(delivery, Recovery.FORGET, None)]


@pytest.mark.parametrize("is_sender", [True, False])
def test_nothing_is_known_of_what_an_incomplete_map_leaves_out(is_sender):
    link = suspended(None, None, is_sender=is_sender)
    one, other = link.suspended.values()
    assert plan_recovery(link, {b"b": ACCEPTED}, is_incomplete=True) == [
        RecoveredDelivery(one, Recovery.UNKNOWN, None),
        RecoveredDelivery(other, Recovery.CONFIRM if is_sender else Recovery.AWAIT, ACCEPTED),
    ]


def test_a_link_that_took_nothing_over_has_nothing_to_recover():
    assert plan_recovery(attached().sender, {b"a": ACCEPTED}) == []


# Breaks


class Consumer(Handler):
    """Takes messages, each exactly once, with deliveries that the sender settles first; outlives connections."""

    def __init__(self):
        self.taken = []
        self.link = None

    def on_opened(self, connection, performative):
        connection.open()

    def on_session_begun(self, session, performative):
        session.begin()

    def on_link_attached(self, link, performative):
        if self.link is not None:
            link.take_over(self.link)
        self.link = link
        link.attach(source=performative.source, target=performative.target)
        plan = plan_recovery(link, performative.unsettled, is_incomplete=performative.incomplete_unsettled)
        for each in plan:
            if each.recovery is Recovery.FORGET:
                each.delivery.settle()
        link.grant(1000)

    def on_transfer(self, receiver, delivery, data, start, end):
        if delivery.size == end - start:
            delivery.context = b""
        delivery.context += bytes(data[start:end])
        if delivery.is_partial or delivery.settled:
            return
        if delivery.remote_settled:
            delivery.settle()
            return
        if delivery.state is None:
            self.taken.append(delivery.context)
        delivery.update(ACCEPTED, False)

    def on_disposition(self, delivery):
        if delivery.remote_settled and not delivery.settled:
            delivery.settle()


class Producer(Handler):
    """Keeps messages until the receiver has accepted them; outlives connections."""

    def __init__(self, bodies):
        self.unsent = dict(enumerate(bodies))
        self.sent = {}
        self.link = None

    def on_opened(self, connection, performative):
        connection.session().begin()

    def on_session_begun(self, session, performative):
        link = session.sender("l")
        if self.link is not None:
            link.take_over(self.link)
        self.link = link
        link.attach(source=SOURCE, target=TARGET, rcv_settle_mode=1)

    def on_link_attached(self, link, performative):
        known = {delivery.context for delivery in (link.suspended or {}).values()}
        for number in [number for number in self.sent if number not in known]:
            self.unsent[number] = self.sent.pop(number)
        self.plan = plan_recovery(link, performative.unsettled, is_incomplete=performative.incomplete_unsettled)

    def on_link_flow(self, link):
        for each in self.plan:
            self.recover(link, each)
        self.plan = []
        if link.is_incomplete:
            link.detach(closed=False)
            return
        for number in sorted(self.unsent):
            self.sent[number] = self.unsent.pop(number)
            link.send(self.sent[number], context=number)

    def recover(self, link, each):
        delivery, number = each.delivery, each.delivery.context
        if each.recovery is Recovery.RESEND:
            delivery.settle()
            self.unsent[number] = self.sent.pop(number)
        elif each.recovery is Recovery.RESUME:
            link.resume(delivery, self.sent[number])
        elif each.recovery is Recovery.CONFIRM:
            link.resume(delivery, state=each.remote_state, settled=True)
            del self.sent[number]
        elif each.recovery is Recovery.FORGET:
            delivery.settle()
            del self.sent[number]

    def on_link_detached(self, link, closed, error):
        # The maps were incomplete: attach again, for the rest of them.
        if link.session.is_open:
            self.on_session_begun(link.session, None)

    def on_disposition(self, delivery):
        if delivery.remote_state is not None and not delivery.settled:
            delivery.settle()
            del self.sent[delivery.context]


class Life:
    """One connection between a producer and a consumer, until its transport breaks."""

    def __init__(self, producer, consumer, **config):
        self.client = Connection(ConnectionConfig(container_id="p", **config), producer, is_client=True)
        self.server = Connection(ConnectionConfig(container_id="c", **config), consumer, is_client=False)
        self.server.start(0.0)
        self.client.start(0.0)
        self.client.open()
        self.upward, self.downward = bytearray(), bytearray()

    def step(self, count):
        """Carry so many octets at most, each way; return whether there were any."""
        self.upward += self.client.data_to_send(0.0)
        self.downward += self.server.data_to_send(0.0)
        up, down = bytes(self.upward[:count]), bytes(self.downward[:count])
        del self.upward[:count], self.downward[:count]
        self.server.receive_data(up, 0.0)
        self.client.receive_data(down, 0.0)
        return bool(up or down)

    def last(self):
        """Carry all there is to carry."""
        for _ in range(1000):
            if not self.step(100_000):
                return
        raise AssertionError("the two never fall silent")

    def end(self):
        self.client.transport_closed()
        self.server.transport_closed()


def check_nothing_is_left(life, producer, consumer):
    assert (producer.unsent, producer.sent) == ({}, {})
    assert (producer.link.suspended or {}, consumer.link.suspended or {}) == ({}, {})
    ends = (producer.link.session, consumer.link.session)
    assert [(end.outgoing.count, end.incoming.count) for end in ends] == [(0, 0)] * 2
    life.end()


lives = st.lists(st.lists(st.integers(1, 4000), min_size=1, max_size=12), max_size=5)


@settings(max_examples=300)
@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=8),
    lives,
    st.sampled_from([{}, {"max_frame_size": 512}, {"incoming_window": 2}]),
)
def test_whatever_breaks_each_message_is_taken_exactly_once(sizes, broken, config):
    bodies = [bytes([number]) * size for number, size in enumerate(sizes)]
    producer, consumer = Producer(bodies), Consumer()
    for steps in broken:
        life = Life(producer, consumer, **config)
        for count in steps:
            life.step(count)
        life.end()
    life = Life(producer, consumer, **config)
    life.last()
    assert sorted(consumer.taken) == sorted(bodies)
    check_nothing_is_left(life, producer, consumer)


def test_maps_too_large_for_a_frame_are_worked_off_by_attaching_again():
    bodies = [b"%d" % number for number in range(300)]
    producer, consumer = Producer(bodies), Consumer()
    life = Life(producer, consumer)
    while len(consumer.taken) < 200:
        life.upward += life.client.data_to_send(0.0)
        life.server.receive_data(bytes(life.upward[:1000]), 0.0)
        del life.upward[:1000]
        if not consumer.taken:
            life.downward += life.server.data_to_send(0.0)
            life.client.receive_data(bytes(life.downward), 0.0)
            life.downward.clear()
    life.end()
    assert len(producer.link.suspended) == 300
    life = Life(producer, consumer, max_frame_size=512)
    life.last()
    assert sorted(consumer.taken) == sorted(bodies)
    check_nothing_is_left(life, producer, consumer)
