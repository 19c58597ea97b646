"""Messages as objects."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.encoder import encode
from routerd.wire.errors import DecodeError, EncodeError, InvalidField, RemoteError
from routerd.wire.limits import CodecLimits
from routerd.wire.message import AmqpSequence, AmqpValue, Data, Message
from routerd.wire.message_fields import Header, Properties
from routerd.wire.types import Described, Symbol, Timestamp, UInt, ULong, identity
from tests.unit.wire.messages import damaged_messages, encoded_messages, messages


def same(message):
    """Return what two messages share exactly when every value in them is the same, down to its AMQP type."""
    fields = [getattr(message, name) for name in Message.__dataclass_fields__ if name != "body"]
    maps = [identity(field) if isinstance(field, dict) else field for field in fields]
    body = message.body
    content = body.value if isinstance(body, AmqpValue) else body and body.sections
    return maps, type(body), identity(content)


def test_a_small_message_is_these_octets():
    message = Message(header=Header(durable=True), properties=Properties(to="q"), body=Data([b"hi"]))
    octets = b"\x00\x53\x70\xc0\x02\x01\x41" + b"\x00\x53\x73\xc0\x06\x03\x40\x40\xa1\x01q" + b"\x00\x53\x75\xa0\x02hi"
    assert message.encode() == octets
    assert Message.decode(octets) == message


def test_every_field_and_section_survives():
    message = Message(
        header=Header(durable=True, priority=0, ttl=1, first_acquirer=True, delivery_count=2),
        delivery_annotations={Symbol("hop"): UInt(1)},
        message_annotations={Symbol("x-opt-a"): [1, "b"], ULong(5): None},
        properties=Properties(
            message_id="id",
            user_id=b"user",
            to="to",
            subject="subject",
            reply_to="reply",
            correlation_id=b"correlation",
            content_type="text/plain",
            content_encoding="gzip",
            absolute_expiry_time=Timestamp(5),
            creation_time=Timestamp(-5),
            group_id="group",
            group_sequence=7,
            reply_to_group_id="other",
        ),
        application_properties={"a": True, "b": 2.5, "c": None},
        body=AmqpSequence([[1], [], ["two", None]]),
        footer={Symbol("x-sum"): b"\x01"},
    )
    assert same(Message.decode(message.encode())) == same(message)


@given(message=messages)
@settings(deadline=None)
def test_encoding_and_decoding_gives_the_same_message(message):
    assert same(Message.decode(message.encode())) == same(message)


@given(encoded=encoded_messages())
@settings(deadline=None)
def test_every_legal_encoding_is_decoded(encoded):
    message, octets = encoded
    assert same(Message.decode(bytearray(octets))) == same(message)


@given(octets=damaged_messages() | st.binary(max_size=40))
@settings(deadline=None)
def test_whatever_the_octets_are_they_are_a_message_or_refused(octets):
    try:
        message = Message.decode(octets)
    except RemoteError as error:
        condition = error.condition
    else:
        condition = None
        assert isinstance(message, Message)
    assert condition in (None, "amqp:decode-error", "amqp:invalid-field")


def test_a_message_without_body_is_let_pass_but_not_made():
    octets = Message(header=Header(), body=AmqpValue(None)).encode()[:4]
    assert Message.decode(octets) == Message(header=Header())
    assert Message.decode(b"") == Message()


def test_application_properties_of_compound_types_are_let_pass_but_not_made():
    octets = b"\x00\x53\x74" + encode({"a": [1]})
    assert Message.decode(octets) == Message(application_properties={"a": [1]})


BODY = AmqpValue(None)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Message(), "a message has a body, of one section at least (3.2)"),
        (Message(body=Data([])), "a message has a body, of one section at least (3.2)"),
        (Message(body=AmqpSequence([])), "a message has a body, of one section at least (3.2)"),
        (Message(body=Data([[]])), "a section of Data cannot be list"),
        (Message(body=AmqpSequence([b""])), "a section of AmqpSequence cannot be bytes"),
        (Message(header=Properties(), body=BODY), "Properties() is not of type Header"),
        (Message(header=Header(priority=256), body=BODY), "256 does not fit the field priority"),
        (Message(properties=Properties(message_id=5), body=BODY), "5 is not allowed for message_id"),
        (Message(properties=Properties(creation_time=5), body=BODY), "5 is not allowed for creation_time"),
        (Message(footer=[], body=BODY), "[] is not a map"),
        (
            Message(message_annotations={"a": 1}, body=BODY),
            "the key 'a' of an annotation is neither symbol nor ulong (3.2.10)",
        ),
        (
            Message(application_properties={Symbol("a"): 1}, body=BODY),
            "the key Symbol('a') of application-properties is not a string (3.2.5)",
        ),
        (
            Message(application_properties={1: 1}, body=BODY),
            "the key 1 of application-properties is not a string (3.2.5)",
        ),
        *(
            (
                Message(application_properties={"a": value}, body=BODY),
                "the application-property 'a' is not of a simple type (3.2.5)",
            )
            for value in ([], {}, Described(1, 2))
        ),
    ],
)
def test_what_the_standard_does_not_allow_is_not_made(message, reason):
    with pytest.raises(EncodeError) as caught:
        message.encode()
    assert str(caught.value) == reason


def section(code, value):
    return bytes((0x00, 0x53, code)) + encode(value)


@pytest.mark.parametrize(
    ("octets", "reason"),
    [
        (b"\x40", "a described value is missing (octet 0)"),
        (section(0x10, []), "no section of a message begins here (octet 0)"),
        (b"\x00\xa3\x01a\x45", "no section of a message begins here (octet 0)"),
        (section(0x75, b"") + section(0x70, []), "section 0x70 cannot follow 0x75 (octet 5)"),
        (section(0x70, []) * 2, "section 0x70 cannot follow 0x70 (octet 4)"),
        (section(0x77, 1) * 2, "section 0x77 cannot follow 0x77 (octet 5)"),
        (section(0x75, b"") + section(0x76, []), "section 0x76 cannot follow 0x75 (octet 5)"),
        (section(0x72, None), "a section is null (octet 3)"),
        (section(0x72, {"a": 1}), "a key of annotations is neither symbol nor ulong (3.2.10) (octet 3)"),
        (section(0x74, None), "a section is null (octet 3)"),
        (section(0x74, {Symbol("a"): 1}), "a key of application-properties is not a string (3.2.5) (octet 3)"),
        (section(0x75, None), "a section is null (octet 3)"),
        (section(0x76, {}), "an amqp-sequence is not a list (octet 3)"),
    ],
)
def test_what_is_no_message_is_refused(octets, reason):
    with pytest.raises(DecodeError) as caught:
        Message.decode(octets)
    assert str(caught.value) == reason


@pytest.mark.parametrize("fields", [[1], [None] * 5 + [Symbol("id")], [None] * 8 + [5], [None] * 9 + [UInt(5)]])
def test_a_property_of_a_type_that_is_not_allowed_is_refused(fields):
    with pytest.raises(InvalidField):
        Message.decode(section(0x73, fields))


def test_the_number_of_sections_is_bounded():
    octets = section(0x75, b"") * 5
    assert len(Message.decode(octets, CodecLimits(count=5)).body.sections) == 5
    with pytest.raises(DecodeError, match=r"^more than 4 sections \(octet 20\)$"):
        Message.decode(octets, CodecLimits(count=4))
