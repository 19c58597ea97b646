"""Python values to octets: the shortest encoding of each."""

from collections import OrderedDict, namedtuple
from enum import IntEnum, StrEnum
from types import MappingProxyType
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.decoder import decode
from routerd.wire.encoder import Encoder, encode, encode_into
from routerd.wire.errors import EncodeError, LocalError
from routerd.wire.types import (
    Array,
    Byte,
    Char,
    Decimal32,
    Decimal64,
    Decimal128,
    Described,
    DescribedType,
    Float,
    Int,
    PairMap,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
    identity,
)
from tests.unit.wire.strategies import float_of, legal_encodings, values

SOME_UUID = UUID("00112233-4455-6677-8899-aabbccddeeff")

# Value, and its shortest encoding by the tables of part 1, section 1.6.
VECTORS = [
    (None, "40"),
    (True, "41"),
    (False, "42"),
    (UByte(0), "50 00"),
    (UByte(255), "50 ff"),
    (UShort(0), "60 0000"),
    (UShort(65535), "60 ffff"),
    (UInt(0), "43"),
    (UInt(1), "52 01"),
    (UInt(255), "52 ff"),
    (UInt(256), "70 00000100"),
    (UInt(0xFFFFFFFF), "70 ffffffff"),
    (ULong(0), "44"),
    (ULong(1), "53 01"),
    (ULong(255), "53 ff"),
    (ULong(256), "80 0000000000000100"),
    (ULong(0xFFFFFFFFFFFFFFFF), "80 ffffffffffffffff"),
    (Byte(-128), "51 80"),
    (Byte(127), "51 7f"),
    (Short(-32768), "61 8000"),
    (Short(-1), "61 ffff"),
    (Int(0), "54 00"),
    (Int(-128), "54 80"),
    (Int(127), "54 7f"),
    (Int(128), "71 00000080"),
    (Int(-129), "71 ffffff7f"),
    (Int(-(2**31)), "71 80000000"),
    (0, "55 00"),
    (-1, "55 ff"),
    (127, "55 7f"),
    (128, "81 0000000000000080"),
    (-129, "81 ffffffffffffff7f"),
    (-(2**63), "81 8000000000000000"),
    (2**63 - 1, "81 7fffffffffffffff"),
    (Float(1.0), "72 3f800000"),
    (Float(-2.5), "72 c0200000"),
    (Float("inf"), "72 7f800000"),
    (1.0, "82 3ff0000000000000"),
    (-0.0, "82 8000000000000000"),
    (float("-inf"), "82 fff0000000000000"),
    (Decimal32(b"\x22\x50\x00\x01"), "74 22500001"),
    (Decimal64(b"\x22\x34\x00\x00\x00\x00\x00\x01"), "84 2234000000000001"),
    (Decimal128(bytes(range(16))), "94 000102030405060708090a0b0c0d0e0f"),
    (Char("A"), "73 00000041"),
    (Char("\U0001f600"), "73 0001f600"),
    (Timestamp(0), "83 0000000000000000"),
    (Timestamp(1311704463521), "83 0000013167adb8a1"),
    (Timestamp(-1), "83 ffffffffffffffff"),
    (SOME_UUID, "98 00112233445566778899aabbccddeeff"),
    (b"", "a0 00"),
    (b"\x00\xff", "a0 02 00ff"),
    (bytearray(b"a"), "a0 01 61"),
    (memoryview(b"a"), "a0 01 61"),
    ("", "a1 00"),
    ("é", "a1 02 c3a9"),
    ("Hello Glorious Messaging World", "a1 1e 48656c6c6f20476c6f72696f7573204d6573736167696e6720576f726c64"),
    (Symbol(""), "a3 00"),
    (Symbol("a:b"), "a3 03 613a62"),
    ([], "45"),
    ((), "45"),
    ([None], "c0 02 01 40"),
    ([1, [UInt(0)]], "c0 07 02 5501 c0 02 01 43"),
    ((True, "a"), "c0 05 02 41 a10161"),
    ({}, "c1 01 00"),
    ({Symbol("a"): 1}, "c1 06 02 a30161 5501"),
    (PairMap([(True, 1), (1, True)]), "c1 07 04 41 5501 5501 41"),
    (Described(ULong(0x24), []), "00 5324 45"),
    (Described(Symbol("a"), Described(ULong(0), None)), "00 a30161 00 44 40"),
    (Described(Described(1, 2), 3), "00 00 5501 5502 5503"),
]
ARRAYS = [
    (Array("null", []), "e0 02 00 40"),
    (Array("null", [None, None]), "e0 02 02 40"),
    (Array("boolean", []), "e0 02 00 56"),
    (Array("boolean", [True, True]), "e0 02 02 41"),
    (Array("boolean", [False]), "e0 02 01 42"),
    (Array("boolean", [True, False]), "e0 04 02 56 01 00"),
    (Array("ubyte", [1, 2]), "e0 04 02 50 01 02"),
    (Array("ushort", [1, 2]), "e0 06 02 60 0001 0002"),
    (Array("uint", []), "e0 02 00 70"),
    (Array("uint", [0, 0]), "e0 02 02 43"),
    (Array("uint", [0, 255]), "e0 04 02 52 00 ff"),
    (Array("uint", [0, 256]), "e0 0a 02 70 00000000 00000100"),
    (Array("ulong", [0]), "e0 02 01 44"),
    (Array("ulong", [1]), "e0 03 01 53 01"),
    (Array("ulong", [2**64 - 1]), "e0 0a 01 80 ffffffffffffffff"),
    (Array("byte", [-1]), "e0 03 01 51 ff"),
    (Array("short", [-1]), "e0 04 01 61 ffff"),
    (Array("int", [-128, 127]), "e0 04 02 54 80 7f"),
    (Array("int", [-129]), "e0 06 01 71 ffffff7f"),
    (Array("long", [-128]), "e0 03 01 55 80"),
    (Array("long", [128]), "e0 0a 01 81 0000000000000080"),
    (Array("float", [1.0]), "e0 06 01 72 3f800000"),
    (Array("double", [1.0]), "e0 0a 01 82 3ff0000000000000"),
    (Array("decimal32", [b"abcd"]), "e0 06 01 74 61626364"),
    (Array("decimal64", [b"abcdefgh"]), "e0 0a 01 84 6162636465666768"),
    (Array("decimal128", [bytes(16)]), "e0 12 01 94" + "00" * 16),
    (Array("char", ["A"]), "e0 06 01 73 00000041"),
    (Array("timestamp", [1]), "e0 0a 01 83 0000000000000001"),
    (Array("uuid", [SOME_UUID]), "e0 12 01 98 00112233445566778899aabbccddeeff"),
    (Array("binary", [b"a", b""]), "e0 05 02 a0 01 61 00"),
    (Array("string", ["é"]), "e0 05 01 a1 02 c3a9"),
    (Array("symbol", ["a", "bc"]), "e0 07 02 a3 01 61 02 6263"),
    (Array("symbol", []), "e0 02 00 a3"),
    (Array("list", []), "e0 02 00 c0"),
    (Array("list", [[], ()]), "e0 02 02 45"),
    (Array("list", [[], [None]]), "e0 07 02 c0 01 00 02 01 40"),
    (Array("map", [{}, {1: 2}]), "e0 0a 02 c1 01 00 05 02 5501 5502"),
    (Array("array", [Array("uint", [1]), Array("null", [])]), "e0 09 02 e0 03 01 52 01 02 00 40"),
    (Array(DescribedType(Symbol("a"), "uint"), [1]), "e0 07 01 00 a30161 52 01"),
    (Array(DescribedType(ULong(1), DescribedType(ULong(2), "null")), [None]), "e0 08 01 00 5301 00 5302 40"),
]


