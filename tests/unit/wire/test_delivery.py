"""A delivery as one end knows it, and the ring of those that are unsettled."""

import gc
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.amqp_error import Error
from routerd.wire.delivery import Delivery, DeliveryRing
from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED, RELEASED, Modified, Received, Rejected
from routerd.wire.types import Symbol
from tests.calls import check_linear
from tests.endpoints import Pair
from tests.unit.wire.attached import attached

CIRCLE = 2**32


def delivery(number):
    made = Delivery()
    made.id = number % CIRCLE
    return made


def ring_of(*numbers):
    ring = DeliveryRing()
    for number in numbers:
        ring.add(delivery(number))
    return ring


def ids(ring):
    return [each.id for each in ring.all()]


def slots(ring):
    """How many places for deliveries the containers in the ring have."""
    found = [each for each in gc.get_referents(ring) if isinstance(each, list | dict)]
    found += [
        each for outer in found if isinstance(outer, dict) for each in outer.values() if isinstance(each, list | dict)
    ]
    return sum(map(sys.getsizeof, found)) // 8


# The ring


def test_a_delivery_is_found_by_its_id():
    ring = DeliveryRing()
    kept = delivery(7)
    ring.add(kept)
    assert ring.get(7) is kept
    assert (ring.get(6), ring.get(8), ring.count) == (None, None, 1)


def test_a_delivery_that_was_removed_is_not_found():
    ring = ring_of(1, 2, 3)
    ring.remove(ring.get(2))
    assert (ids(ring), ring.get(2), ring.count) == ([1, 3], None, 2)


def test_a_delivery_that_is_not_in_the_ring_can_be_removed():
    ring = ring_of(1, 2)
    ring.remove(delivery(3))
    ring.remove(delivery(2))
    assert ids(ring) == [1, 2]


def test_ids_wrap_around():
    ring = ring_of(*range(CIRCLE - 10, CIRCLE + 10))
    assert ids(ring) == [number % CIRCLE for number in range(CIRCLE - 10, CIRCLE + 10)]
    assert ring.ids_between(CIRCLE - 2, 1) == [CIRCLE - 2, CIRCLE - 1, 0, 1]


def test_the_known_ids_of_a_range_are_listed_oldest_first():
    ring = ring_of(2, 3, 5, 8, 400)
    assert ring.ids_between(3, 8) == [3, 5, 8]
    assert ring.ids_between(0, CIRCLE - 1) == [2, 3, 5, 8, 400]
    assert ring.ids_between(6, 7) == []


def test_a_straggler_is_found_and_removed():
    ring = ring_of(*range(3))
    for number in range(3, 2000):
        ring.add(delivery(number))
        if number % 500:
            ring.remove(ring.get(number))
    assert ids(ring) == [0, 1, 2, 500, 1000, 1500]
    ring.remove(delivery(0))
    ring.remove(ring.get(0))
    ring.remove(ring.get(1000))
    assert (ids(ring), ring.get(0), ring.count) == ([1, 2, 500, 1500], None, 4)
    for number in (1, 2, 500, 1500):
        ring.remove(ring.get(number))
    assert (ids(ring), ring.count) == ([], 0)


def test_an_id_out_of_sequence_does_not_hide_another():
    ring = ring_of(5, 3, 6)
    assert [ring.get(number).id for number in (3, 5, 6)] == [3, 5, 6]
    ring.remove(ring.get(5))
    assert (ring.get(5), ring.count) == (None, 2)


def test_memory_follows_the_number_of_deliveries_not_their_distance():
    ring = ring_of(0)
    most = 0
    for number in range(1, 20_000):
        ring.add(delivery(number))
        ring.remove(ring.get(number))
        most = max(most, slots(ring))
    assert most < 1000
    assert ids(ring) == [0]


def test_a_few_deliveries_in_sequence_need_the_smallest_ring():
    ring = ring_of(*range(8))
    smallest = slots(ring)
    for number in range(8, 5000):
        ring.remove(ring.get(number - 8))
        ring.add(delivery(number % CIRCLE))
        assert slots(ring) == smallest
    assert ids(ring) == list(range(4992, 5000))


