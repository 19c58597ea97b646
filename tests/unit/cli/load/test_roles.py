"""The roles of links, over two engines that are joined in memory."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from routerd.cli.load.meter import NEVER_NS, Meter
from routerd.cli.load.roles import Consuming, Producing, Requesting, Responding, Role, Standing
from routerd.cli.load.tally import Tally
from routerd.wire import (
    ACCEPTED,
    AmqpValue,
    Connection,
    Handler,
    LinkState,
    Message,
    Properties,
    SessionState,
    Source,
    Target,
)
from tests.endpoints import Pair

ROOM = 1 << 17
HOUR_NS = 3_600_000_000_000
MINUTE_NS = HOUR_NS // 60


class Acting(Handler):
    """Hands to the roles of its links what they are told, as a line does."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter

    def on_link_attached(self, link: Any, performative: Any) -> None:
        link.context.attached(link)

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        receiver.context.take(receiver, delivery, data, start, end)

    def on_disposition(self, delivery: Any) -> None:
        if not delivery.is_incoming:
            self.meter.settle(delivery)


class Peer(Handler):
    """The other end: accepts what the test tells it to, and keeps the links and deliveries."""

    def __init__(self) -> None:
        self.links: dict[str, Any] = {}
        self.deliveries: list[Any] = []
        self.messages: list[bytes] = []

    def on_opened(self, connection: Connection, performative: Any) -> None:
        connection.open()

    def on_session_begun(self, session: Any, performative: Any) -> None:
        if session.state is SessionState.BEGIN_RCVD:
            session.begin()

    def on_link_attached(self, link: Any, performative: Any) -> None:
        self.links[link.name] = link
        if link.state is LinkState.ATTACH_RCVD:
            source = performative.source
            if source is not None and source.dynamic:
                source = Source(address="temporary", dynamic=True)
            link.attach(source=source, target=performative.target)

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        self.deliveries.append(delivery)
        self.messages.append(bytes(data[start:end]))


class Joined:
    """A client with roles, and a peer."""

    def __init__(self, **options: Any) -> None:
        self.meter = Meter()
        self.meter.measure_from_ns = 0
        self.meter.is_sending = True
        self.peer = Peer()
        self.pair = Pair(client_handler=Acting(self.meter), server_handler=self.peer, **options).open()
        self.session = self.pair.session()

    def start(self, role: Role) -> dict[str, Any]:
        """Attach the links of a role, and return the peer's ends of them."""
        role.start(self.session)
        self.pair.pump()
        return self.peer.links

    def turn(self, role: Role, room: int = ROOM) -> bool:
        """Pump a role, and carry what came of it."""
        is_hungry = role.pump(room)
        self.pair.pump()
        return is_hungry

    def counted(self) -> Tally:
        return self.meter.tally()


@pytest.fixture
def joined() -> Joined:
    return Joined()


def producing(joined: Joined, *, size: int = 100, is_settled: bool = False, interval_ns: int = 0) -> Producing:
    return Producing(joined.meter, "sender", "queue", size, is_settled, interval_ns)


def test_a_producer_sends_as_many_messages_as_it_has_credit(joined: Joined) -> None:
    role = producing(joined)
    assert (role.is_ready, joined.turn(role)) == (False, False)
    joined.start(role)["sender"].grant(3)
    joined.pair.pump()
    assert (role.is_ready, joined.turn(role)) == (True, False)
    assert [delivery.settled for delivery in joined.peer.deliveries] == [False] * 3
    assert (joined.counted().sent, joined.meter.outstanding) == (3, 3)
    assert joined.peer.links["sender"].target == Target(address="queue")


def test_a_producer_stops_where_the_output_has_no_room_and_says_so(joined: Joined) -> None:
    role = producing(joined)
    joined.start(role)["sender"].grant(1000)
    joined.pair.pump()
    assert joined.turn(role, room=1000) is True
    assert 1000 // 140 <= len(joined.peer.deliveries) <= 1000 // 100


