"""The lazy scan of a message's sections."""

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.encoder import encode
from routerd.wire.errors import DecodeError, RemoteError, StateError, ValueRangeError
from routerd.wire.limits import CodecLimits
from routerd.wire.message import AmqpSequence, AmqpValue, Data, Message
from routerd.wire.message_fields import Header, Properties
from routerd.wire.section_codes import Presence, Section
from routerd.wire.sections import NeedsMore, Sections
from routerd.wire.types import Symbol, UInt, ULong, identity
from tests.unit.wire.messages import DESCRIPTORS, damaged_messages, encoded_messages, widened

ACCESSORS = (
    "durable",
    "priority",
    "ttl",
    "first_acquirer",
    "delivery_count",
    "message_id",
    "user_id",
    "to",
    "subject",
    "reply_to",
    "correlation_id",
    "delivery_annotations",
    "message_annotations",
    "application_properties",
    "footer",
    "body_kind",
)
KINDS = {Data: Section.DATA, AmqpSequence: Section.AMQP_SEQUENCE, AmqpValue: Section.AMQP_VALUE, type(None): 0}


def section(code, value, descriptor="smallulong"):
    return DESCRIPTORS[descriptor](code) + encode(value)


def raw(code, *octets):
    return bytes((0x00, 0x53, code, *octets))


HEADER = section(Section.HEADER, [True])
PROPERTIES = section(Section.PROPERTIES, ["id", None, "queue"])
BODY = section(Section.DATA, b"body")
TYPICAL = HEADER + PROPERTIES + BODY


def answers(sections):
    return {name: identity(getattr(sections, name)) for name in ACCESSORS}


def expected_answers(message):
    header = message.header or Header()
    properties = message.properties or Properties()
    expected = {name: getattr(header, name) for name in ACCESSORS[:5]}
    expected |= {name: getattr(properties, name) for name in ACCESSORS[5:11]}
    expected |= {name: getattr(message, name) for name in ACCESSORS[11:15]}
    expected["body_kind"] = int(KINDS[type(message.body)])
    return {name: identity(value) for name, value in expected.items()}


def test_a_full_message_answers_every_question():
    message = Message(
        header=Header(durable=True, priority=9, ttl=70_000, first_acquirer=True, delivery_count=300),
        delivery_annotations={Symbol("a"): 1},
        message_annotations={Symbol("b"): [UInt(2)]},
        properties=Properties(
            message_id=ULong(7), user_id=b"me", to="queue", subject="s", reply_to="back", correlation_id=UUID(int=8)
        ),
        application_properties={"c": 3},
        body=AmqpValue("text"),
        footer={Symbol("d"): 4},
    )
    sections = Sections(message.encode())
    assert {name: getattr(sections, name) for name in ACCESSORS} == {
        "durable": True,
        "priority": 9,
        "ttl": 70_000,
        "first_acquirer": True,
        "delivery_count": 300,
        "message_id": ULong(7),
        "user_id": b"me",
        "to": "queue",
        "subject": "s",
        "reply_to": "back",
        "correlation_id": UUID(int=8),
        "delivery_annotations": {Symbol("a"): 1},
        "message_annotations": {Symbol("b"): [UInt(2)]},
        "application_properties": {"c": 3},
        "footer": {Symbol("d"): 4},
        "body_kind": 0x77,
    }


@pytest.mark.parametrize("octets", [b"", BODY, section(Section.HEADER, []) + section(Section.PROPERTIES, [])])
def test_what_is_not_there_has_its_default(octets):
    sections = Sections(octets)
    assert {name: getattr(sections, name) for name in ACCESSORS[:-1]} == {
        **dict.fromkeys(ACCESSORS[:-1]),
        "durable": False,
        "priority": 4,
        "first_acquirer": False,
        "delivery_count": 0,
    }


def test_fields_left_out_at_the_end_have_their_default():
    sections = Sections(TYPICAL)
    assert (sections.durable, sections.priority, sections.to, sections.subject) == (True, 4, "queue", None)


@pytest.mark.parametrize("code", [Section.HEADER, Section.PROPERTIES])
def test_a_null_is_the_default_too(code):
    sections = Sections(section(code, [None] * 5))
    assert (sections.durable, sections.priority, sections.ttl, sections.to) == (False, 4, None, None)


@pytest.mark.parametrize("form", DESCRIPTORS)
@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_every_encoding_of_a_section_is_understood(form, is_wide, kind):
    octets = bytearray()
    for code, value in {
        0x70: [True, None, UInt(5)],
        0x72: {Symbol("a"): 1},
        0x73: ["id", b"", "queue"],
        0x75: b"x",
    }.items():
        encoded = encode(value)
        octets += DESCRIPTORS[form](code) + (widened(encoded) if is_wide else encoded)
    sections = Sections(kind(octets))
    assert (sections.durable, sections.ttl, sections.to) == (True, 5, "queue")
    assert sections.message_annotations == {Symbol("a"): 1}
    assert sections.body_kind == Section.DATA