def test_a_gap_can_be_filled():
    ring = ring_of(*range(10))
    for number in (4, 6):
        ring.remove(ring.get(number))
    ring.add(delivery(4))
    assert (ids(ring), ring.count) == ([0, 1, 2, 3, 4, 5, 7, 8, 9], 9)


def test_an_id_that_is_taken_is_not_taken_again():
    ring = ring_of(0, 1, 5000)
    first = ring.get(0)
    assert (ring.add(delivery(0)), ring.add(delivery(5000)), ring.add(delivery(2))) == (False, False, True)
    assert (ring.get(0) is first, sorted(ids(ring)), ring.count) == (True, [0, 1, 2, 5000], 4)


@st.composite
def histories(draw):
    """What happens to a ring: ids in sequence with gaps, some far away, some removed, near the wrap or not."""
    start = draw(st.sampled_from([0, 1000, CIRCLE - 40, CIRCLE - 1]))
    steps = st.one_of(
        st.tuples(st.just("add"), st.integers(1, 3) | st.integers(1, 600) | st.just(1)),
        st.tuples(st.just("add many"), st.integers(2, 80)),
        st.tuples(st.just("add at"), st.integers(-50, 50) | st.integers(0, CIRCLE - 1)),
        st.tuples(st.just("remove"), st.integers(0, 200)),
        st.tuples(st.just("remove many"), st.integers(2, 80)),
        st.tuples(st.just("remove unknown"), st.integers(-50, 50)),
        st.tuples(st.just("look at link") | st.just("end link"), st.integers(0, 2)),
        st.tuples(st.just("range"), st.tuples(st.integers(-80, 80), st.integers(0, 100) | st.integers(0, CIRCLE - 1))),
    )
    return start, draw(st.lists(steps, max_size=60))


def add(ring, model, number, links):
    new = delivery(number)
    new.link = links[number % len(links)]
    assert ring.add(new) is (number not in model)
    model.setdefault(number, new)


@settings(max_examples=300)
@given(histories())
def test_a_ring_behaves_as_a_dict(history):
    number, steps = history
    ring, model, most = DeliveryRing(), {}, 0
    pair = Pair().open()
    session = pair.session()
    links = [session.sender(name) for name in ("a", "b", "c")]
    for step, value in steps:
        if step == "add":
            number = (number + value) % CIRCLE
            add(ring, model, number, links)
        elif step == "add many":
            for _ in range(value):
                number = (number + 1) % CIRCLE
                add(ring, model, number, links)
        elif step == "add at":
            add(ring, model, (number + value) % CIRCLE, links)
        elif step.startswith("remove") and step != "remove unknown":
            for _ in range(1 if step == "remove" else value):
                if model:
                    ring.remove(model.pop(sorted(model)[value % len(model)]))
        elif step == "remove unknown":
            ring.remove(delivery(number + value))
        elif step.endswith("link"):
            found = ring.of_link(links[value])
            known = [each for each in model.values() if each.link is links[value]]
            assert (set(found), found) == (set(known), [each for each in ring.all() if each.link is links[value]])
            if step == "end link":
                for each in found:
                    ring.remove(model.pop(each.id))
                ring.forget_link(links[value])
        else:
            first = (number + value[0]) % CIRCLE
            known = {each for each in model if (each - first) % CIRCLE <= value[1]}
            found = ring.ids_between(first, (first + value[1]) % CIRCLE)
            assert (set(found), len(found)) == (known, len(known))
        most = max(most, len(model))
        assert ring.count == len(model)
        assert slots(ring) <= 40 * (most + 16)
    assert {each: ring.get(each) for each in model} == model
    assert {each.id: each for each in ring.all()} == model
    assert all(ring.get((number + near) % CIRCLE) is model.get((number + near) % CIRCLE) for near in range(-50, 50))