def test_a_producer_does_not_queue_beyond_the_window_of_its_peer() -> None:
    joined = Joined(server={"incoming_window": 2})
    role = producing(joined, size=100_000)
    joined.start(role)["sender"].grant(5)
    joined.pair.pump()
    role.pump(1 << 30)
    assert (joined.session.has_backlog, joined.counted().sent) == (True, 2)
    role.pump(1 << 30)
    assert joined.counted().sent == 2


@pytest.mark.parametrize(
    ("decide", "counter"),
    [
        (lambda delivery: delivery.accept(), "accepted"),
        (lambda delivery: delivery.release(), "released"),
        (lambda delivery: delivery.reject(), "rejected"),
        (lambda delivery: delivery.modify(delivery_failed=True), "modified"),
        (lambda delivery: delivery.settle(), "other"),
    ],
)
def test_each_outcome_is_counted(joined: Joined, decide: Callable[[Any], None], counter: str) -> None:
    role = producing(joined)
    joined.start(role)["sender"].grant(2)
    joined.pair.pump()
    joined.turn(role)
    decide(joined.peer.deliveries[0])
    joined.pair.pump()
    tally = joined.counted()
    assert (getattr(tally, counter), tally.settled, joined.meter.outstanding) == (1, 1, 1)


def test_an_outcome_that_the_receiver_leaves_unsettled_is_settled_by_us(joined: Joined) -> None:
    role = producing(joined)
    joined.start(role)["sender"].grant(1)
    joined.pair.pump()
    joined.turn(role)
    (delivery,) = joined.peer.deliveries
    delivery.update(ACCEPTED, False)
    joined.pair.pump()
    assert (joined.counted().accepted, joined.meter.outstanding, delivery.remote_settled) == (1, 0, True)


def test_a_state_that_is_no_outcome_is_not_counted(joined: Joined) -> None:
    role = producing(joined)
    joined.start(role)["sender"].grant(1)
    joined.pair.pump()
    joined.turn(role)
    joined.peer.deliveries[0].update(None, False)
    joined.pair.pump()
    assert (joined.counted().settled, joined.meter.outstanding) == (0, 1)


def test_presettled_messages_have_no_outcome(joined: Joined) -> None:
    role = producing(joined, is_settled=True)
    joined.start(role)["sender"].grant(2)
    joined.pair.pump()
    joined.turn(role)
    assert [delivery.remote_settled for delivery in joined.peer.deliveries] == [True, True]
    assert (joined.counted().sent, joined.meter.outstanding) == (2, 0)


def test_sending_ends_with_the_quota(joined: Joined) -> None:
    role = producing(joined)
    joined.meter.quota = 2
    joined.start(role)["sender"].grant(5)
    joined.pair.pump()
    joined.turn(role)
    assert (joined.counted().sent, joined.meter.is_sending, joined.turn(role)) == (2, False, False)


def test_sending_ends_when_the_time_is_over(joined: Joined) -> None:
    role = producing(joined)
    joined.meter.until_ns = time.monotonic_ns()
    joined.start(role)["sender"].grant(5)
    joined.pair.pump()
    joined.turn(role)
    assert (joined.counted().sent, joined.meter.is_sending) == (0, False)


def test_the_warm_up_is_counted_apart_with_its_outcomes(joined: Joined) -> None:
    role = producing(joined)
    joined.meter.measure_from_ns = NEVER_NS
    joined.start(role)["sender"].grant(2)
    joined.pair.pump()
    joined.turn(role)
    joined.peer.deliveries[0].accept()
    joined.peer.deliveries[1].release()
    joined.pair.pump()
    tally = joined.counted()
    assert (tally.sent, tally.settled, joined.meter.outstanding) == (0, 0, 0)
    assert (tally.warmup_sent, tally.unmeasured_refused) == (2, 1)


