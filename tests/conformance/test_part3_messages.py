"""Part 3 of the standard: messages, section by section, and the sources and targets of links."""

from uuid import UUID

import pytest

from routerd.wire.annotation_edit import edit_message_annotations
from routerd.wire.composite import decode_composite, encode_composite
from routerd.wire.decoder import Decoder, decode
from routerd.wire.errors import DecodeError, EncodeError, InvalidField, RemoteError
from routerd.wire.message import AmqpSequence, AmqpValue, Data, Message
from routerd.wire.message_fields import Header, Properties
from routerd.wire.outcomes import Modified, Rejected
from routerd.wire.section_codes import Section
from routerd.wire.sections import Sections
from routerd.wire.terminus import Source, Target
from routerd.wire.types import Described, Symbol, Timestamp, UInt, ULong

HEADER = "00 53 70 45"
DELIVERY_ANNOTATIONS = "00 53 71 c1 01 00"
MESSAGE_ANNOTATIONS = "00 53 72 c1 01 00"
PROPERTIES = "00 53 73 45"
APPLICATION_PROPERTIES = "00 53 74 c1 01 00"
DATA = "00 53 75 a0 01 78"
SEQUENCE = "00 53 76 45"
VALUE = "00 53 77 40"
FOOTER = "00 53 78 c1 01 00"


def octets(*texts: str) -> bytes:
    return bytes.fromhex("".join(texts))


def composite(text: str) -> object:
    return decode_composite(Decoder(octets(text)))


def written(value: object) -> bytes:
    out = bytearray()
    encode_composite(out, value)
    return bytes(out)


def edited(data: bytes, **edit) -> bytes:
    """The message after an edit of its message-annotations."""
    head, rest = edit_message_annotations(data, 0, len(data), **edit)
    return bytes(head) + data[rest:]


def check_is_no_message(*texts: str) -> None:
    """Neither reading the message nor walking its sections, which ends with a footer, goes well."""
    with pytest.raises(DecodeError) as refused:
        Message.decode(octets(*texts))
    assert refused.value.condition == "amqp:decode-error"
    if texts[0] != FOOTER:
        with pytest.raises(DecodeError):
            Sections(octets(*texts)).bounds(Section.FOOTER)


# 3.2: the sections


def test_every_section_has_its_descriptor():
    message = Message(
        header=Header(durable=True),
        delivery_annotations={Symbol("x-a"): True},
        message_annotations={Symbol("x-b"): True},
        properties=Properties(subject="s"),
        application_properties={"k": True},
        body=Data([b"x", b"y"]),
        footer={Symbol("x-f"): True},
    )
    sections = [
        "00 53 70 c0 02 01 41",
        "00 53 71 c1 07 02 a3 03 782d61 41",
        "00 53 72 c1 07 02 a3 03 782d62 41",
        "00 53 73 c0 07 04 40 40 40 a1 01 73",
        "00 53 74 c1 05 02 a1 01 6b 41",
        "00 53 75 a0 01 78",
        "00 53 75 a0 01 79",
        "00 53 78 c1 07 02 a3 03 782d66 41",
    ]
    assert message.encode() == octets(*sections)
    assert Message.decode(octets(*sections)) == message
    for body, text in (
        (AmqpSequence([[True], []]), "00 53 76 c0 02 01 41 00 53 76 45"),
        (AmqpValue("v"), "00 53 77 a1 01 76"),
    ):
        assert Message(body=body).encode() == octets(text)
        assert Message.decode(octets(text)).body == body


def test_a_message_may_be_its_body_alone():
    for text in (DATA, SEQUENCE, VALUE):
        message = Message.decode(octets(text))
        others = [message.header, message.delivery_annotations, message.message_annotations, message.properties]
        assert [*others, message.application_properties, message.footer] == [None] * 6
        assert message.encode() == octets(text)


@pytest.mark.parametrize(
    "sections",
    [
        (DELIVERY_ANNOTATIONS, HEADER, VALUE),
        (MESSAGE_ANNOTATIONS, DELIVERY_ANNOTATIONS, VALUE),
        (PROPERTIES, MESSAGE_ANNOTATIONS, VALUE),
        (APPLICATION_PROPERTIES, PROPERTIES, VALUE),
        (VALUE, APPLICATION_PROPERTIES),
        (DATA, HEADER),
        (FOOTER, DATA),
    ],
)
def test_sections_out_of_order_are_a_decode_error(sections):
    check_is_no_message(*sections)
    Message.decode(octets(HEADER, DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, PROPERTIES, VALUE, FOOTER))