@pytest.mark.parametrize(("value", "octets"), VECTORS + ARRAYS)
def test_a_value_is_encoded_as_the_standard_tabulates(value, octets):
    assert encode(value).hex() == bytes.fromhex(octets).hex()


@pytest.mark.parametrize("size", [254, 255, 256, 511, 512, 513, 100_000])
def test_a_size_over_one_octet_takes_four(size):
    for value, code in ((b"x" * size, 0xA0), ("x" * size, 0xA1), (Symbol("x" * size), 0xA3)):
        head = bytes((code, size)) if size < 256 else bytes((code + 0x10,)) + size.to_bytes(4, "big")
        assert encode(value) == head + b"x" * size


def test_a_list_over_one_octet_takes_the_wide_form():
    assert encode([None] * 254) == bytes.fromhex("c0 ff fe") + b"\x40" * 254
    assert encode([None] * 255) == bytes.fromhex("d0 00000103 000000ff") + b"\x40" * 255
    nested = bytes.fromhex("d0 00000103 000000ff") + b"\x40" * 255
    assert encode([[None] * 255, 1]) == bytes.fromhex("d0 0000010e 00000002") + nested + bytes.fromhex("5501")


def test_an_array_takes_the_wide_form_for_its_size_or_its_count():
    assert encode(Array("null", [None] * 255)) == bytes.fromhex("e0 02 ff 40")
    assert encode(Array("null", [None] * 256)) == bytes.fromhex("f0 00000005 00000100 40")
    assert encode(Array("ubyte", [0] * 254)) == bytes.fromhex("f0 00000103 000000fe 50") + bytes(254)