def test_at_a_rate_only_what_is_due_is_sent_and_stamped_with_when_it_was_due(joined: Joined) -> None:
    role = producing(joined, interval_ns=MINUTE_NS)
    joined.start(role)["sender"].grant(5)
    joined.pair.pump()
    # The clock may have begun with the machine, and that lately.
    first_ns = time.monotonic_ns() - 2 * MINUTE_NS - MINUTE_NS // 2
    role.schedule(first_ns)
    joined.turn(role)
    stamps = [int.from_bytes(message[8:16], "little") for message in joined.peer.messages]
    assert stamps == [first_ns + number * MINUTE_NS for number in range(3)]
    assert role.due_ns() == first_ns + 3 * MINUTE_NS


def test_a_producer_that_cannot_send_is_not_due(joined: Joined) -> None:
    role = producing(joined, interval_ns=HOUR_NS)
    role.schedule(5)
    joined.start(role)
    assert (role.is_ready, role.due_ns()) == (True, 0)


def test_a_consumer_accepts_measures_and_tops_up_its_credit_at_half(joined: Joined) -> None:
    role = Consuming(joined.meter, "receiver", "queue", 4)
    sender = joined.start(role)["receiver"]
    assert (role.is_ready, sender.credit, sender.source) == (True, 4, Source(address="queue"))
    deliveries = [sender.send(message_with_stamp(time.monotonic_ns())) for _ in range(2)]
    joined.pair.pump()
    assert [delivery.remote_state for delivery in deliveries] == [ACCEPTED, ACCEPTED]
    assert (sender.credit, joined.counted().received, joined.counted().latency.count) == (4, 2, 2)


def test_a_consumer_counts_presettled_and_foreign_messages_and_no_latency_without_a_stamp(joined: Joined) -> None:
    sender = joined.start(Consuming(joined.meter, "receiver", "queue", 4))["receiver"]
    sender.send(message_with_stamp(time.monotonic_ns()), settled=True)
    sender.send(Message(body=AmqpValue("text")).encode())
    joined.pair.pump()
    assert (joined.counted().received, joined.counted().latency.count) == (2, 1)


def test_a_consumer_takes_a_message_in_parts_and_forgets_one_that_is_aborted(joined: Joined) -> None:
    sender = joined.start(Consuming(joined.meter, "receiver", "queue", 4))["receiver"]
    stamped = message_with_stamp(time.monotonic_ns() - MINUTE_NS) + bytes(100)
    for is_aborted in (False, True):
        delivery = sender.begin()
        sender.write(delivery, stamped, 0, 40, True)
        joined.pair.pump()
        if is_aborted:
            sender.abort(delivery)
        else:
            sender.write(delivery, stamped, 40, len(stamped), False)
        joined.pair.pump()
    tally = joined.counted()
    assert (tally.received, tally.latency.count, tally.latency.least >= MINUTE_NS) == (1, 1, True)


def test_a_consumer_leaves_the_messages_of_the_warm_up_out(joined: Joined) -> None:
    joined.meter.measure_from_ns = 1_000
    sender = joined.start(Consuming(joined.meter, "receiver", "queue", 4))["receiver"]
    sender.send(message_with_stamp(999))
    sender.send(message_with_stamp(1_000))
    joined.pair.pump()
    assert (joined.counted().warmup_received, joined.counted().received) == (1, 1)


def test_a_requester_keeps_its_number_of_requests_in_flight_and_measures_the_replies(joined: Joined) -> None:
    role = Requesting(joined.meter, "requester", "service", 20, False, 2, 10)
    links = joined.start(role)
    assert (role.is_ready, role.pump(ROOM)) == (True, False)
    links["requester"].grant(10)
    joined.pair.pump()
    joined.turn(role)
    requests = [Message.decode(message) for message in joined.peer.messages]
    assert [request.properties.reply_to for request in requests] == ["temporary"] * 2
    joined.peer.deliveries[0].accept()
    links["requester-replies"].send(joined.peer.messages[0])
    joined.pair.pump()
    joined.turn(role)
    tally = joined.counted()
    assert (tally.sent, tally.received, tally.accepted, tally.latency.count) == (3, 1, 1, 1)


def test_a_requester_stops_where_the_output_has_no_room(joined: Joined) -> None:
    role = Requesting(joined.meter, "requester", "service", 100, True, 50, 100)
    joined.start(role)["requester"].grant(100)
    joined.pair.pump()
    assert joined.turn(role, room=500) is True
    assert 0 < joined.counted().sent < 50