@pytest.mark.parametrize("start", [0, CIRCLE - 20])
def test_a_link_is_asked_for_its_deliveries_at_the_cost_of_those_that_came_since(start):
    pair = Pair().open()
    session = pair.session()

    def asking(count):
        links = [session.sender(str(number)) for number in range(count)]
        ring = DeliveryRing()
        for number, link in enumerate(links):
            each = delivery(start + number)
            each.link = link
            ring.add(each)

        def work():
            for link in reversed(links):
                for each in ring.of_link(link):
                    ring.remove(each)
                ring.forget_link(link)
            assert ring.count == 0

        return work

    check_linear(asking, 30)


def test_few_that_are_left_where_many_were_are_kept_apart():
    ring = ring_of(*range(100))
    full = slots(ring)
    for number in range(2, 98):
        ring.remove(ring.get(number))
    ring.thin_out()
    assert (ids(ring), ring.stragglers_between(0, 98)) == ([0, 1, 98, 99], [0, 1, 98])
    assert ring.part_between(0, 200) == (0, -1)
    assert slots(ring) < full
    ring.add(delivery(100))
    assert ids(ring) == [0, 1, 98, 99, 100]
    ring.thin_out()
    assert ring.part_between(0, 200) == (100, 0)


def test_what_a_ring_knows_of_a_link_goes_when_all_its_deliveries_are_settled():
    session = Pair().open().session()
    idle, busy = session.sender("idle"), session.sender("busy")
    ring = DeliveryRing()
    for number in range(500):
        each = delivery(number)
        each.link = idle
        ring.add(each)
    assert len(ring.of_link(idle)) == 500
    known = slots(ring)
    for each in ring.all():
        ring.remove(each)
    last = delivery(500)
    last.link = busy
    ring.add(last)
    assert (ring.of_link(busy), ring.of_link(idle)) == ([last], [])
    assert slots(ring) <= known - 400


def test_what_a_ring_knows_of_links_does_not_grow_while_deliveries_pass():
    pair = Pair().open()
    link = pair.session().sender("l")
    ring = DeliveryRing()
    old = delivery(0)
    old.link = link
    ring.add(old)
    for number in range(1, 3000):
        each = delivery(number)
        each.link = link
        ring.add(each)
        assert ring.of_link(link) == [old, each]
        ring.remove(each)
    assert slots(ring) < 1000


# A delivery


def test_a_delivery_that_was_cleared_is_as_a_fresh_one_but_for_where_its_message_is():
    used = delivery(7)
    used.given_tag, used.state, used.remote_state = b"tag", ACCEPTED, ACCEPTED
    used.context = used.via = used.book = used
    used.settled = used.remote_settled = used.is_aborted = used.is_batchable = True
    used.stamp, used.size, used.page = 1.0, 9, 3
    used.clear()
    fresh = Delivery()
    # To ask for the tag makes one, and the link is the caller's.
    names = {name for name in dir(fresh) if not name.startswith("_")} - {"tag", "link"}
    differing = [
        name for name in names if not callable(getattr(fresh, name)) and getattr(used, name) != getattr(fresh, name)
    ]
    assert ("given_tag" in names, differing) == (True, ["is_plain"])


def test_a_fresh_delivery_is_at_its_defaults():
    fresh = Delivery()
    names = "id message_format size is_incoming is_partial is_aborted is_resumed is_tracked is_queued is_plain"
    names += " is_batchable settled remote_settled rcv_settle_mode"
    assert {name: getattr(fresh, name) for name in names.split()} == dict.fromkeys(names.split(), 0) | {
        "is_plain": True
    }


