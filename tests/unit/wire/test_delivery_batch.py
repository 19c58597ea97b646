"""Unsettled deliveries that went together: both sessions know them as if each had gone alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.delivery import Delivery
from routerd.wire.delivery_batch import DeliveryBatch
from tests.unit.wire.attached import attached

CIRCLE = 2**32


class Ends:
    """A link that receives from one peer, and one that sends to another."""

    def __init__(self):
        self.receiver = attached("in").receiver
        out = attached("out", credit=1000)
        self.sender = out.sender
        self.at_sender = out.pair.at_client
        self.incoming = self.receiver.session.incoming
        self.outgoing = self.sender.session.outgoing

    def alone(self, first_in, first_out):
        """Have one delivery go alone."""
        taken, sent = self.receiver_delivery(first_in), Delivery()
        sent.link, sent.id = self.sender, first_out % CIRCLE
        self.receiver.session.track(taken)
        self.sender.session.track(sent)
        return taken, sent

    def receiver_delivery(self, number):
        made = Delivery()
        made.link, made.id, made.is_incoming = self.receiver, number % CIRCLE, True
        return made

    def batch(self, count, first_in, first_out, tags=None, tag_in=70, tag_out=90):
        made = DeliveryBatch(self.receiver, count, tags)
        made.arrive(first_in % CIRCLE, tag_in)
        made.depart(self.sender, first_out % CIRCLE, tag_out)
        return made

    @property
    def counts(self):
        return self.incoming.count, self.outgoing.count, self.receiver.unsettled_count, self.sender.unsettled_count


@pytest.fixture
def ends():
    return Ends()


def ids(ring):
    return [each.id for each in ring.all()]


def test_it_counts_as_its_deliveries(ends):
    ends.batch(5, 10, 20)
    assert ends.counts == (5, 5, 5, 5)


def test_those_in_front_leave_it_first(ends):
    batch = ends.batch(5, 10, 20)
    batch.settle_first(2)
    assert (batch.count, batch.first_in, batch.first_out, batch.tag_in, batch.tag_out) == (3, 12, 22, 72, 92)
    assert ends.counts == (3, 3, 3, 3)
    batch.settle_first(3)
    assert ends.counts == (0, 0, 0, 0)
    assert (ends.incoming.front(), ends.outgoing.front()) == (None, None)


def test_a_batch_is_found_by_its_first_id_alone(ends):
    assert ends.outgoing.beginning_with(20) is None
    first, second = ends.batch(5, 10, CIRCLE - 2), ends.batch(4, 15, 3)
    ends.alone(19, 7)
    third = ends.batch(3, 20, 8)
    starts = {number % CIRCLE: ends.outgoing.beginning_with(number % CIRCLE) for number in range(-4, 13)}
    assert {number: one for number, one in starts.items() if one is not None} == {
        CIRCLE - 2: first,
        3: second,
        8: third,
    }
    second.settle_first(4)
    assert ends.outgoing.beginning_with(3) is None
    assert ends.outgoing.beginning_with(8) is third
    assert (first.count, third.count) == (5, 3)


def test_whoever_asks_for_one_dissolves_it(ends):
    batch = ends.batch(5, CIRCLE - 2, 20)
    batch.stamp = 7.0
    batch.settle_first(1)
    sent = ends.outgoing.get(22)
    taken = ends.incoming.get(0)
    assert (sent.context, taken.context) == (taken, sent)
    assert (sent.link, sent.id, sent.tag, sent.is_incoming, sent.stamp) == (ends.sender, 22, b"\0\0\0\x5c", False, 7.0)
    assert (taken.link, taken.tag, taken.is_incoming, taken.stamp) == (ends.receiver, b"\0\0\0\x48", True, 7.0)
    assert (sent.is_tracked, sent.settled, sent.remote_settled, taken.is_tracked, taken.settled) == (
        True,
        False,
        False,
        True,
        False,
    )
    assert batch.count == 0
    assert (ids(ends.incoming), ids(ends.outgoing)) == ([CIRCLE - 1, 0, 1, 2], [21, 22, 23, 24])
    assert ends.counts == (4, 4, 4, 4)


def test_those_beside_it_are_looked_for_without_it(ends):
    before = [ends.alone(number, number + 10)[0] for number in (0, 1, 2)]
    batch = ends.batch(5, 3, 13)
    behind = [ends.alone(number, number + 10)[0] for number in (8, 9, 10)]
    ends.incoming.remove(before[1])
    ends.incoming.remove(behind[1])
    assert [ends.incoming.get(number) for number in (0, 1, 9, 10)] == [before[0], None, None, behind[2]]
    assert batch.count == 5


def test_a_large_batch_far_behind_an_old_delivery_has_slots_of_all_its_ids(ends):
    old, _ = ends.alone(0, 5)
    batch = ends.batch(40, 100_000, 100_005)
    assert ends.counts == (41, 41, 41, 41)
    assert ends.incoming.get(0) is old
    assert ends.incoming.get(100_039).id == 100_039
    assert batch.count == 0
    assert sorted(ids(ends.incoming)) == [0, *range(100_000, 100_040)]


def test_tags_that_are_no_numbers_are_kept(ends):
    batch = ends.batch(3, 10, 20, tags=[b"a", b"bb", b"c"])
    batch.settle_first(1)
    assert [each.tag for each in ends.incoming.all()] == [b"bb", b"c"]


def test_the_handler_is_told_of_those_it_dissolves_into_if_it_has_a_context(ends):
    ends.batch(2, 10, 20).dissolve()
    assert ends.at_sender.take() == []
    batch = ends.batch(3, 12, 22)
    batch.context = "known"
    batch.settle_first(1)
    batch.dissolve()
    assert ends.at_sender.take() == [("parting", "known", 23), ("parting", "known", 24)]


def test_none_of_its_ids_is_taken_again(ends):
    ends.batch(3, 10, 20)
    assert [ends.incoming.add(ends.receiver_delivery(number)) for number in (12, 13, 9)] == [False, True, True]
    assert sorted(ids(ends.incoming)) == [9, 10, 11, 12, 13]


def test_there_is_room_behind_the_newest_alone(ends):
    assert ends.incoming.room_from(5) > 1000
    ends.alone(10, 20)
    assert ends.incoming.room_from(11) > 1000
    assert [ends.incoming.room_from(number) for number in (10, 9, 10 + CIRCLE // 2 + 1)] == [0, 0, 0]


def test_there_is_room_up_to_one_that_stays_behind(ends):
    ends.alone(10, 20)
    for number in range(11, 3000):
        taken, sent = ends.alone(number, number + 10)
        ends.receiver.session.untrack(taken)
        ends.sender.session.untrack(sent)
    assert ends.incoming.room_from(3000) > 1000
    assert ends.incoming.room_from(CIRCLE - 7) == 17


def test_times_are_told_without_dissolving_it(ends):
    taken, _ = ends.alone(10, 20)
    gone, batch = ends.batch(2, 11, 21), ends.batch(5, 13, 23)
    gone.settle_first(2)
    assert set(ends.incoming.stamps()) == {taken, batch}
    assert batch.count == 5


def test_times_of_those_that_stay_behind_are_told(ends):
    kept, _ = ends.alone(10, 20)
    for number in range(11, 3000):
        taken, sent = ends.alone(number, number + 10)
        ends.receiver.session.untrack(taken)
        ends.sender.session.untrack(sent)
    assert ends.incoming.stamps() == [kept]


def test_it_dissolves_when_one_has_to_stay_behind(ends):
    batch = ends.batch(3, 10, 20)
    for number in range(13, 3000):
        taken, sent = ends.alone(number, number + 10)
        ends.receiver.session.untrack(taken)
        ends.sender.session.untrack(sent)
    assert batch.count == 0
    assert (ids(ends.incoming), ids(ends.outgoing)) == ([10, 11, 12], [20, 21, 22])


def test_a_large_one_finds_room_in_a_small_ring(ends):
    taken, sent = ends.alone(0, 0)
    for number in range(1, 600):
        more = ends.alone(number, number)
        for one, link in zip(more, (ends.receiver, ends.sender), strict=True):
            link.session.untrack(one)
    batch = ends.batch(3000, 600, 600)
    assert ends.counts == (3001, 3001, 3001, 3001)
    batch.settle_first(2990)
    assert ids(ends.incoming) == [0, *range(3590, 3600)]
    assert ids(ends.outgoing) == [0, *range(3590, 3600)]
    assert ends.incoming.get(0) is taken
    assert ends.outgoing.get(0) is sent


def test_a_session_that_is_over_has_nobody_to_tell(ends):
    batch = ends.batch(2, 0, 0)
    ends.receiver.session.end()
    ends.receiver.session.dispositions.accept(0, 2)
    assert not ends.receiver.session.is_busy
    assert batch.count == 2


@st.composite
def histories(draw):
    steps = st.one_of(
        st.tuples(st.just("alone"), st.integers(1, 3)),
        st.tuples(st.just("batch"), st.integers(1, 40)),
        st.tuples(st.just("skip"), st.integers(1, 700)),
        st.tuples(st.just("front"), st.integers(1, 50)),
        st.tuples(st.just("get"), st.integers(0, 200)),
        st.tuples(st.just("settle"), st.integers(0, 200)),
        st.tuples(st.just("all"), st.just(0)),
    )
    return draw(st.sampled_from([0, CIRCLE - 30])), draw(st.lists(steps, max_size=40))


@settings(max_examples=200)
@given(histories())
def test_both_rings_behave_as_if_all_had_gone_alone(history):
    first, steps = history
    ends = Ends()
    at_in, at_out = first, 5
    model: dict[int, int] = {}
    for step, value in steps:
        if step == "alone":
            for _ in range(value):
                taken, sent = ends.alone(at_in, at_out)
                taken.context, sent.context = sent, taken
                model[at_in] = at_out
                at_in, at_out = (at_in + 1) % CIRCLE, at_out + 1
        elif step == "batch":
            ends.batch(value, at_in, at_out)
            for _ in range(value):
                model[at_in] = at_out
                at_in, at_out = (at_in + 1) % CIRCLE, at_out + 1
        elif step == "skip":
            # As settled deliveries do.
            at_in, at_out = (at_in + value) % CIRCLE, at_out + value
        elif step == "front":
            batch = ends.outgoing.front()
            if batch is not None:
                count = min(value, batch.count)
                for number in range(count):
                    assert model.pop((batch.first_in + number) % CIRCLE) == batch.first_out + number
                batch.settle_first(count)
        elif step == "all":
            assert ids(ends.incoming) == list(model)
        elif model:
            number = list(model)[value % len(model)]
            taken = ends.incoming.get(number)
            assert (taken.id, taken.context.id) == (number, model[number])
            assert ends.outgoing.get(model[number]) is taken.context
            if step == "settle":
                del model[number]
                ends.sender.session.untrack(taken.context)
                ends.receiver.session.untrack(taken)
        assert ends.counts == (len(model),) * 4
    assert (ids(ends.incoming), ids(ends.outgoing)) == (list(model), list(model.values()))
