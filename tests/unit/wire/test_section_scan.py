"""The steps over values and sections, by constructors and sizes."""

from uuid import UUID

import pytest
from hypothesis import given, settings

from routerd.wire.encoder import encode
from routerd.wire.section_scan import descriptor_end, section_code, section_end, skip_value
from routerd.wire.types import (
    Array,
    Byte,
    Char,
    Decimal32,
    Decimal64,
    Decimal128,
    Described,
    Float,
    Int,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)
from tests.unit.wire.messages import DESCRIPTORS, values, widened

SHORT, MALFORMED = -1, -2
EVERY_TYPE = [
    None, True, UByte(1), UShort(1), UInt(0), UInt(1), UInt(256), ULong(0), ULong(1), ULong(256), Byte(1), Short(1),
    Int(1), Int(256), 1, 256, Float(1), 1.0, Decimal32(bytes(4)), Decimal64(bytes(8)), Decimal128(bytes(16)),
    Char("a"), Timestamp(1), UUID(int=1), b"", b"octets", "text", Symbol("symbol"), [], [1, [2]], {}, {1: 2},
    Array("int", [1, 2]), Array("string", []), Described(Symbol("d"), [1]), Described(Described(1, 2), Described(3, 4)),
]  # fmt: skip
ENCODED = {encode(value): repr(value) for value in EVERY_TYPE} | {b"\x56\x01": "boolean"}
ENCODED |= {widened(octets): f"wide {name}" for octets, name in ENCODED.items()}
CONSTRUCTORS = frozenset(
    (0x00, *range(0x40, 0x46), *range(0x50, 0x57), 0x60, 0x61, *range(0x70, 0x75), *range(0x80, 0x85), 0x94, 0x98,
     0xA0, 0xA1, 0xA3, 0xB0, 0xB1, 0xB3, 0xC0, 0xC1, 0xD0, 0xD1, 0xE0, 0xF0)
)  # fmt: skip


@pytest.mark.parametrize("octets", ENCODED, ids=ENCODED.get)
def test_a_value_ends_where_its_encoding_does_and_not_before(octets):
    buffer = b"?" + octets + b"?"
    assert skip_value(buffer, 1, len(buffer)) == 1 + len(octets)
    assert {skip_value(octets, 0, end) for end in range(len(octets))} == {SHORT}


@given(value=values)
@settings(deadline=None)
def test_values_of_any_nesting_end_where_their_encoding_does(value):
    octets = encode(value)
    assert skip_value(octets, 0, len(octets)) == len(octets)


def test_what_is_no_constructor_is_malformed():
    refused = {code for code in range(256) if skip_value(bytes((code, *bytes(20))), 0, 21) == MALFORMED}
    assert refused == set(range(256)) - CONSTRUCTORS


@pytest.mark.parametrize("constructor", [0xB0, 0xD0, 0xF0])
@pytest.mark.parametrize("size", [0x7FFFFFFF, 0x80000000, 0xFFFFFFFB, 0xFFFFFFFC, 0xFFFFFFFF])
def test_a_size_that_lies_does_not_lead_astray(constructor, size):
    octets = bytes((constructor,)) + size.to_bytes(4, "big") + bytes(20)
    assert skip_value(octets, 0, len(octets)) == SHORT


def test_descriptors_without_end_are_stepped_over_one_by_one():
    octets = bytes(100_000)
    assert skip_value(octets, 0, len(octets)) == SHORT


@pytest.mark.parametrize("form", DESCRIPTORS)
@pytest.mark.parametrize("code", range(0x70, 0x79))
def test_a_section_is_known_by_every_form_of_its_descriptor(form, code):
    descriptor = DESCRIPTORS[form](code)
    stop = descriptor_end(descriptor, 0, len(descriptor))
    assert (stop, section_code(descriptor, 0, stop)) == (len(descriptor), code)


UNKNOWN = [ULong(0), ULong(0x170), ULong(2**56 + 0x70), Symbol("x"), Symbol("x" * 256), "x", None]


@pytest.mark.parametrize("value", UNKNOWN)
def test_a_descriptor_of_something_else_is_not_known(value):
    descriptor = encode(Described(value, None))[:-1]
    stop = descriptor_end(descriptor, 0, len(descriptor))
    assert (stop, section_code(descriptor, 0, stop) in range(0x70, 0x79)) == (len(descriptor), False)


def test_a_section_begins_with_a_descriptor():
    assert descriptor_end(b"\x53\x70", 0, 2) == MALFORMED


TYPES = {
    "list": (0x70, 0x73, 0x76, 0x77),
    "map": (0x71, 0x72, 0x74, 0x77, 0x78),
    "binary": (0x75, 0x77),
    "anything else": (0x77,),
}
EXAMPLES = {
    "list": [b"\x45", b"\xc0\x01\x00", b"\xd0\x00\x00\x00\x04\x00\x00\x00\x00"],
    "map": [b"\xc1\x01\x00", b"\xd1\x00\x00\x00\x04\x00\x00\x00\x00"],
    "binary": [b"\xa0\x00", b"\xb0\x00\x00\x00\x00"],
    "anything else": [b"\x40", b"\xa1\x00", b"\xe0\x02\x00\x40", b"\x00\x40\x40"],
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_section_has_a_value_of_its_type(kind):
    for octets in EXAMPLES[kind]:
        ends = {code: section_end(octets, 0, len(octets), code) for code in range(0x70, 0x79)}
        assert ends == {code: len(octets) if code in TYPES[kind] else MALFORMED for code in range(0x70, 0x79)}


@pytest.mark.parametrize("code", range(0x70, 0x79))
def test_a_section_without_value_is_short(code):
    assert section_end(b"?", 1, 1, code) == SHORT


@pytest.mark.parametrize(
    "octets",
    [b"\xc0\x00", b"\xc1\x00", b"\xd0\x00\x00\x00\x03\x00\x00\x00", b"\xd1\x00\x00\x00\x00"],
)
def test_a_compound_value_has_room_for_its_count(octets):
    code = 0x73 if octets[0] & 1 == 0 else 0x72
    assert section_end(octets, 0, len(octets), code) == MALFORMED
    assert section_end(octets, 0, len(octets), 0x77) == MALFORMED