@pytest.mark.parametrize(
    "section",
    [HEADER, DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, PROPERTIES, APPLICATION_PROPERTIES, VALUE, FOOTER],
)
def test_a_section_given_twice_is_a_decode_error(section):
    check_is_no_message(section, section)


@pytest.mark.parametrize(
    "sections", [(DATA, VALUE), (DATA, SEQUENCE), (SEQUENCE, VALUE), (SEQUENCE, DATA), (VALUE, DATA)]
)
def test_a_body_of_mixed_kinds_is_a_decode_error(sections):
    check_is_no_message(*sections)


def test_a_message_without_body_is_not_written():
    for body in (None, Data([]), AmqpSequence([])):
        with pytest.raises(EncodeError):
            Message(body=body).encode()


def test_editing_message_annotations_leaves_every_octet_of_the_bare_message():
    bare = octets(  # in long forms where short ones would do
        "00 80 0000000000000073 d0 0000000a 00000002 40 b0 00000000",
        "00 53 74 d1 0000000b 00000002 b1 00000000 56 01",
        "00 53 75 b0 00000001 78",
    )
    footer = octets("00 53 78 d1 00000004 00000000")
    for head in ("", HEADER, MESSAGE_ANNOTATIONS, "00 53 70 45 00 53 72 c1 07 02 a3 03 782d61 41"):
        message = octets(head) + bare + footer
        changed = edited(message, put={"x-opt-trace": "A"}, drop=["x-a"])
        assert changed.endswith(bare + footer)
        assert Sections(changed).message_annotations == {Symbol("x-opt-trace"): "A"}
    for body in (DATA, SEQUENCE, VALUE):
        changed = edited(octets(body), put={"x-opt-trace": "A"})
        sections = Sections(changed)
        absent = (Section.HEADER, Section.DELIVERY_ANNOTATIONS, Section.PROPERTIES, Section.APPLICATION_PROPERTIES)
        assert [sections.bounds(code) for code in (*absent, Section.FOOTER)] == [None] * 5


def test_message_annotations_of_others_pass_untouched():
    theirs = octets("a3 07 782d6f70742d61 56 01", "53 07 70 00000001", "a3 01 7a 42")
    section = octets("00 53 72 c1") + bytes([len(theirs) + 1, 6]) + theirs
    message = section + octets(DATA)
    assert edited(message) == message
    added = octets("a3 03 782d74 40")
    expected = octets("00 53 72 c1") + bytes([len(theirs + added) + 1, 8]) + theirs + added + octets(DATA)
    assert edited(message, put={"x-t": None}, drop=["x-other"], drop_prefix="x-mine.") == expected


def test_setting_annotations_replaces_equal_keys_and_adds_the_others():
    message = octets("00 53 72 c1 09 04 a3 01 61 41 a3 01 62 41", DATA)
    changed = edited(message, put={"b": UInt(2), "c": UInt(3)})
    assert Sections(changed).message_annotations == {Symbol("a"): True, Symbol("b"): UInt(2), Symbol("c"): UInt(3)}


def test_a_missing_annotations_section_counts_as_an_empty_one():
    put = {"x-opt-trace": "A"}
    assert edited(octets(DATA), put=put) == edited(octets(MESSAGE_ANNOTATIONS, DATA), put=put)
    assert Message.decode(octets(DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, DATA)).delivery_annotations == {}
    assert Message.decode(octets(DATA)).delivery_annotations is None


# 3.2.1: header


def test_a_message_without_header_has_the_headers_defaults():
    for text in (DATA, HEADER + DATA, "00 53 70 c0 06 05 40 40 40 40 40" + DATA):
        sections = Sections(octets(text))
        found = (sections.durable, sections.priority, sections.ttl, sections.first_acquirer, sections.delivery_count)
        assert found == (False, 4, None, False, 0)
    assert Message.decode(octets(HEADER, DATA)).header == Header(
        durable=False, priority=4, ttl=None, first_acquirer=False, delivery_count=0
    )


def test_every_header_field_survives_encoding():
    text = "00 53 70 c0 0c 05 41 50 09 70 0000ea60 41 52 03"
    header = Header(durable=True, priority=9, ttl=60000, first_acquirer=True, delivery_count=3)
    assert Message.decode(octets(text, VALUE)).header == header
    assert Message(header=header, body=AmqpValue(None)).encode() == octets(text, VALUE)
    sections = Sections(octets(text, VALUE))
    found = (sections.durable, sections.priority, sections.ttl, sections.first_acquirer, sections.delivery_count)
    assert found == (True, 9, 60000, True, 3)