@pytest.mark.parametrize(
    ("octets", "value"),
    [
        ((0x41,), True),
        ((0x42,), False),
        ((0x56, 0x00), False),
        ((0x56, 0x01), True),
        ((0x40,), False),
    ],
)
def test_every_encoding_of_a_boolean_is_understood(octets, value):
    assert Sections(raw(0x70, 0xC0, len(octets) + 1, 1, *octets)).durable is value


@pytest.mark.parametrize(
    ("octets", "value"),
    [((0x43,), 0), ((0x52, 0xFF), 255), ((0x70, 0xFF, 0, 0, 1), 0xFF000001), ((0x40,), None)],
)
def test_every_encoding_of_a_uint_is_understood(octets, value):
    assert Sections(raw(0x70, 0xC0, len(octets) + 3, 3, 0x40, 0x40, *octets)).ttl == value


def test_a_long_string_is_understood():
    text = "é" * 200
    assert Sections(section(0x73, [None, None, text])).to == text


@pytest.mark.parametrize(
    ("octets", "accessor", "message"),
    [
        (raw(0x70, 0xC0, 2, 1, 0x43), "durable", "0x43 is not the constructor of a boolean (octet 6)"),
        (raw(0x70, 0xC0, 3, 1, 0x56, 2), "durable", "0x56 is not the constructor of a boolean (octet 6)"),
        (raw(0x70, 0xC0, 3, 2, 0x40, 0x43), "priority", "0x43 is not the constructor of a ubyte (octet 7)"),
        (raw(0x70, 0xC0, 5, 3, 0x40, 0x40, 0x50, 1), "ttl", "0x50 is not the constructor of a uint (octet 8)"),
        (section(0x73, [None, None, b"to"]), "to", "0xa0 is not the constructor of a string (octet 8)"),
        (section(0x73, [None, "me"]), "user_id", "0xa1 is not the constructor of a binary (octet 7)"),
        (section(0x73, [Symbol("id")]), "message_id", "0xa3 is not the constructor of a message-id (octet 6)"),
        (section(0x73, [1]), "message_id", "0x55 is not the constructor of a message-id (octet 6)"),
        (raw(0x73, 0xC0, 6, 3, 0x40, 0x40, 0xA1, 1, 0xFF), "to", "a string is not UTF-8 (octet 8)"),
        (section(0x70, [None] * 6), "durable", "section 0x70 has 6 fields (octet 6)"),
        (section(0x73, [None] * 14), "to", "section 0x73 has 14 fields (octet 6)"),
        (raw(0x73, 0xC0, 2, 3, 0x40), "to", "the fields of section 0x73 are malformed (octet 7)"),
        (raw(0x73, 0xC0, 4, 3, 0x40, 0x40, 0xA1), "to", "the fields of section 0x73 are malformed (octet 8)"),
        (raw(0x73, 0xC0, 4, 3, 0x40, 0x40, 0x3F), "to", "the fields of section 0x73 are malformed (octet 8)"),
    ],
)  # fmt: skip
def test_a_malformed_field_is_found_when_it_is_asked_for(octets, accessor, message):
    with pytest.raises(DecodeError) as caught:
        getattr(Sections(octets), accessor)
    assert str(caught.value) == message
    assert caught.value.condition == "amqp:decode-error"