def test_a_requester_tops_up_the_credit_of_its_replies(joined: Joined) -> None:
    role = Requesting(joined.meter, "requester", "service", 20, True, 1, 2)
    replies = joined.start(role)["requester-replies"]
    replies.send(message_with_stamp(time.monotonic_ns()), settled=True)
    joined.pair.pump()
    assert replies.credit == 2


REQUEST = Message(
    properties=Properties(reply_to="temporary", correlation_id="seven"), body=AmqpValue("question")
).encode()


def test_a_responder_replies_to_the_address_with_correlation_id_and_body(joined: Joined) -> None:
    role = Responding(joined.meter, "responder", "service", False, 4)
    links = joined.start(role)
    links["responder-replies"].grant(10)
    joined.pair.pump()
    asked = links["responder"].send(REQUEST)
    joined.pair.pump()
    assert [Message.decode(message) for message in joined.peer.messages] == [
        Message(properties=Properties(to="temporary", correlation_id="seven"), body=AmqpValue("question"))
    ]
    assert (asked.remote_state, role.is_ready) == (ACCEPTED, True)
    assert (joined.counted().answered, joined.counted().sent, joined.meter.outstanding) == (1, 0, 1)
    joined.peer.deliveries[0].release()
    joined.pair.pump()
    assert (joined.counted().unmeasured_refused, joined.meter.outstanding) == (1, 0)


def test_a_responder_keeps_replies_for_which_there_is_no_credit(joined: Joined) -> None:
    role = Responding(joined.meter, "responder", "service", True, 4)
    links = joined.start(role)
    for _ in range(3):
        links["responder"].send(REQUEST, settled=True)
    joined.pair.pump()
    assert joined.peer.messages == []
    links["responder-replies"].grant(2)
    joined.pair.pump()
    joined.turn(role)
    assert len(joined.peer.messages) == 2
    links["responder-replies"].grant(2)
    joined.pair.pump()
    joined.turn(role)
    assert (len(joined.peer.messages), links["responder"].credit) == (3, 3)


def test_a_responder_takes_a_request_in_parts(joined: Joined) -> None:
    links = joined.start(Responding(joined.meter, "responder", "service", True, 4))
    links["responder-replies"].grant(10)
    joined.pair.pump()
    sender = links["responder"]
    for _ in range(2):
        delivery = sender.begin()
        sender.write(delivery, REQUEST, 0, 20, True)
        joined.pair.pump()
        sender.write(delivery, REQUEST, 20, len(REQUEST), False)
        joined.pair.pump()
    assert [Message.decode(message).body for message in joined.peer.messages] == [AmqpValue("question")] * 2


def test_a_responder_tells_of_requests_that_it_cannot_answer(joined: Joined) -> None:
    links = joined.start(Responding(joined.meter, "responder", "service", True, 4, {}))
    links["responder"].send(REQUEST)
    links["responder"].send(Message(body=AmqpValue("whom?")).encode())
    joined.pair.pump()
    assert joined.counted().failures == (
        "a reply to 'temporary' could not be sent: its link is not attached",
        "a request without reply-to or without a body was not answered",
    )


def test_a_standing_link_measures_how_long_its_attach_took(joined: Joined) -> None:
    role = Standing(joined.meter, "receiver", "queue")
    link = joined.start(role)["receiver"]
    tally = joined.counted()
    assert (role.is_ready, link.credit, tally.attached, tally.latency.count) == (True, 0, 1, 1)
    assert tally.last_received_ns - tally.first_sent_ns == tally.latency.greatest


def test_failures_beyond_some_are_only_counted(joined: Joined) -> None:
    for number in range(30):
        joined.meter.fail(str(number))
    tally = joined.counted()
    assert (tally.failures, tally.failure_count) == (tuple(map(str, range(10))), 30)


def message_with_stamp(stamp: int) -> bytes:
    return b"\x00\x53\x75\xa0\x08" + stamp.to_bytes(8, "little")