# 3.2.4: properties


def test_every_properties_field_survives_encoding():
    fields = (
        "a1 01 6d a0 01 75 a1 02 746f a1 01 73 a1 02 7274 53 07 a3 01 74 a3 01 65"
        "83 0000000000000001 83 0000000000000002 a1 01 67 52 05 a1 01 72"
    )
    properties = Properties(
        message_id="m",
        user_id=b"u",
        to="to",
        subject="s",
        reply_to="rt",
        correlation_id=ULong(7),
        content_type="t",
        content_encoding="e",
        absolute_expiry_time=Timestamp(1),
        creation_time=Timestamp(2),
        group_id="g",
        group_sequence=5,
        reply_to_group_id="r",
    )
    message = octets("00 53 73 c0") + bytes([len(octets(fields)) + 1, 13]) + octets(fields, VALUE)
    assert Message.decode(message).properties == properties
    assert Message(properties=properties, body=AmqpValue(None)).encode() == message
    sections = Sections(message)
    found = (sections.message_id, sections.to, sections.subject, sections.reply_to, sections.correlation_id)
    assert found == ("m", "to", "s", "rt", ULong(7))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("53 07", ULong(7)),
        ("98 00112233445566778899aabbccddeeff", UUID("00112233-4455-6677-8899-aabbccddeeff")),
        ("a0 02 6d31", b"m1"),
        ("a1 02 6d31", "m1"),
    ],
)
def test_a_message_id_is_ulong_uuid_binary_or_string(text, value):
    def properties_of(identifier: str) -> bytes:
        fields = octets(identifier)
        return octets("00 53 73 c0") + bytes([len(fields) + 1, 1]) + fields + octets(VALUE)

    assert Message.decode(properties_of(text)).properties == Properties(message_id=value)
    assert Sections(properties_of(text)).message_id == value
    for wrong in ("52 07", "55 07", "a3 01 6d", "45", "41"):
        with pytest.raises(RemoteError):
            Message.decode(properties_of(wrong))
        with pytest.raises(RemoteError):
            _ = Sections(properties_of(wrong)).message_id


def test_an_address_is_a_string():
    right = Message.decode(octets("00 53 73 c0 0a 05 40 40 a1 01 61 40 a1 01 62", VALUE))
    assert right.properties == Properties(to="a", reply_to="b")
    for wrong in ("00 53 73 c0 06 03 40 40 a3 01 61", "00 53 73 c0 05 03 40 40 52 01"):
        with pytest.raises(DecodeError):
            Message.decode(octets(wrong, VALUE))
        with pytest.raises(DecodeError):
            _ = Sections(octets(wrong, VALUE)).to


# 3.2.5 and 3.2.10: keys and values of the maps


@pytest.mark.parametrize("key", ["a3 01 6b", "40", "52 01", "53 01", "a0 01 6b"])
def test_a_key_of_application_properties_that_is_no_string_is_a_decode_error(key):
    pairs = octets(key, "41")
    with pytest.raises(DecodeError):
        Message.decode(octets("00 53 74 c1") + bytes([len(pairs) + 1, 2]) + pairs + octets(VALUE))
    with pytest.raises(EncodeError):
        Message(application_properties={decode(octets(key)): True}, body=AmqpValue(None)).encode()


@pytest.mark.parametrize("value", [[], {}, [UInt(1)], Described(Symbol("d"), [])])
def test_a_compound_value_is_not_written_into_application_properties(value):
    with pytest.raises(EncodeError):
        Message(application_properties={"k": value}, body=AmqpValue(None)).encode()
    Message(application_properties={"k": UInt(1)}, body=AmqpValue(None)).encode()


@pytest.mark.parametrize("section", ["71", "72", "78"])
@pytest.mark.parametrize("key", ["a1 01 6b", "40", "52 01", "55 01", "a0 01 6b"])
def test_an_annotation_key_that_is_neither_symbol_nor_ulong_is_a_decode_error(section, key):
    def message_of(text: str) -> bytes:
        pairs = octets(text, "41")
        annotated = octets("00 53", section, "c1") + bytes([len(pairs) + 1, 2]) + pairs
        return octets(VALUE) + annotated if section == "78" else annotated + octets(VALUE)

    Message.decode(message_of("a3 01 6b"))
    Message.decode(message_of("53 01"))
    with pytest.raises(DecodeError):
        Message.decode(message_of(key))


# 3.5: sources and targets


