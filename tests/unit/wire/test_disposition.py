"""The disposition performative: read in place, and gathered into ranges."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.amqp_error import Error
from routerd.wire.composite import encode_composite
from routerd.wire.decoder import Decoder
from routerd.wire.disposition import DispositionFields, DispositionRange
from routerd.wire.errors import DecodeError
from routerd.wire.input import WORK_MAX
from routerd.wire.outcomes import ACCEPTED, RELEASED, Accepted, Modified, Received, Rejected
from routerd.wire.output import Output
from routerd.wire.performatives import Disposition
from routerd.wire.types import Described, Symbol, ULong
from tests.calls import calls_of
from tests.conformance.raw_peer import parsed, split
from tests.endpoints import Pair
from tests.unit.wire.attached import attached
from tests.unit.wire.strategies import composites, likeness

CIRCLE = 2**32

STATES = [
    None,
    ACCEPTED,
    Accepted(),
    RELEASED,
    Modified(delivery_failed=True),
    Rejected(error=Error(condition=Symbol("x:short"))),
    Rejected(error=Error(condition=Symbol("x:long"), description="d" * 300)),
    Received(section_number=1, section_offset=2**40),
    Described(ULong(0x34), [b"transaction", Described(ULong(0x24), [])]),
]


def body(performative):
    out = bytearray()
    encode_composite(out, performative)
    return bytes(out)


def fields_read(octets):
    """The fields of a disposition whose list is encoded so."""
    fields = DispositionFields()
    fields.read(Decoder(octets))
    return fields


def gathered(changes, *, is_receiver=True, channel=0):
    """The dispositions that are written when these changes happen one after the other."""
    out = Output()
    collected = DispositionRange(is_receiver)
    for change in changes:
        if not collected.extend(change[0], 1, *change[1:]):
            collected.write(out, channel)
            assert collected.extend(change[0], 1, *change[1:])
    if collected.is_pending:
        collected.write(out, channel)
    assert not collected.is_pending
    frames = [parsed(octets) for octets in split(bytes(out.take()))]
    assert {(frame.channel, frame.payload) for frame in frames} <= {(channel, b"")}
    return [frame.performative for frame in frames]


def covered(disposition):
    """The deliveries that a disposition speaks of."""
    last = disposition.first if disposition.last is None else disposition.last
    count = (last - disposition.first) % CIRCLE + 1
    return [(disposition.first + step) % CIRCLE for step in range(count)]


@given(composites(Disposition))
def test_every_field_of_a_disposition_is_read(disposition):
    fields = fields_read(body(disposition)[3:])
    assert (fields.is_receiver, fields.first, fields.settled, likeness(fields.state)) == (
        disposition.role,
        disposition.first,
        disposition.settled,
        likeness(disposition.state),
    )
    assert fields.last == (disposition.first if disposition.last is None else disposition.last)


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        ("c0 08 07" + "40" * 7, "a disposition has 6 fields at most, not 7"),
        ("45", "a disposition without a role or a first delivery-id"),
        ("c0 02 01 41", "a disposition without a role or a first delivery-id"),
        ("c0 03 02 40 43", "a disposition without a role or a first delivery-id"),
        ("c0 03 02 41 40", "a disposition without a role or a first delivery-id"),
        ("c0 04 02 41 43 43", "the fields of a disposition do not fill its frame"),
        ("c0 03 02 41 43 43", "the fields of a disposition do not fill its frame"),
    ],
)
def test_a_list_that_is_no_disposition_is_refused(octets, words):
    with pytest.raises(DecodeError, match=words):
        fields_read(bytes.fromhex(octets))


def test_consecutive_deliveries_of_one_state_share_a_disposition():
    assert gathered([(number, ACCEPTED, True) for number in range(5, 1005)]) == [
        Disposition(role=True, first=5, last=1004, settled=True, state=ACCEPTED)
    ]


def test_a_range_goes_on_over_the_wrap():
    assert gathered([(number % CIRCLE, RELEASED, False) for number in range(CIRCLE - 2, CIRCLE + 2)]) == [
        Disposition(role=True, first=CIRCLE - 2, last=1, settled=False, state=RELEASED)
    ]


def test_one_delivery_needs_no_last():
    assert gathered([(300, None, True)], is_receiver=False, channel=9) == [
        Disposition(role=False, first=300, last=None, settled=True, state=None)
    ]


def test_a_gap_another_state_and_another_settlement_each_begin_a_range():
    changes = [
        (1, ACCEPTED, True),
        (3, ACCEPTED, True),
        (4, RELEASED, True),
        (5, RELEASED, False),
        (4, RELEASED, False),
    ]
    assert gathered(changes) == [
        Disposition(role=True, first=1, settled=True, state=ACCEPTED),
        Disposition(role=True, first=3, settled=True, state=ACCEPTED),
        Disposition(role=True, first=4, settled=True, state=RELEASED),
        Disposition(role=True, first=5, settled=False, state=RELEASED),
        Disposition(role=True, first=4, settled=False, state=RELEASED),
    ]


def test_states_that_are_equal_share_a_disposition():
    changes = [(number, Modified(delivery_failed=True), True) for number in range(3)]
    assert gathered(changes) == [
        Disposition(role=True, first=0, last=2, settled=True, state=Modified(delivery_failed=True))
    ]


@given(
    st.booleans(),
    st.integers(0, 65535),
    st.sampled_from([0, 250, 70_000, CIRCLE - 3]),
    st.lists(st.tuples(st.sampled_from([1, 1, 1, 2, 300]), st.sampled_from(STATES), st.booleans()), max_size=30),
)
def test_what_is_gathered_says_of_each_delivery_what_happened_in_order(is_receiver, channel, number, drawn):
    changes = []
    for step, state, settled in drawn:
        number = (number + step) % CIRCLE
        changes.append((number, state, settled))
    written = gathered(changes, is_receiver=is_receiver, channel=channel)
    said = [(each, frame.state, frame.settled) for frame in written for each in covered(frame)]
    assert said == changes
    assert {frame.role for frame in written} <= {is_receiver}


@pytest.mark.parametrize("count", [1, 2, 40])
def test_a_receiver_settles_in_any_order_and_the_sender_hears_of_each(count):
    link = attached(credit=count)
    sent = [link.sender.send(b"m") for _ in range(count)]
    link.pair.pump()
    received = link.pair.at_server.deliveries
    for delivery in [*received[::2], *received[1::2]]:
        delivery.accept()
    link.pair.pump()
    assert [(each.remote_state, each.remote_settled) for each in sent] == [(ACCEPTED, True)] * count
    assert sorted(each.id for each in link.pair.at_client.dispositions) == list(range(count))
    assert (link.sender.session.outgoing.count, link.receiver.session.incoming.count) == (0, 0)


def test_a_range_far_wider_than_what_is_known_reaches_what_is_known():
    link = attached(credit=3)
    sent = [link.sender.send(b"m") for _ in range(3)]
    link.pair.pump()
    link.pair.client.receive_data(frame_of(Disposition(role=True, first=1, last=2**31 - 2, settled=True)), 0.0)
    assert [each.remote_settled for each in sent] == [False, True, True]


def test_a_range_that_runs_backwards_ends_the_session():
    link = attached(credit=1)
    link.sender.send(b"m")
    link.pair.pump()
    link.pair.client.receive_data(frame_of(Disposition(role=True, first=2, last=1, settled=True)), 0.0)
    assert link.pair.at_client.take() == [("violation", "amqp:invalid-field")]


SECTIONS = [Received(section_number=number, section_offset=0) for number in range(2)]


@st.composite
def conversations(draw):
    """Deliveries, and what their receiver says of ranges of them, where ids begin anywhere."""
    start = draw(st.sampled_from([0, CIRCLE - 5, 2**31 - 5]))
    ranges = st.tuples(
        st.integers(-10, 40),
        st.sampled_from([0, 1, 5, 40, 2**31 - 60, 2**31 - 1]),
        st.sampled_from([None, ACCEPTED, *SECTIONS]),
        st.booleans() | st.just(False),
    )
    return start, draw(st.lists(st.integers(1, 12) | ranges, max_size=25))


@settings(max_examples=150)
@given(conversations(), st.booleans())
def test_whatever_ranges_are_spoken_of_each_delivery_has_the_state_that_was_said_last(conversation, is_receiver):
    start, steps = conversation
    pair = Pair().open()
    session = pair.client.session()
    session.begin(next_outgoing_id=start)
    pair.settle_down()
    link = attached(pair=pair, session=session, credit=1000)
    near, far = (pair.client, pair.at_client) if is_receiver else (pair.server, pair.at_server)
    known, news, next_id = {}, [], start
    for step in steps:
        if isinstance(step, int):
            for _ in range(step):
                sent = link.sender.send(b"m")
                known[next_id] = [sent if is_receiver else None, None, False]
                next_id = (next_id + 1) % CIRCLE
            pair.pump()
            if not is_receiver:
                for delivery in pair.at_server.deliveries:
                    known.setdefault(delivery.id, [None, None, False])[0] = delivery
            continue
        first, span, state, settled = step
        first = (start + first) % CIRCLE
        last = (first + span) % CIRCLE
        performative = Disposition(role=is_receiver, first=first, last=last, settled=settled, state=state)
        far.dispositions.clear()
        near.receive_data(frame_of(performative), 0.0)
        told = []
        for number, one in known.items():
            if one[2] or (number - first) % CIRCLE > span:
                continue
            is_news = settled or (state is not None and one[1] != state)
            if not is_receiver and not settled and one[1] is ACCEPTED:
                is_news = False
            if state is not None and not (not is_receiver and one[1] is ACCEPTED):
                one[1] = state
            one[2] = settled
            if is_news:
                told.append(number)
        news.append((sorted(each.id for each in far.dispositions), sorted(told)))
    assert [each for each in news if each[0] != each[1]] == []
    assert [(one[0].remote_state, one[0].remote_settled) for one in known.values()] == [
        (one[1], one[2]) for one in known.values()
    ]


def flood(unsettled, performatives, *, settled_before=0):
    """Return what the sender of so many deliveries has to do when it is told of them in these frames."""
    link = attached(credit=unsettled + settled_before)
    for number in range(unsettled + settled_before):
        link.sender.send(b"m")
        if unsettled // 2 <= number < unsettled // 2 + settled_before:
            link.pair.pump()
            link.pair.at_server.deliveries[-1].accept()
    link.pair.settle_down()
    assert link.sender.session.outgoing.count == unsettled
    octets = b"".join(map(frame_of, performatives))
    # The first frame may have something to do.
    link.pair.client.receive_data(frame_of(performatives[0]), 0.0)
    return lambda: link.pair.client.receive_data(octets, 0.0)


@pytest.mark.parametrize("last", [79, 150, 2**31 - 1])
@pytest.mark.parametrize("state", [None, SECTIONS[0]])
def test_what_is_said_again_costs_nothing_for_each_delivery(state, last):
    frames = 20 * [Disposition(role=True, first=0, last=last, settled=False, state=state)]
    few, many = (calls_of(flood(unsettled, frames)) for unsettled in (20, 80))
    assert many <= few + 10


def test_a_wide_range_is_looked_for_among_those_that_are_left():
    frames = 5 * [
        Disposition(role=True, first=0, last=2**31 - 1, settled=False, state=state) for state in (ACCEPTED, *SECTIONS)
    ]
    few, many = (calls_of(flood(4, frames, settled_before=settled)) for settled in (500, 2000))
    assert many <= few + 10


def test_those_that_have_a_state_already_are_not_told_of_it():
    link = attached(credit=104)
    for number in range(104):
        link.sender.send(b"m")
        if 2 <= number < 102:
            link.pair.pump()
            link.pair.at_server.deliveries[-1].accept()
    link.pair.settle_down()
    told = []
    for last, state in ((2**31 - 1, ACCEPTED), (0, SECTIONS[0]), (2**31 - 1, ACCEPTED)):
        link.pair.at_client.dispositions.clear()
        link.pair.client.receive_data(
            frame_of(Disposition(role=True, first=0, last=last, settled=False, state=state)), 0.0
        )
        told.append([each.id for each in link.pair.at_client.dispositions])
    assert told == [[0, 1, 102, 103], [0], [0]]


def test_what_is_said_of_deliveries_to_come_is_not_said_of_them():
    link = attached(credit=4)
    for number in range(3):
        frame = frame_of(Disposition(role=True, first=0, last=9, settled=False, state=SECTIONS[0]))
        link.pair.client.receive_data(frame, 0.0)
        sent = link.sender.send(b"m")
        assert (sent.id, sent.remote_state) == (number, None)
    assert [each.remote_state for each in link.sender.session.outgoing.all()] == [*2 * [SECTIONS[0]], None]


def test_deliveries_that_are_spoken_of_count_as_work():
    link = attached(credit=2 * WORK_MAX)
    for _ in range(2 * WORK_MAX - 2):
        link.sender.send(b"m")
    link.pair.settle_down()
    octets = b"".join(
        frame_of(Disposition(role=True, first=0, last=2 * WORK_MAX, settled=False, state=state)) for state in SECTIONS
    )
    at = link.pair.client.receive_some(octets, 0.0, 0, len(octets), len(octets))
    assert 0 < at < len(octets)


def frame_of(performative):
    out = Output()
    out.put_frame(0, 0, body(performative))
    return bytes(out.take())
