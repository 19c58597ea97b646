"""Messages that a connection passes on as they come: what leaves is the same, octet for octet, as without."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire import ACCEPTED, RELEASED, Data, Header, Message, Modified, Symbol
from routerd.wire.plain_transfer import payload_of
from routerd.wire.relay import LIMIT
from routerd.wire.section_scan import read_u32
from routerd.wire.transfer import write_transfer
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import SOURCE, TARGET

PLENTY = 1 << 20


class Forwarding(Recorder):
    """Sends what comes to another link at once; with `most`, what is behind it goes there by itself."""

    def __init__(
        self, most: int = 0, *, is_plain_only: bool = False, largest: int = 0, limit: int = LIMIT
    ) -> None:
        super().__init__()
        self.limit = limit
        self.largest = largest
        self.most = most
        self.is_plain_only = is_plain_only
        self.target: Any = None
        self.asked = 0
        self.relayed: list[int] = []
        self.frames: list[list[bytes]] = []
        self.batches: list[Any] = []
        self.accepted: list[int] = []

    def on_link_attached(self, link: Any, performative: Any) -> None:
        if self.largest and not link.is_sender:
            link.attach(source=performative.source, target=performative.target, max_message_size=self.largest)
        super().on_link_attached(link, performative)

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        self.asked += 1
        target = self.target
        if target.credit <= 0 or delivery.is_partial or delivery.size != end - start:
            return
        if target.remote_max_message_size and delivery.size > target.remote_max_message_size:
            return
        if delivery.remote_settled and target.send_settled(data, start, end, delivery.message_format):
            if self.most:
                receiver.session.connection.relay.aim(receiver, target, self.is_plain_only, self.most, None, self.limit)
            return
        out = target.send(bytes(data[start:end]), None, delivery.remote_settled, delivery.message_format)
        if not delivery.remote_settled:
            out.context, delivery.context = delivery, out
            if self.most:
                receiver.session.connection.relay.aim(receiver, target, self.is_plain_only, self.most, delivery)

    def on_disposition(self, delivery: Any) -> None:
        super().on_disposition(delivery)
        other = delivery.context
        if delivery.remote_settled and other is not None:
            delivery.context = other.context = None
            other.update(delivery.remote_state if delivery.is_incoming is False else None, True)

    def on_relayed(
        self, receiver: Any, sender: Any, count: int, batch: Any, data: bytes | bytearray, start: int
    ) -> None:
        assert sender is self.target
        self.relayed.append(count)
        shown = []
        for _ in range(count):
            end = start + read_u32(data, start)
            shown.append(bytes(data[payload_of(data, start, receiver.remote_handle, batch is None) : end]))
            start = end
        self.frames.append(shown)
        if batch is not None:
            self.batches.append(batch)

    def on_accepted(self, batch: Any, count: int) -> None:
        assert batch in self.batches
        self.accepted.append(count)


@dataclass
class Way:
    """A producer, a link that forwards, and a consumer."""

    handler: Forwarding
    credit: int = 100
    taken: int = 100
    """The credit of the consumer."""
    options: dict[str, Any] = field(default_factory=dict)
    consumer: dict[str, Any] = field(default_factory=dict)
    largest: int = 0
    """What the consumer takes."""
    mode: int = 0
    """How the producer wants receivers to settle."""

    def __post_init__(self) -> None:
        self.entrance = Pair(server_handler=self.handler, server=self.options).open()
        self.exit = Pair(server_handler=self.handler, client=self.consumer).open()
        self.sender = self.entrance.session().sender("in")
        self.sender.attach(source=SOURCE, target=TARGET, rcv_settle_mode=self.mode)
        self.entrance.pump()
        self.receiver = self.handler.links["in"]
        self.receiver.grant(self.credit)
        self.entrance.pump()
        out = self.exit.session().receiver("out")
        out.attach(source=SOURCE, target=TARGET, max_message_size=self.largest)
        out.grant(self.taken)
        self.exit.pump()
        self.handler.target = self.handler.links["out"]
        self.exit.to_client.clear()
        self.entrance.to_client.clear()

    def bring(self, *cuts: int) -> None:
        """Have what the producer sent arrive, cut at some offsets, and carry on what comes of it."""
        octets = bytes(self.entrance.client.data_to_send(0.0))
        edges = [0, *sorted(min(cut, len(octets)) for cut in cuts), len(octets)]
        for start, end in pairwise(edges):
            self.entrance.server.receive_data(octets[start:end], 0.0)
        self.entrance.pump()
        self.exit.pump()

    def settle(self, numbers: list[int], state: Any) -> None:
        """Have the consumer say what becomes of some of the messages that it got."""
        for number in numbers:
            if not self.got[number].remote_settled and not self.got[number].settled:
                self.got[number].update(state, True)
        self.exit.pump()
        self.entrance.pump()

    @property
    def got(self) -> list[Any]:
        """The deliveries that the consumer got."""
        return list(self.exit.at_client.deliveries)

    @property
    def bodies(self) -> list[bytes]:
        """What the consumer got."""
        return [bytes(body) for body in self.exit.at_client.bodies]

    @property
    def state(self) -> tuple[Any, ...]:
        """Where both links and their sessions stand."""
        ends = self.receiver, self.handler.target
        links = [(link.credit, link.delivery_count, link.available, link.next_tag) for link in ends]
        names = ("next_incoming_id", "next_outgoing_id", "incoming_window", "remote_incoming_window")
        names += ("remote_outgoing_window", "next_delivery_id")
        return *links, *([getattr(link.session, name) for name in names] for link in ends)


def body(number: int, size: int = 20) -> bytes:
    return bytes(Message(body=Data([b"%05d" % number + b"." * size])).encode())


def test_all_that_is_received_behind_a_settled_message_goes_its_way():
    way = Way(Forwarding(PLENTY))
    for number in range(50):
        way.sender.send(body(number), None, True)
    way.bring()
    assert way.bodies == [body(number) for number in range(50)]
    # The last ones, behind which too few octets are left to look at, come one by one.
    assert way.handler.asked + sum(way.handler.relayed) == 50
    assert way.handler.asked <= 2


def test_no_more_go_than_the_limit_says():
    way = Way(Forwarding(PLENTY, limit=5))
    for number in range(50):
        way.sender.send(body(number), None, True)
    way.bring()
    assert way.bodies == [body(number) for number in range(50)]
    assert set(way.handler.relayed[:-1]) == {5}


def test_the_frames_of_those_that_went_are_shown():
    way = Way(Forwarding(PLENTY))
    for number in range(20):
        way.sender.send(body(number), None, True)
    way.bring()
    [frames] = way.handler.frames
    assert frames == [body(number) for number in range(1, 1 + way.handler.relayed[0])]


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({"credit": 10}, PLENTY),
        ({"taken": 10}, PLENTY),
        ({"options": {"incoming_window": 7}}, PLENTY),
        ({"consumer": {"incoming_window": 7}}, PLENTY),
        ({}, 500),
    ],
)
def test_it_ends_where_credit_window_or_room_do(options, most):
    results = []
    for handler in (Forwarding(), Forwarding(most)):
        way = Way(handler, **options)
        number = 0
        while number < 30 and way.sender.credit > 0 and not way.sender.session.has_backlog:
            way.sender.send(body(number), None, True)
            number += 1
        way.bring()
        results.append((way.bodies, way.state, bytes(way.exit.to_client), bytes(way.entrance.to_client)))
    assert handler.relayed
    assert results[0] == results[1]


def test_no_more_is_passed_on_than_the_output_is_to_hold():
    way = Way(Forwarding(300))
    for number in range(30):
        way.sender.send(body(number, 100), None, True)
    octets = bytes(way.entrance.client.data_to_send(0.0))
    way.entrance.server.receive_data(octets, 0.0)
    # Whoever forwards is asked about all others: it knows how much is too much.
    assert sum(way.handler.relayed) in (1, 2)
    assert way.handler.asked + sum(way.handler.relayed) == 30


def test_a_message_that_is_too_large_for_the_consumer_is_not_passed_on():
    way = Way(Forwarding(PLENTY), consumer={"max_frame_size": 512})
    octets = [body(number, size) for number, size in enumerate((20, 20, 600, 20, 20, 20))]
    for one in octets:
        way.sender.send(one, None, True)
    way.bring()
    # It comes in two frames.
    assert b"".join(way.bodies) == b"".join(octets)


def test_a_message_that_is_larger_than_the_consumer_takes_is_for_others():
    way = Way(Forwarding(PLENTY), largest=100)
    sizes = (20, 20, 20, 200, 20, 20, 20)
    for number, size in enumerate(sizes):
        way.sender.send(body(number, size), None, True)
    way.bring()
    assert way.bodies == [body(number, size) for number, size in enumerate(sizes) if size == 20]
    assert way.handler.relayed[0] == 2


def test_a_message_that_is_larger_than_the_link_takes_is_refused():
    way = Way(Forwarding(PLENTY, largest=100))
    octets = [body(number) for number in range(5)]
    for one in octets:
        way.sender.send(one, None, True)
    # What a sender of ours would not send.
    large = body(5, 200)
    write_transfer(way.sender.session.output, 0, way.sender.handle, 5, b"t", 0, 0, True, False, large, 0, len(large))
    way.sender.send(body(6), None, True)
    way.bring()
    assert way.bodies == octets
    assert ("violation", "amqp:link:message-size-exceeded") in way.handler.events


def test_annotations_are_for_others_to_look_at():
    way = Way(Forwarding(PLENTY, is_plain_only=True))
    annotated = bytes(Message(body=Data([b"x" * 50]), message_annotations={Symbol("x-opt-mine"): 1}).encode())
    for octets in (body(0, 50), annotated, annotated, annotated, body(1, 50), body(2, 50), body(3, 50)):
        way.sender.send(octets, None, True)
    way.bring()
    assert (way.handler.asked, way.handler.relayed) == (4, [3])
    assert way.bodies == [body(0, 50), *[annotated] * 3, body(1, 50), body(2, 50), body(3, 50)]


def front_of(**sections: Any) -> bytes:
    """The first sections of a message."""
    return bytes(Message(body=Data([b""]), **sections).encode()).removesuffix(bytes(Message(body=Data([b""])).encode()))


HEADER = front_of(header=Header(priority=7))
NOTED = front_of(message_annotations={Symbol("x-opt-mine"): 1})
PATH = front_of(message_annotations={Symbol("x-opt-qd.trace"): ["0/A", "0/B"]})


class Changing(Forwarding):
    """Sends messages with another front, and those behind one with the same front as it had."""

    def __init__(self, most: int, head: bytes, front: bytes, *, has_annotations: bool) -> None:
        super().__init__(most)
        self.head = head
        self.front = front
        self.has_annotations = has_annotations

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        octets = bytes(data[start:end])
        is_alike = octets.startswith(self.head)
        if is_alike and not self.has_annotations:
            is_alike = octets[len(self.head) + 2] > 0x72
        if not is_alike:
            most, self.most = self.most, 0
            super().on_transfer(receiver, delivery, data, start, end)
            self.most = most
            return
        changed = self.front + octets[len(self.head) :]
        delivery.size = len(changed)
        super().on_transfer(receiver, delivery, changed, 0, len(changed))
        relay = receiver.session.connection.relay
        if relay.receiver is not None:
            relay.change(self.head, self.front, self.has_annotations)


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize(
    ("head", "front", "has_annotations"),
    [(b"", NOTED, False), (HEADER, HEADER + NOTED, False), (PATH, b"", True), (HEADER + PATH, HEADER + NOTED, True)],
    ids=["marked", "marked behind a header", "stripped", "changed"],
)
def test_those_with_the_same_front_leave_with_another_one(settled, head, front, has_annotations):
    fronts = [head] * 20 + [HEADER, head, PATH, head, NOTED, b"", *[head] * 9]
    expected, results = [], []
    for most in (0, PLENTY):
        way = Way(Changing(most, head, front, has_annotations=has_annotations))
        for number, one in enumerate(fronts):
            way.sender.send(one + body(number, 50), None, settled)
        way.bring()
        results.append((way.bodies, way.state, bytes(way.exit.to_client)))
        expected.append(way.handler.relayed)
    assert results[0] == results[1]
    assert [one for one in results[1][0] if one.startswith(front)] != []
    assert expected[0] == []
    assert sum(expected[1]) >= 19 + 6


def test_one_that_is_too_large_with_its_new_front_is_for_others():
    way = Way(Changing(PLENTY, b"", NOTED, has_annotations=False), largest=len(NOTED) + len(body(0, 50)))
    for number, size in enumerate([50, 50, 50, 51, 50, 50, 50]):
        way.sender.send(body(number, size), None, True)
    way.bring()
    assert way.bodies == [NOTED + body(number, 50) for number in (0, 1, 2, 4, 5, 6)]
    assert way.handler.relayed[0] == 2


def test_what_is_no_transfer_is_for_others():
    way = Way(Forwarding(PLENTY))
    for number in range(10):
        if number == 5:
            way.sender.session.send_flow(None)
        way.sender.send(body(number, 60), None, True)
    way.bring()
    assert (way.handler.asked, way.handler.relayed) == (2, [4, 4])
    assert way.bodies == [body(number, 60) for number in range(10)]


def fields(*octets: bytes, count: int = 5) -> bytes:
    """A transfer up to its payload, and as much behind it as is looked at."""
    listed = b"".join(octets)
    return bytes(11) + bytes((0xC0, len(listed) + 1, count)) + listed + b"#" * 60


SMALL, SETTLED = b"\x43", b"\x41"
TAG = b"\xa0\x04tag!"


@pytest.mark.parametrize(
    ("handle", "usual"),
    [
        (0, (SMALL, b"\x70\0\0\1\0", TAG, SMALL, SETTLED)),
        (0, (b"\x52\0", b"\x52\7", TAG, SMALL, SETTLED)),
        (7, (b"\x52\7", SMALL, b"\xa0\0", SMALL, SETTLED)),
        (0, (SMALL, SMALL, b"\xa0\x20" + b"t" * 32, SMALL, SETTLED, b"\x42")),
    ],
)
def test_the_payload_is_found_behind_fields_as_most_peers_write_them(handle, usual):
    octets = fields(*usual, count=len(usual))
    assert octets[payload_of(octets, 0, handle, True) :] == b"#" * 60


@pytest.mark.parametrize(
    "unusual",
    [
        (SMALL, SMALL, TAG, SMALL),
        (SMALL, SMALL, TAG, SMALL, SETTLED, b"\x42", b"\x40"),
        (b"\x70\0\0\0\0", SMALL, TAG, SMALL, SETTLED),
        (b"\x52\1", SMALL, TAG, SMALL, SETTLED),
        (SMALL, b"\x40", TAG, SMALL, SETTLED),
        (SMALL, SMALL, b"\xb0\0\0\0\0", SMALL, SETTLED),
        (SMALL, SMALL, b"\xa0\x21" + b"t" * 33, SMALL, SETTLED),
        (SMALL, SMALL, TAG, b"\x52\7", SETTLED),
        (SMALL, SMALL, TAG, SMALL, b"\x42"),
        (SMALL, SMALL, TAG, SMALL, b"\x56\1"),
        (SMALL, SMALL, TAG, SMALL, SETTLED, b"\x41"),
        (SMALL, SMALL, TAG, SMALL, SETTLED, b"\x42\x40"),
    ],
)
def test_other_transfers_are_for_others(unusual):
    assert payload_of(fields(*unusual, count=len(unusual)), 0, 0, True) == -1


@pytest.mark.parametrize(
    ("count", "octets"),
    [(4, b""), (5, b"\x42"), (6, b"\x42\x42")],
)
def test_what_is_not_said_to_be_settled_is_not(count, octets):
    usual = fields(SMALL, b"\x52\x09", TAG, SMALL, octets, count=count)
    assert usual[payload_of(usual, 0, 0, False) :] == b"#" * 60
    assert payload_of(usual, 0, 0, True) == -1
    assert payload_of(fields(SMALL, SMALL, TAG, SMALL, SETTLED, count=5), 0, 0, False) == -1


def test_unsettled_ones_go_together_and_are_accepted_together():
    way = Way(Forwarding(PLENTY))
    sent = [way.sender.send(body(number)) for number in range(50)]
    way.bring()
    assert way.bodies == [body(number) for number in range(50)]
    assert way.handler.asked + sum(way.handler.relayed) == 50
    assert way.handler.asked <= 2
    assert (way.receiver.unsettled_count, way.handler.target.unsettled_count) == (50, 50)
    way.settle(list(range(30)), ACCEPTED)
    assert [one.remote_state for one in sent] == [ACCEPTED] * 30 + [None] * 20
    assert way.handler.accepted == [29]
    way.settle(list(range(30, 50)), ACCEPTED)
    assert [one.remote_settled for one in sent] == [True] * 50
    assert (way.receiver.unsettled_count, way.handler.target.unsettled_count) == (0, 0)


@pytest.mark.parametrize("first", [0, 250, 70_000])
def test_ids_are_read_as_they_are_written(first):
    way = Way(Forwarding(PLENTY))
    octets = body(0, 60)
    for number in range(first, first + 20):
        out = way.sender.session.output
        write_transfer(out, 0, way.sender.handle, number, None, number, 0, False, False, octets, 0, len(octets))
    way.bring()
    assert (way.handler.asked, way.handler.relayed) == (1, [19])
    assert [each.id for each in way.receiver.session.incoming.all()] == list(range(first, first + 20))


def test_no_more_are_left_unsettled_than_a_session_may_leave():
    way = Way(Forwarding(PLENTY), options={"unsettled_per_session": 20})
    for number in range(30):
        way.sender.send(body(number))
    way.bring()
    assert way.bodies == [body(number) for number in range(20)]
    assert ("violation", "amqp:resource-limit-exceeded") in way.handler.events


@pytest.mark.parametrize(
    "tags",
    [[b"a", b"b", b"c", b"d", b"e"], [b"\0\0\0\x07", b"\0\0\0\x09", b"\0\0\0\x0a"], [None, b"longer", None, None]],
)
def test_producers_may_tag_as_they_like(tags):
    way = Way(Forwarding(PLENTY))
    sent = [way.sender.send(body(number, 60), tag) for number, tag in enumerate(tags)]
    way.bring()
    assert [each.tag for each in way.receiver.session.incoming.all()] == [one.tag for one in sent]
    way.settle(list(range(len(tags))), RELEASED)
    assert [one.remote_state for one in sent] == [RELEASED] * len(tags)


def test_where_the_consumer_is_to_settle_second_each_goes_alone():
    way = Way(Forwarding(PLENTY), mode=1)
    for number in range(10):
        way.sender.send(body(number))
    way.bring()
    assert (way.handler.asked, way.handler.relayed) == (10, [])


def test_a_producer_that_has_deliveries_to_resume_passes_nothing_on():
    way = Way(Forwarding(PLENTY))
    way.receiver.suspended = {b"\0\0\0\7": object()}
    for number in range(10):
        way.sender.send(body(number))
    way.bring()
    assert (way.handler.asked, way.handler.relayed) == (10, [])


def test_ids_out_of_their_order_go_alone():
    way = Way(Forwarding(PLENTY))
    session = way.sender.session
    for number in (7, 8, 3, 4, 5, 6):
        octets = body(number, 60)
        write_transfer(session.output, 0, way.sender.handle, number, None, number, 0, False, False, octets, 0, 66)
    way.bring()
    assert (way.handler.asked, way.handler.relayed) == (2, [1, 3])
    assert sorted(each.id for each in way.receiver.session.incoming.all()) == [3, 4, 5, 6, 7, 8]
    assert "violation" not in [event[0] for event in way.handler.events]


def test_an_id_of_a_batch_is_refused_as_any_that_is_taken():
    way = Way(Forwarding(PLENTY))
    for number in range(9):
        way.sender.send(body(number, 60))
    way.bring()
    octets = body(9, 60)
    write_transfer(way.sender.session.output, 0, way.sender.handle, 5, None, 5, 0, False, False, octets, 0, 66)
    way.sender.session.connection.wake()
    way.bring()
    assert way.handler.relayed
    assert ("violation", "amqp:invalid-field") in way.handler.events


def test_a_link_that_has_taken_deliveries_over_passes_nothing_on():
    way = Way(Forwarding(PLENTY))
    way.handler.target.suspended = {b"\0\0\0\7": object()}
    for number in range(10):
        way.sender.send(body(number), None, True)
    way.bring()
    assert (way.handler.asked, way.handler.relayed) == (10, [])


def test_nothing_is_left_to_be_passed_on_when_the_octets_end():
    way = Way(Forwarding(PLENTY))
    way.sender.send(body(0), None, True)
    way.bring()
    assert way.entrance.server.relay.receiver is None
    assert way.entrance.server.relay.take(b"", 0, 0, 0) == 0
    way.sender.send(body(1), None, True)
    way.bring()
    assert way.handler.asked == 2


messages = st.tuples(
    st.integers(0, 90),
    st.sampled_from([True, True, True, False]),
    st.sampled_from([None, None, b"t", b"0123456789abcdef0123456789abcdef"]),
    st.sampled_from([0, 0, 0, 0, 7]),
    st.integers(0, 1),
)


@given(
    sent=st.lists(messages, min_size=1, max_size=40),
    cuts=st.lists(st.integers(0, 4000), max_size=3),
    taken=st.sampled_from([1, 5, 100]),
    window=st.sampled_from([3, 100]),
    is_plain_only=st.booleans(),
    most=st.sampled_from([1, 700, PLENTY]),
    usual=st.booleans(),
    answers=st.lists(
        st.tuples(
            st.integers(0, 39), st.integers(1, 30), st.sampled_from([ACCEPTED, ACCEPTED, RELEASED, Modified(), None])
        ),
        max_size=6,
    ),
)
def test_what_leaves_is_the_same_as_if_each_were_forwarded(
    sent, cuts, taken, window, is_plain_only, most, usual, answers
):
    results = []
    for handler in (Forwarding(), Forwarding(most, is_plain_only=is_plain_only)):
        way = Way(handler, taken=taken, options={"incoming_window": window})
        other = way.sender.session.sender("other")
        other.attach(source=SOURCE, target=TARGET)
        way.entrance.pump()
        handler.links["other"].grant(100)
        way.entrance.pump()
        told = []
        for number, (size, settled, tag, message_format, link) in enumerate(sent):
            sender = (way.sender, other)[link]
            if not settled or not usual:
                tag = None if tag is None else b"%d" % number
            told.append(sender.send(body(number, size), tag, settled != usual, message_format))
        way.bring(*cuts)
        for first, count, state in answers:
            way.settle(list(range(min(first, len(way.got)), min(first + count, len(way.got)))), state)
        outcomes = [(one.remote_state, one.remote_settled) for one in told]
        unsettled = [(link.unsettled_count, link.session.outgoing.count) for link in (way.receiver, handler.target)]
        left = [(each.id, each.tag) for each in way.receiver.session.incoming.all()]
        left += [(each.id, each.tag) for each in handler.target.session.outgoing.all()]
        octets = bytes(way.exit.to_client), bytes(way.entrance.to_client)
        results.append((way.bodies, way.state, octets, outcomes, unsettled, left))
    assert results[0] == results[1]