def test_every_source_and_target_field_survives_encoding():
    source = Source(
        address="a",
        durable=2,
        expiry_policy=Symbol("connection-close"),
        timeout=3600,
        dynamic=True,
        dynamic_node_properties={Symbol("k"): "v"},
        distribution_mode=Symbol("copy"),
        filter={Symbol("f"): Described(Symbol("x:filter"), "expr")},
        default_outcome=Modified(delivery_failed=True),
        outcomes=("amqp:accepted:list", "amqp:released:list"),
        capabilities=("queue",),
    )
    target = Target(
        address="a",
        durable=1,
        expiry_policy=Symbol("link-detach"),
        timeout=255,
        dynamic=True,
        dynamic_node_properties={Symbol("k"): "v"},
        capabilities=("queue", "topic"),
    )
    assert decode_composite(Decoder(written(source))) == source
    assert decode_composite(Decoder(written(target))) == target
    fields = (
        "a1 01 61 52 01 a3 0b 6c696e6b2d646574616368 52 ff 41"
        "c1 07 02 a3 01 6b a1 01 76 e0 0e 02 a3 05 7175657565 05 746f706963"
    )
    assert written(target) == octets("00 53 29 c0") + bytes([len(octets(fields)) + 1, 7]) + octets(fields)
    assert written(source)[:3] == octets("00 53 28")


def test_an_empty_source_or_target_has_the_defaults():
    assert composite("00 53 28 45") == Source(
        address=None,
        durable=0,
        expiry_policy=Symbol("session-end"),
        timeout=0,
        dynamic=False,
        dynamic_node_properties=None,
        distribution_mode=None,
        filter=None,
        default_outcome=None,
        outcomes=(),
        capabilities=(),
    )
    assert composite("00 53 29 45") == Target(
        address=None, durable=0, expiry_policy=Symbol("session-end"), timeout=0, dynamic=False, capabilities=()
    )
    assert (written(Source()), written(Target())) == (octets("00 53 28 45"), octets("00 53 29 45"))


@pytest.mark.parametrize("code", ["28", "29"])
def test_a_terminus_durability_outside_of_its_choices_is_refused(code):
    composite(f"00 53 {code} c0 04 02 40 52 02")
    with pytest.raises(InvalidField):
        composite(f"00 53 {code} c0 04 02 40 52 03")


@pytest.mark.parametrize("code", ["28", "29"])
def test_an_expiry_policy_outside_of_its_choices_is_refused(code):
    composite(f"00 53 {code} c0 0a 03 40 43 a3 05 6e65766572")
    with pytest.raises(InvalidField):
        composite(f"00 53 {code} c0 0a 03 40 43 a3 05 6e65766573")


def test_a_default_outcome_that_is_no_outcome_is_refused():
    assert composite("00 53 28 c0 0d 09 40 40 40 40 40 40 40 40 00 53 25 45") == Source(default_outcome=Rejected())
    for wrong in (
        "c0 12 09 40 40 40 40 40 40 40 40 00 53 23 c0 03 02 43 44",
        "c0 0c 09 40 40 40 40 40 40 40 40 a1 01 78",
    ):
        with pytest.raises(DecodeError):
            composite("00 53 28" + wrong)


def test_outcomes_are_symbols():
    assert composite("00 53 28 c0 0d 0a 40 40 40 40 40 40 40 40 40 a3 01 61") == Source(outcomes=("a",))
    with pytest.raises(DecodeError):
        composite("00 53 28 c0 0d 0a 40 40 40 40 40 40 40 40 40 a1 01 61")


def test_a_filter_set_passes_untouched():
    filters = "c1 13 06 a3 01 61 40 a3 01 62 00 a3 01 78 a1 01 76 a3 01 63 41"
    text = octets("00 53 28 c0 1d 08 40 40 40 40 40 40 40", filters)
    source = composite(text.hex())
    assert source.filter == {
        Symbol("a"): None,
        Symbol("b"): Described(Symbol("x"), "v"),
        Symbol("c"): True,
    }
    assert written(source) == text


@pytest.mark.parametrize("code", ["2b", "2c", "2d", "2e"])
def test_lifetime_policies_pass_as_described_values(code):
    properties = octets("a3 0f 6c69666574696d652d706f6c696379 00 53", code, "45")
    fields = octets("40 43 40 43 41 c1") + bytes([len(properties) + 1, 2]) + properties
    text = octets("00 53 29 c0") + bytes([len(fields) + 1, 6]) + fields
    target = decode_composite(Decoder(text))
    policy = Described(ULong(int(code, 16)), [])
    assert target == Target(dynamic=True, dynamic_node_properties={Symbol("lifetime-policy"): policy})
    assert decode_composite(Decoder(written(target))) == target