@pytest.mark.parametrize(
    ("decide", "outcome"),
    [
        (Delivery.accept, ACCEPTED),
        (Delivery.release, RELEASED),
        (Delivery.reject, Rejected()),
        (lambda it: it.reject(Error(condition=Symbol("x:bad"))), Rejected(error=Error(condition=Symbol("x:bad")))),
        (Delivery.modify, Modified(delivery_failed=False, undeliverable_here=False)),
        (
            lambda it: it.modify(delivery_failed=True, undeliverable_here=True, message_annotations={Symbol("x-a"): 1}),
            Modified(delivery_failed=True, undeliverable_here=True, message_annotations={Symbol("x-a"): 1}),
        ),
        (lambda it: it.decide(RELEASED), RELEASED),
    ],
)
@pytest.mark.parametrize("mode", [0, 1])
def test_an_outcome_settles_unless_the_sender_is_to_settle_first(decide, outcome, mode):
    link = attached(credit=1, rcv_settle_mode=mode)
    sent = link.sender.send(b"m")
    link.pair.pump()
    (received,) = link.pair.at_server.deliveries
    decide(received)
    link.pair.pump()
    assert (received.state, received.settled) == (outcome, mode == 0)
    assert (sent.remote_state, sent.remote_settled) == (outcome, mode == 0)
    assert (link.sender.session.outgoing.count, link.receiver.session.incoming.count) == (mode, mode)


def test_what_is_settled_can_neither_be_settled_nor_updated_again():
    link = attached(credit=1)
    link.sender.send(b"m")
    link.pair.pump()
    (received,) = link.pair.at_server.deliveries
    received.accept()
    for change in (received.accept, received.settle, lambda: received.update(None, False)):
        with pytest.raises(StateError, match="is settled already"):
            change()


def test_a_sender_does_not_change_an_outcome_that_it_stated():
    link = attached(credit=1)
    sent = link.sender.send(b"m")
    sent.update(ACCEPTED, False)
    sent.update(ACCEPTED, False)
    with pytest.raises(StateError, match="has its outcome"):
        sent.update(RELEASED, True)
    assert (sent.state, sent.settled) == (ACCEPTED, False)


def test_a_state_that_is_no_outcome_may_be_followed_by_any():
    link = attached(credit=1, rcv_settle_mode=1)
    sent = link.sender.send(b"m")
    link.pair.pump()
    (received,) = link.pair.at_server.deliveries
    for state in (Received(section_number=0, section_offset=1), Received(section_number=1, section_offset=9), ACCEPTED):
        received.update(state, False)
        link.pair.pump()
        assert (sent.remote_state, sent.remote_settled) == (state, False)
    sent.settle()
    link.pair.pump()
    assert (received.remote_settled, link.receiver.session.incoming.count) == (True, 0)


def test_settling_what_the_peer_settled_says_nothing():
    link = attached(credit=1)
    link.sender.send(b"m", settled=True)
    link.pair.settle_down()
    (received,) = link.pair.at_server.deliveries
    received.accept()
    link.pair.pump()
    assert (received.settled, link.pair.to_client) == (True, bytearray())


# What the far end of a relayed link says


def relayed(settled=False):
    """A delivery that was received on a link, where nothing waits to be sent."""
    link = attached(credit=1, rcv_settle_mode=1)
    link.sender.send(b"m", settled=settled)
    link.pair.settle_down()
    (received,) = link.pair.at_server.deliveries
    return link, received


def test_nothing_is_said_of_a_delivery_that_is_settled_whatever_the_far_end_says():
    link, received = relayed()
    received.relay(ACCEPTED, True)
    link.pair.settle_down()
    received.relay(RELEASED, True)
    link.pair.pump()
    assert (received.state, received.settled, link.pair.to_client) == (ACCEPTED, True, bytearray())


def test_nothing_is_said_where_the_far_end_has_neither_settled_nor_said_anything():
    link, received = relayed()
    received.relay(None, False)
    link.pair.pump()
    assert (received.state, received.settled, link.pair.to_client) == (None, False, bytearray())


def test_a_far_end_that_settles_what_the_peer_settled_is_noted_and_not_told():
    link, received = relayed(settled=True)
    received.relay(ACCEPTED, True)
    link.pair.pump()
    assert (received.state, received.settled, link.pair.to_client) == (ACCEPTED, True, bytearray())