def test_one_wide_element_makes_all_elements_of_an_array_wide():
    wide = "x" * 256
    assert (
        encode(Array("string", ["a", wide]))
        == bytes.fromhex("f0 0000010e 00000002 b1 00000001 61 00000100") + wide.encode()
    )
    assert encode(Array("list", [[True], [None] * 255])) == (
        bytes.fromhex("f0 00000115 00000002 d0 00000005 00000001 41 00000103 000000ff") + b"\x40" * 255
    )
    assert encode(Array("array", [Array("null", [None] * 256)])) == bytes.fromhex("e0 0b 01 f0 00000005 00000100 40")


class Level(IntEnum):
    HIGH = 5


class Colour(StrEnum):
    RED = "red"


class Blob(bytes):
    pass


class Handle(UInt):
    pass


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "octets"),
    [
        (Level.HIGH, "55 05"),
        (Colour.RED, "a1 03 726564"),
        (Blob(b"a"), "a0 01 61"),
        (Handle(5), "52 05"),
        (Point(1, 2), "c0 05 02 5501 5502"),
        (OrderedDict(a=1), "c1 06 02 a10161 5501"),
        (MappingProxyType({"a": 1}), "c1 06 02 a10161 5501"),
    ],
)
def test_a_subclass_is_encoded_as_what_it_derives_from(value, octets):
    assert encode(value).hex() == bytes.fromhex(octets).hex()
    assert encode(value, 1).hex() == bytes.fromhex(octets).hex()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "object has no AMQP type"),
        ({1, 2}, "set has no AMQP type"),
        ([1, object()], "object has no AMQP type"),
        (2**63, "out of range for a long"),
        (-(2**63) - 1, "out of range for a long"),
        ("\ud800", "surrogate"),
        (str.__new__(Symbol, "é"), "not a symbol"),
        (Array("uint", [-1]), "does not fit an array of uint"),
        (Array("uint", ["a"]), "does not fit an array of uint"),
        (Array("uint", [1.5]), "does not fit an array of uint"),
        (Array("uint", [None, 1]), "does not fit an array of uint"),
        (Array("long", [2**63]), "does not fit an array of long"),
        (Array("float", [1e39]), "does not fit an array of float"),
        (Array("float", [10**400]), "does not fit an array of float"),
        (Array("double", ["a"]), "does not fit an array of double"),
        (Array("char", ["ab"]), "does not fit an array of char"),
        (Array("decimal32", [b"a"]), "does not fit an array of decimal32"),
        (Array("uuid", [b"a"]), "does not fit an array of uuid"),
        (Array("string", [b"a"]), "does not fit an array of string"),
        (Array("symbol", ["é"]), "does not fit an array of symbol"),
        (Array("binary", ["a"]), "does not fit an array of binary"),
        (Array("boolean", [1]), "1 is not of type boolean"),
        (Array("null", [1]), "1 is not of type null"),
        (Array("list", ["ab"]), "'ab' is not of type list"),
        (Array("map", [[]]), "is not of type map"),
        (Array("array", [[]]), "is not of type array"),
        (Array("list", [[object()]]), "object has no AMQP type"),
    ],
)
def test_what_has_no_encoding_is_an_encode_error_and_appends_nothing(value, message):
    out = bytearray(b"before")
    with pytest.raises(EncodeError, match=message):
        encode_into(out, value)
    assert out == b"before"
    assert issubclass(EncodeError, LocalError)


