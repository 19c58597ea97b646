"""Messages that wait together: they leave as if each had waited alone, and any of them can be had alone."""

from typing import Any

import pytest

from routerd.wire import Data, Message, Symbol
from tests.endpoints import Pair, Recorder
from tests.unit.wire.attached import SOURCE, TARGET

PLENTY = 1 << 20


class Keeping(Recorder):
    """Keeps the first message, and has those behind it held."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Any] = []
        self.held_batches: list[Any] = []
        self.alone: list[tuple[Any, bytes]] = []
        self.accepted: list[int] = []
        self.head: bytes | None = None
        """What all that are held begin with."""

    def on_transfer(self, receiver: Any, delivery: Any, data: Any, start: int, end: int) -> None:
        self.kept.append((delivery, bytes(data[start:end])))
        behind = None if delivery.remote_settled else delivery
        relay = receiver.session.connection.relay
        relay.hold(receiver, behind)
        if self.head is not None:
            relay.change(self.head, self.head, True)

    def on_held(self, held: Any) -> None:
        self.held_batches.append(held)

    def on_hold_over(self, held: Any) -> None:
        self.alone += [(delivery, held.take_first()) for delivery in held.dissolve()]

    def on_accepted(self, batch: Any, count: int) -> None:
        self.accepted.append(count)


class Place:
    """A producer's link, where messages are held, and a link to a consumer."""

    def __init__(self, *, consumer: dict[str, Any] | None = None, largest: int = 0, credit: int = 100) -> None:
        self.handler = Keeping()
        self.entrance = Pair(server_handler=self.handler).open()
        self.exit = Pair(server_handler=self.handler, client=consumer or {}).open()
        self.sender = self.entrance.session().sender("in")
        self.sender.attach(source=SOURCE, target=TARGET)
        self.entrance.pump()
        self.receiver = self.handler.links["in"]
        self.receiver.grant(100)
        self.entrance.pump()
        self.taker = self.exit.session().receiver("out")
        self.taker.attach(source=SOURCE, target=TARGET, max_message_size=largest)
        self.taker.grant(credit)
        self.exit.pump()
        self.out = self.handler.links["out"]

    def held(self, count: int, *, settled: bool = False, tags: bool = False) -> Any:
        """Have so many held behind one that waits."""
        for number in range(count + 1):
            tag = b"t%d" % (1000 - number) if tags else None
            self.sender.send(body(number), tag, settled)
        # What the last one is looked at with.
        self.sender.session.send_flow(None)
        self.sender.session.send_flow(None)
        self.entrance.pump()
        [held] = self.handler.held_batches
        assert (held.count, held.is_settled) == (count, settled)
        return held

    def leave(self, held: Any, limit: int = 1000, most: int = PLENTY) -> int:
        """Let some of them leave."""
        gone = held.leave(self.out, limit, most)
        self.exit.pump()
        return int(gone)

    @property
    def bodies(self) -> list[bytes]:
        """What the consumer got."""
        return [bytes(each) for each in self.exit.at_client.bodies]


def body(number: int) -> bytes:
    return bytes(Message(body=Data([b"%05d" % number + b"." * 60])).encode())


def bodies(first: int, last: int) -> list[bytes]:
    return [body(number) for number in range(first, last + 1)]


