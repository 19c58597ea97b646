"""Messages for tests: strategies for them, and their sections as octets in every legal encoding."""

from dataclasses import dataclass

from hypothesis import strategies as st

from routerd.wire.decoder import Decoder
from routerd.wire.message import AmqpSequence, AmqpValue, Data, Message
from routerd.wire.message_fields import Header, Properties
from routerd.wire.types import Symbol, Timestamp, ULong

NAMES = {
    0x70: b"amqp:header:list",
    0x71: b"amqp:delivery-annotations:map",
    0x72: b"amqp:message-annotations:map",
    0x73: b"amqp:properties:list",
    0x74: b"amqp:application-properties:map",
    0x75: b"amqp:data:binary",
    0x76: b"amqp:amqp-sequence:list",
    0x77: b"amqp:amqp-value:*",
    0x78: b"amqp:footer:map",
}

DESCRIPTORS = {
    "smallulong": lambda code: bytes((0x00, 0x53, code)),
    "ulong": lambda code: bytes((0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, code)),
    "sym8": lambda code: bytes((0x00, 0xA3, len(NAMES[code]))) + NAMES[code],
    "sym32": lambda code: bytes((0x00, 0xB3, 0, 0, 0, len(NAMES[code]))) + NAMES[code],
}

uints = st.integers(0, 0xFFFFFFFF)
texts = st.text(max_size=6)
symbols = st.text(st.characters(codec="ascii"), max_size=12).map(Symbol)
scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts | symbols | st.binary(max_size=6) | st.uuids()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5
)
annotation_keys = (
    st.sampled_from(["x-opt-qd.to", "x-opt-qd.trace", "x-opt-qd.", "x-opt-q", "x-user"]).map(Symbol)
    | symbols
    | st.integers(0, 2**64 - 1).map(ULong)
)
annotations = st.dictionaries(annotation_keys, values, max_size=4)
headers = st.builds(
    Header,
    durable=st.booleans(),
    priority=st.integers(0, 255),
    ttl=st.none() | uints,
    first_acquirer=st.booleans(),
    delivery_count=uints,
)
message_ids = st.none() | st.integers(0, 2**64 - 1).map(ULong) | st.uuids() | st.binary(max_size=6) | texts
timestamps = st.none() | st.integers(-(2**63), 2**63 - 1).map(Timestamp)
properties = st.builds(
    Properties,
    message_id=message_ids,
    user_id=st.none() | st.binary(max_size=6),
    to=st.none() | texts,
    subject=st.none() | texts,
    reply_to=st.none() | texts,
    correlation_id=message_ids,
    content_type=st.none() | symbols,
    content_encoding=st.none() | symbols,
    absolute_expiry_time=timestamps,
    creation_time=timestamps,
    group_id=st.none() | texts,
    group_sequence=st.none() | uints,
    reply_to_group_id=st.none() | texts,
)
bodies = (
    st.builds(Data, st.lists(st.binary(max_size=300), min_size=1, max_size=3))
    | st.builds(AmqpSequence, st.lists(st.lists(values, max_size=3), min_size=1, max_size=3))
    | st.builds(AmqpValue, values)
)
messages = st.builds(
    Message,
    header=st.none() | headers,
    delivery_annotations=st.none() | annotations,
    message_annotations=st.none() | annotations,
    properties=st.none() | properties,
    application_properties=st.none() | st.dictionaries(texts, scalars, max_size=3),
    body=bodies,
    footer=st.none() | annotations,
)


@dataclass(frozen=True)
class EncodedSection:
    """A section as it is in some message."""

    code: int
    octets: bytes
    value: bytes


def sections_of(data):
    """Return the sections of a legal message, as the generic decoder delimits them."""
    decoder = Decoder(data)
    sections = []
    while decoder.pos < decoder.end:
        start = decoder.pos
        code = decoder.read_descriptor()
        value = decoder.pos
        decoder.skip()
        sections.append(EncodedSection(code, data[start : decoder.pos], data[value : decoder.pos]))
    return sections


def widened(value):
    """Return the same value with the wide encoding of its outermost constructor, if it has one."""
    if value[0] == 0x45:  # list0
        return b"\xd0\0\0\0\x04\0\0\0\0"
    if value[0] in (0xC0, 0xC1):
        return bytes((value[0] + 0x10, 0, 0, *(value[1] + 3).to_bytes(2, "big"), 0, 0, 0, value[2])) + value[3:]
    if value[0] in (0xA0, 0xA1, 0xA3):
        return bytes((value[0] + 0x10, 0, 0, 0)) + value[1:]
    return value


@st.composite
def encoded_messages(draw):
    """A message, and octets that mean it, each section encoded in one of the ways there are."""
    message = draw(messages)
    octets = bytearray()
    for section in sections_of(message.encode()):
        octets += draw(st.sampled_from([*DESCRIPTORS.values()]))(section.code)
        octets += widened(section.value) if draw(st.booleans()) else section.value
    return message, bytes(octets)


@st.composite
def damaged_messages(draw):
    """Octets that once were a message."""
    _, octets = draw(encoded_messages())
    damaged = bytearray(octets)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(damaged)))
        damaged[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(damaged)