def test_a_value_larger_than_any_limit_is_an_encode_error():
    with pytest.raises(EncodeError, match="2147483648 octets is over the limit of 2147483647"):
        encode(bytes(2**31))


def nested(levels, wrap, innermost=None):
    value = innermost
    for _ in range(levels):
        value = wrap(value)
    return value


WRAPS = [
    lambda inner: [inner],
    lambda inner: {Symbol("a"): inner},
    lambda inner: Described(Symbol("a"), inner),
    lambda inner: Described(inner, 1),
]


@pytest.mark.parametrize("wrap", WRAPS)
def test_nesting_is_bounded(wrap):
    assert identity(decode(encode(nested(32, wrap)))) == identity(nested(32, wrap))
    with pytest.raises(EncodeError, match="nested too deep"):
        encode(nested(33, wrap))
    assert encode(nested(2, wrap), 2)
    with pytest.raises(EncodeError, match="nested too deep"):
        encode(nested(3, wrap), 2)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: Array("array", [inner]),
        lambda inner: Array(DescribedType(Symbol("a"), inner.type), inner.values),
    ],
)
def test_nesting_of_arrays_is_bounded(wrap):
    innermost = Array("uint", [UInt(1)])
    deep = nested(31, wrap, innermost)
    assert identity(decode(encode(deep))) == identity(deep)
    with pytest.raises(EncodeError, match="nested too deep"):
        encode(wrap(deep))


def test_a_list_without_elements_needs_no_level():
    assert encode([[], ()], 1) == bytes.fromhex("c0 03 02 45 45")
    assert encode(Array("list", [[], ()]), 1) == bytes.fromhex("e0 02 02 45")
    with pytest.raises(EncodeError, match="nested too deep"):
        encode(Array("list", [[], [1]]), 1)


def test_a_list_that_holds_itself_is_an_encode_error():
    endless = []
    endless.append(endless)
    with pytest.raises(EncodeError, match="nested too deep"):
        encode(endless)


def test_an_encoder_appends_value_after_value():
    encoder = Encoder()
    encoder.write(UInt(1))
    encoder.write("a")
    assert encoder.octets() == bytes.fromhex("5201 a10161")
    assert encoder.end == 5


@given(values)
def test_every_value_survives_encoding_and_decoding(value):
    assert identity(decode(encode(value))) == identity(value)


@given(st.data(), values)
def test_no_legal_encoding_is_shorter(data, value):
    assert len(encode(value)) <= len(data.draw(legal_encodings(value)))


@given(values)
def test_encoding_into_a_buffer_appends_what_encoding_returns(value):
    out = bytearray(b"before")
    encode_into(out, value)
    assert out == b"before" + encode(value)


@given(st.integers(0, 2**32 - 1))
def test_every_float_keeps_its_bits_be_it_a_number_or_not(bits):
    octets = b"\x72" + bits.to_bytes(4, "big")
    assert encode(decode(octets)) == octets
    assert encode(float_of(bits)) == octets


@given(st.integers(0, 2**64 - 1))
def test_every_double_keeps_its_bits_be_it_a_number_or_not(bits):
    octets = b"\x82" + bits.to_bytes(8, "big")
    assert encode(decode(octets)) == octets


def test_a_nan_whose_payload_single_precision_cannot_hold_stays_a_nan():
    payload_in_the_low_half = decode(bytes.fromhex("82 7ff0000000000001"))
    assert encode(Float(payload_in_the_low_half)) == bytes.fromhex("72 7fc00000")