@pytest.mark.parametrize(
    ("octets", "offset"),
    [
        (b"\x40", 0),
        (b"\x70\xc0\x01\x00", 0),
        (b"\x00\x3f", 0),
        (b"\x00\x40", 0),
        (b"\x00\x44\xc0\x01\x00", 0),
        (b"\x00\x53\x6f\xc0\x01\x00", 0),
        (b"\x00\x53\x79\xc0\x01\x00", 0),
        (b"\x00\x80\x00\x00\x00\x00\x00\x00\x01\x70\x45", 0),
        (b"\x00\x80\x01\x00\x00\x00\x00\x00\x00\x70\x45", 0),
        (b"\x00\xa3\x05amqp:\x45", 0),
        (b"\x00\xb3\x00\x00\x00\x05amqp:\x45", 0),
        (b"\x00\x00\x53\x70\x40\x45", 0),
        (HEADER + b"\x40", len(HEADER)),
        (raw(0x70, 0x40), 3),
        (raw(0x70, 0xC1, 1, 0), 3),
        (raw(0x70, 0xC0, 0), 3),
        (raw(0x70, 0xD0, 0, 0, 0, 3, 0, 0, 0), 3),
        (raw(0x72, 0x45), 3),
        (raw(0x72, 0xC0, 1, 0), 3),
        (raw(0x72, 0xC1, 0), 3),
        (raw(0x74, 0x40), 3),
        (raw(0x78, 0xE0, 2, 0, 0x40), 3),
        (raw(0x75, 0xA1, 0), 3),
        (raw(0x76, 0xC1, 1, 0), 3),
        (raw(0x77, 0x3F), 3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("partial", [False, True])
def test_what_is_no_section_is_refused(octets, offset, partial):
    sections = Sections(octets + bytes(20), 0, len(octets) + 20, partial)
    for _ in range(2):
        with pytest.raises(DecodeError) as caught:
            sections.find(Section.FOOTER)
        assert caught.value.offset == offset


ORDER = [0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x78]
VALUES = {0x70: [], 0x71: {}, 0x72: {}, 0x73: [], 0x74: {}, 0x75: b"", 0x76: [], 0x77: None, 0x78: {}}


IN_ORDER = {(first, second) for first in VALUES for second in VALUES if first < second}
LEGAL = IN_ORDER - {(0x75, 0x76), (0x75, 0x77), (0x76, 0x77)} | {(0x75, 0x75), (0x76, 0x76)}


@pytest.mark.parametrize("pair", [(first, second) for first in VALUES for second in VALUES])
def test_sections_are_in_the_order_of_the_standard(pair):
    octets = b"".join(section(code, VALUES[code]) for code in pair)
    sections = Sections(octets)
    if pair in LEGAL:
        assert [sections.find(code) for code in pair] == [Presence.FOUND] * 2
        return
    with pytest.raises(DecodeError) as caught:
        sections.find(Section.FOOTER)
    offset = len(section(pair[0], VALUES[pair[0]]))
    reason = (
        "there are octets after the footer"
        if pair[0] == 0x78
        else f"section 0x{pair[1]:02x} cannot follow 0x{pair[0]:02x}"
    )
    assert str(caught.value) == f"{reason} (octet {offset})"


@pytest.mark.parametrize("partial", [False, True])
def test_nothing_comes_after_a_footer(partial):
    octets = section(0x78, {}) + b"\x00"
    with pytest.raises(DecodeError, match=r"^there are octets after the footer \(octet 6\)$"):
        _ = Sections(octets, 0, len(octets), partial).footer


def test_the_bounds_of_each_section_are_found():
    octets = b"".join(section(code, VALUES[code]) for code in ORDER)
    sections = Sections(b"?" + octets + b"?", 1, 1 + len(octets))
    bounds = [sections.bounds(code) for code in ORDER]
    starts = [start for start, _ in bounds]
    assert [end for _, end in bounds] == [*starts[1:], 1 + len(octets)]
    assert starts[0] == 1


def test_the_bounds_of_the_body_are_those_of_all_its_sections():
    body = section(0x75, b"one") + section(0x75, b"two")
    sections = Sections(HEADER + body + section(0x78, {}))
    expected = (len(HEADER), len(HEADER + body))
    assert [sections.bounds(kind) for kind in (0x75, 0x76, 0x77)] == [expected] * 3


def test_a_section_that_is_absent_has_no_bounds():
    sections = Sections(HEADER)
    assert [sections.bounds(code) for code in range(0x71, 0x79)] == [None] * 8
    assert sections.body_kind == 0


def test_message_annotations_have_their_place_even_when_absent():
    annotations = section(0x72, {})
    places = []
    for octets in (b"", HEADER, TYPICAL, HEADER + annotations + BODY, BODY):
        sections = Sections(octets)
        sections.find(Section.MESSAGE_ANNOTATIONS)
        places.append(sections.annotations_place())
    assert places == [0, len(HEADER), len(HEADER), len(HEADER), 0]


def test_the_place_of_message_annotations_is_the_same_after_a_scan_of_everything():
    sections = Sections(TYPICAL)
    sections.find(Section.FOOTER)
    assert sections.annotations_place() == len(HEADER)


@pytest.mark.parametrize("code", [0x6F, 0x79, -1])
def test_a_section_that_does_not_exist_cannot_be_asked_for(code):
    with pytest.raises(ValueRangeError, match=rf"^{code} is not the descriptor of a section$"):
        Sections(TYPICAL).find(code)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 1), (0, 3)])
def test_a_range_beyond_the_octets_is_our_mistake(start, end):
    with pytest.raises(ValueRangeError, match=rf"^{start} to {end} is not within 2 octets$"):
        Sections(b"").reset(b"ab", start, end, False)


def test_octets_that_were_taken_away_are_our_mistake():
    data = bytearray(TYPICAL)
    sections = Sections(data)
    del data[-1:]
    with pytest.raises(StateError, match=rf"^of {len(TYPICAL)} octets only {len(TYPICAL) - 1} are left$"):
        _ = sections.to


