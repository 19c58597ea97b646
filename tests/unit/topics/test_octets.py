"""The octets between routers: what is written is read, and anything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.topics import messages as told
from routerd.topics.claims import Claim, Stamp
from routerd.topics.errors import MalformedTopicMessage, UnsupportedTopicVersion
from routerd.topics.messages import CopyHead, Frame
from routerd.topics.names import ClientName, Place
from routerd.topics.octets import (
    OPERATIONS as KINDS,
)
from routerd.topics.octets import (
    VERSION,
    decode_copies,
    decode_frame,
    encode_copies,
    encode_frame,
)
from routerd.topics.ranges import Ranges
from routerd.wire import encode

NAME = ClientName("container", "link")
CLAIM = Claim(3, 1000, 2, "A")
PLACE = Place("B", 7)
NUMBERS = Ranges([1, 2, 3, 9])
TAGS = [(b"tag1", 4), (b"tag2", 0)]
OPERATIONS = [
    ("", told.Hello(3, 2)),
    ("", told.Seasoned(["A", "B"])),
    ("news", told.SubscriptionKnown(NAME, CLAIM, CLAIM, PLACE, True, 8000, False, True, False)),
    ("news", told.MapsAsked(7)),
    ("news", told.MapsAnswered(7, True)),
    ("news", told.SubscriptionEnded(NAME, CLAIM)),
    ("news", told.ConfirmAsked(NAME, CLAIM)),
    ("news", told.Confirmed(NAME, CLAIM)),
    ("news", told.ListBegun()),
    ("news", told.MemberTold(NAME, CLAIM, 5, True)),
    ("news", told.MemberGone(NAME)),
    ("news", told.PublisherKnown(NAME, CLAIM, PLACE, True, False)),
    ("news", told.PublisherSeen(b"key", CLAIM, True)),
    ("orders", told.DropLine(b"key", 12)),
    ("orders", told.Horizon(Stamp(5, 6))),
    ("orders", told.StreamAt(1, 5, 9)),
    ("orders", told.PublisherSet(NAME, CLAIM, True, False, 4, 5, TAGS, [])),
    ("orders", told.Numbered(CLAIM, b"tag", 5, 10)),
    ("orders", told.SettledUnnumbered(CLAIM, b"tag", 5)),
    ("news", told.Settled(NUMBERS)),
    ("news", told.Done(NUMBERS)),
    ("news", told.Void(NUMBERS)),
    ("news", told.Acknowledged(4, NUMBERS, [(2, "amqp:not-found", "why")])),
    ("news", told.Knows(NUMBERS)),
    ("news", told.Missing(Ranges())),
    ("news", told.SettledAsked(1, b"tag")),
    ("news", told.IsSettled(1)),
    ("news", told.RecordAsked(1, b"tag", CLAIM)),
    ("news", told.RecordAnswered(1, True)),
]
HEAD = CopyHead("news", PLACE, NAME, CLAIM, Ranges([5, 7, 8]), [b"tag", b"other", b"last"], [30, 0, 0])


def frame(operations):
    return Frame(7, 1, 2, 0, 3, 4, False, Stamp(1, 2), operations)


def fields(*operations, version=VERSION, topic="news", stamp=(1, 2), incarnation=7):
    """Return the octets of a frame with operations as a peer may write them."""
    return encode([version, incarnation, 1, 2, 0, 3, 4, False, list(stamp), [[topic, *operations]]])


def test_every_operation_is_read_as_it_was_written():
    assert {type(operation) for _, operation in OPERATIONS} == set(KINDS)
    assert decode_frame(encode_frame(frame(OPERATIONS))) == frame(OPERATIONS)


def test_operations_of_one_topic_stand_behind_its_name_once():
    few = encode_frame(frame([("a-rather-long-name", told.IsSettled(1))] * 2))
    assert few.count(b"a-rather-long-name") == 1


def test_a_settled_range_costs_a_few_octets():
    one = encode_frame(frame([("news", told.Settled(Ranges([1])))]))
    many = encode_frame(frame([("news", told.Settled(Ranges(range(1, 1000))))]))
    assert len(many) - len(one) <= 8


def test_what_goes_with_messages_is_read_as_it_was_written():
    assert decode_copies(encode_copies(HEAD)) == HEAD


@pytest.mark.parametrize(
    "named",
    [
        ([5, 1], [b"tag"]),
        ([5, 1], [], []),
        ([5], [b"tag"], [0, 1]),
        ([5, 1], [b"tag"], [0]),
        ([5, 1], [b"tag"], [0, 2]),
        ([5, 1], [b"tag"], [0, 1 << 60]),
        ([5, 1], ["tag"], [0, 1]),
        ([5, 2], [b"tag"], [0, 1]),
    ],
)
def test_names_of_messages_that_are_not_whole_are_refused(named):
    with pytest.raises(MalformedTopicMessage):
        decode_copies(encode([VERSION, "news", list(PLACE), list(NAME), list(CLAIM), *named]))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        encode("text"),
        encode([]),
        encode([VERSION]),
        fields(incarnation=-1),
        fields(stamp=(1,)),
        fields(topic=None),
        fields([17, [1, 1]], topic=""),
        fields([99, 1]),
        fields([]),
        fields(["text"]),
        fields([0, 1, 2]),
        fields([13, 1]),
        fields([13, 1, "2"]),
        fields([13, 1, True]),
        fields([17, [5, 1, 3, 1]]),
        fields([17, [1, (1 << 20) + 1]]),
        fields([17, [1]]),
        fields([14, ["a", "b"], [1, 2, 3, "A"], True, 0, 1, [b"tag"], []]),
        fields([14, ["a"], [1, 2, 3, "A"], True, 0, 1, [], []]),
        fields([20, 1, [], [[1, "condition"]]]),
    ],
)
def test_octets_that_are_no_frame_are_refused(data):
    with pytest.raises(MalformedTopicMessage):
        decode_frame(data)


def test_a_later_version_is_refused_by_name():
    words = f"version {VERSION + 1} of the protocol, and only {VERSION} is known"
    with pytest.raises(UnsupportedTopicVersion, match=words):
        decode_frame(fields(version=VERSION + 1))


def reads_or_refuses(read, data):
    try:
        return read(data)
    except MalformedTopicMessage as refused:
        return refused.reason


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 255))
def test_damaged_octets_are_refused_or_read_and_nothing_else(noise, at, octet):
    whole = bytearray(encode_frame(frame(OPERATIONS)))
    whole[at % len(whole)] = octet
    for data in (noise, bytes(whole), bytes(whole[:at])):
        for read in (decode_frame, decode_copies):
            assert reads_or_refuses(read, data)