@pytest.fixture(params=[False, True], ids=["unsettled", "settled"])
def settled(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("parts", [[1000], [7, 1000], [1, 1, 30, 1000]])
def test_they_leave_in_parts_as_each_would_alone(settled, parts):
    results = []
    for is_alone in (False, True):
        place = Place()
        held = place.held(40, settled=settled)
        place.exit.to_client.clear()
        if is_alone:
            for octets in bodies(1, 40):
                place.out.send(octets, None, settled)
            place.exit.pump()
        else:
            assert sum(place.leave(held, part) for part in parts) == 40
            assert held.count == 0
        link, session = place.out, place.out.session
        results.append(
            (
                place.bodies,
                bytes(place.exit.to_client),
                (link.credit, link.delivery_count, link.next_tag, link.unsettled_count),
                (session.next_delivery_id, session.next_outgoing_id, session.remote_incoming_window),
            )
        )
    assert results[0] == results[1]
    assert results[0][0] == bodies(1, 40)


def test_those_with_the_same_head_leave_with_another_front(settled):
    head, front = body(0)[:3], b"front"
    place = Place(largest=len(front) + len(body(0)) - 3)
    place.handler.head = head
    held = place.held(40, settled=settled)
    assert held.head == head
    first, end = held.first()
    assert held.octets[first:end] == body(1)
    assert held.size_of(held.at, 40) == 40 * len(body(1))
    assert held.leave(place.out, 30, PLENTY, front) == 30
    assert held.leave(place.out, 30, PLENTY, front + b".") == 0
    assert held.leave(place.out, 30, PLENTY) == 10
    place.exit.pump()
    assert place.bodies == [front + octets[3:] for octets in bodies(1, 30)] + bodies(31, 40)


def test_one_with_another_head_is_not_held():
    place = Place()
    place.handler.head = body(0)[:8]
    other = bytes(Message(message_annotations={Symbol("a"): 1}, body=Data([b"." * 60])).encode())
    for number in range(20):
        place.sender.send(other if number in (10, 11) else body(number), None, True)
    place.entrance.pump()
    assert place.handler.held_batches[0].count == 9
    assert [octets for _, octets in place.handler.kept[1:3]] == [other, other]


def test_no_more_leave_than_there_is_credit_for(settled):
    place = Place(credit=15)
    held = place.held(40, settled=settled)
    assert (place.leave(held), place.leave(held), held.count) == (15, 0, 25)
    place.taker.grant(100)
    place.exit.pump()
    assert place.leave(held) == 25
    assert place.bodies == bodies(1, 40)


def test_no_more_leave_than_the_window_has_room_for(settled):
    place = Place(consumer={"incoming_window": 9})
    held = place.held(40, settled=settled)
    assert held.leave(place.out, 1000, PLENTY) == 9


def test_no_more_leave_than_the_output_is_to_hold(settled):
    place = Place()
    held = place.held(40, settled=settled)
    assert place.leave(held, most=500) < 10
    assert place.leave(held, most=0) == 0


@pytest.mark.parametrize("options", [{"largest": 50}, {"consumer": {"max_frame_size": 512}}])
def test_one_that_is_too_large_for_the_consumer_is_for_others(settled, options):
    place = Place(**options)
    large = bytes(Message(body=Data([b"x" * 600])).encode())
    place.sender.send(body(0), None, settled)
    place.sender.send(large, None, settled)
    place.sender.send(body(2), None, settled)
    place.entrance.pump()
    [held] = place.handler.held_batches
    assert place.leave(held) == 0
    [first, *_] = held.dissolve()
    assert held.take_first() == large
    assert first.remote_settled is settled


def test_the_consumer_wakes_for_them(settled):
    place = Place()
    held = place.held(3, settled=settled)
    place.handler.events.clear()
    held.leave(place.out, 1000, PLENTY)
    assert place.out.session.connection.is_awake
    assert place.out.session.connection.data_to_send(0.0)


def test_a_link_that_took_over_deliveries_sends_each_alone(settled):
    place = Place()
    held = place.held(3, settled=settled)
    place.out.suspended = {b"\0\0\0\2": None}
    assert held.leave(place.out, 1000, PLENTY) == 0


def test_none_leave_where_nothing_may_be_sent(settled):
    place = Place()
    held = place.held(3, settled=settled)
    place.out.is_incomplete = True
    assert (place.leave(held), held.count, place.bodies) == (0, 3, [])


def test_annotations_end_it():
    place = Place()
    annotated = bytes(Message(body=Data([b"x" * 60]), message_annotations={Symbol("x-opt-a"): 1}).encode())
    for octets in (body(0), body(1), body(2), annotated, body(4), body(5), body(6)):
        place.sender.send(octets, None, True)
    place.entrance.pump()
    assert [octets for _, octets in place.handler.kept[:2]] == [body(0), annotated]
    assert place.handler.held_batches[0].count == 2


def test_no_more_are_held_than_the_link_has_credit_for():
    place = Place()
    place.sender.credit = 200
    for number in range(150):
        place.sender.send(body(number), None, True)
    place.entrance.pump()
    assert place.handler.held_batches[0].count == 99
    assert ("violation", "amqp:link:transfer-limit-exceeded") in place.handler.events


def test_parts_are_accepted_as_they_left():
    place = Place()
    held = place.held(40)
    assert place.receiver.unsettled_count == 41
    place.leave(held, 10)
    place.leave(held, 20)
    for delivery in place.exit.at_client.deliveries[:25]:
        delivery.accept()
    place.exit.pump()
    place.entrance.pump()
    assert place.handler.accepted == [10, 15]
    assert place.receiver.unsettled_count == 16
    assert place.sender.unsettled_count == 16
    assert place.leave(held) == 10
    for delivery in place.exit.at_client.deliveries[25:]:
        delivery.accept()
    place.exit.pump()
    place.entrance.pump()
    assert (place.sender.unsettled_count, place.out.unsettled_count) == (1, 0)


@pytest.mark.parametrize("tags", [False, True])
def test_whoever_asks_for_one_has_all_that_are_left(tags):
    place = Place()
    held = place.held(30, tags=tags)
    place.leave(held, 10)
    [kept, *_] = place.handler.kept[0]
    found = place.receiver.session.incoming.get(kept.id + 20)
    alone = place.handler.alone
    assert [octets for _, octets in alone] == bodies(11, 30)
    assert found is alone[9][0]
    numbers = [int(each.tag[1:]) if tags else int.from_bytes(each.tag, "big") for each, _ in alone]
    assert numbers == (list(range(989, 969, -1)) if tags else list(range(11, 31)))
    assert [each.id - kept.id for each, _ in alone] == list(range(11, 31))
    assert all(each.is_incoming and each.is_tracked and not each.remote_settled for each, _ in alone)
    assert (held.count, place.receiver.unsettled_count) == (0, 31)
    for delivery, _ in alone:
        delivery.accept()
    place.entrance.pump()
    assert (place.sender.unsettled_count, place.receiver.unsettled_count) == (11, 11)


def test_they_are_taken_out_once():
    place = Place()
    place.held(30)
    ring = place.receiver.session.incoming
    [kept, *_] = place.handler.kept[0]
    assert ring.get(kept.id + 20) is not None
    assert len(ring.all()) == 31
    assert len(place.handler.alone) == 30


def test_those_that_left_are_not_held():
    place = Place()
    held = place.held(30)
    place.leave(held, 10)
    place.exit.at_client.deliveries[3].release()
    place.exit.pump()
    assert place.handler.alone == []
    assert held.count == 20
    assert place.leave(held) == 20


def test_settled_ones_leave_though_their_link_is_gone():
    place = Place()
    held = place.held(30, settled=True)
    place.sender.detach(closed=True)
    place.entrance.pump()
    assert place.leave(held, 10) == 10
    deliveries = held.dissolve()
    assert [held.take_first() for _ in deliveries] == bodies(11, 30)
    assert all(each.remote_settled and not each.is_tracked for each in deliveries)


def test_what_is_settled_second_is_not_held():
    place = Place()
    place.sender = place.entrance.session().sender("second")
    place.sender.attach(source=SOURCE, target=TARGET, rcv_settle_mode=1)
    place.entrance.pump()
    place.handler.links["second"].grant(10)
    place.entrance.pump()
    for number in range(4):
        place.sender.send(body(number))
    place.entrance.pump()
    assert (len(place.handler.kept), place.handler.held_batches) == (4, [])