def test_reset_begins_again():
    sections = Sections(TYPICAL)
    assert sections.to == "queue"
    sections.reset(BODY, 0, len(BODY), False)
    assert (sections.to, sections.durable) == (None, False)


def test_the_limits_hold_for_what_is_decoded():
    octets = section(0x72, {Symbol("a"): [[[]]]})
    with pytest.raises(DecodeError, match="nested"):
        _ = Sections(octets, 0, -1, False, CodecLimits(depth=2)).message_annotations


def test_a_beginning_answers_what_it_can():
    whole = HEADER + PROPERTIES + section(0x75, bytes(1000))
    sections = Sections(whole, 0, len(HEADER + PROPERTIES) + 100, True)
    assert (sections.durable, sections.to, sections.message_annotations) == (True, "queue", None)
    assert sections.find(Section.DATA) == Presence.FOUND
    assert sections.body_kind == Section.DATA
    assert sections.find(Section.FOOTER) == Presence.NEEDS_MORE
    for ask in (sections.bounds, lambda code: sections.footer):
        with pytest.raises(NeedsMore, match=r"^section 0x7[58] is not all there$"):
            ask(Section.DATA)


def test_a_beginning_that_ends_with_a_section_needs_more_for_the_next():
    sections = Sections(HEADER, 0, len(HEADER), True)
    assert sections.durable is True
    assert sections.find(Section.PROPERTIES) == Presence.NEEDS_MORE
    with pytest.raises(NeedsMore, match=r"^section 0x73 is not all there$"):
        _ = sections.to


@pytest.mark.parametrize("cut", range(1, len(PROPERTIES)))
def test_a_beginning_that_ends_within_a_section_needs_more_for_it(cut):
    sections = Sections(HEADER + PROPERTIES, 0, len(HEADER) + cut, True)
    assert sections.find(Section.PROPERTIES) == Presence.NEEDS_MORE
    assert sections.find(Section.HEADER) == Presence.FOUND


def test_a_section_that_has_begun_tells_that_earlier_ones_are_absent():
    octets = section(0x74, {"a": 1})
    sections = Sections(octets, 0, len(octets) - 1, True)
    assert [sections.find(code) for code in (0x70, 0x73, 0x74, 0x75)] == [0, 0, 2, 2]


def test_a_body_is_not_all_there_before_its_footer():
    sections = Sections(BODY, 0, len(BODY), True)
    with pytest.raises(NeedsMore):
        sections.bounds(Section.DATA)
    footer = section(0x78, {Symbol("a"): 1})
    sections.reset(BODY + footer, 0, len(BODY + footer) - 1, True)
    assert sections.bounds(Section.DATA) == (0, len(BODY))


@pytest.mark.parametrize("end", range(1, len(TYPICAL)))
def test_a_whole_message_that_is_cut_short_is_malformed(end):
    sections = Sections(TYPICAL, 0, end)
    if end in (len(HEADER), len(HEADER + PROPERTIES)):
        assert sections.find(Section.FOOTER) == Presence.ABSENT
    else:
        for _ in range(2):
            with pytest.raises(DecodeError, match=r"^the message ends within a section"):
                sections.find(Section.FOOTER)


@given(encoded=encoded_messages())
@settings(deadline=None)
def test_a_scan_agrees_with_the_full_decode(encoded):
    message, octets = encoded
    sections = Sections(octets)
    assert answers(sections) == expected_answers(message)
    start, end = sections.bounds(Section.DATA)
    body = Message.decode(octets[start:end]).body
    assert [identity(getattr(body, name)) for name in body.__slots__] == [
        identity(getattr(message.body, name)) for name in body.__slots__
    ]


@pytest.mark.parametrize("user_id", [b"", b"u" * 255, b"u" * 256])
def test_a_user_id_of_any_length_is_found(user_id):
    assert Sections(Message(properties=Properties(user_id=user_id), body=AmqpValue(1)).encode()).user_id == user_id


@given(octets=damaged_messages() | st.binary(max_size=30))
@settings(deadline=None)
def test_whatever_the_octets_are_there_is_an_answer_or_a_decode_error(octets):
    sections = Sections(octets)
    seen = {}
    for name in ACCESSORS:
        try:
            seen[name] = identity(getattr(sections, name))
        except DecodeError as error:
            seen[name] = error.condition
    try:
        message = Message.decode(octets)
    except RemoteError:
        return
    assert seen == expected_answers(message)


@given(encoded=encoded_messages(), data=st.data())
@settings(deadline=None)
def test_a_beginning_needs_more_or_answers_as_the_whole_does(encoded, data):
    message, octets = encoded
    expected = expected_answers(message)
    sections = Sections(octets, 0, data.draw(st.integers(0, len(octets))), True)
    for name in ACCESSORS:
        try:
            answer = identity(getattr(sections, name))
        except NeedsMore:
            continue
        assert (name, answer) == (name, expected[name])
