"""Octets to Python values: every legal encoding, and what is none."""

import struct
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.decoder import Decoder, decode
from routerd.wire.encoder import encode
from routerd.wire.errors import DecodeError
from routerd.wire.limits import CodecLimits
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
from tests.unit.wire.strategies import damaged, encoded_values, legal_encodings, outcome_of, values


def check_refused(octets, message, offset=0, **limits):
    """The octets are a DecodeError with this offset and message."""
    with pytest.raises(DecodeError, match=message) as refused:
        decode(octets, CodecLimits(**limits))
    assert refused.value.offset == offset
    assert refused.value.condition == "amqp:decode-error"


# Every constructor of part 1, section 1.6, the shortest and the others.
VECTORS = [
    ("40", None),
    ("41", True),
    ("42", False),
    ("56 01", True),
    ("56 00", False),
    ("50 00", UByte(0)),
    ("50 ff", UByte(255)),
    ("60 0102", UShort(258)),
    ("43", UInt(0)),
    ("52 00", UInt(0)),
    ("52 ff", UInt(255)),
    ("70 00000000", UInt(0)),
    ("70 80000001", UInt(0x80000001)),
    ("44", ULong(0)),
    ("53 00", ULong(0)),
    ("53 ff", ULong(255)),
    ("80 0000000000000001", ULong(1)),
    ("80 8000000000000001", ULong(0x8000000000000001)),
    ("51 80", Byte(-128)),
    ("51 7f", Byte(127)),
    ("61 8000", Short(-32768)),
    ("61 7fff", Short(32767)),
    ("54 80", Int(-128)),
    ("54 7f", Int(127)),
    ("71 00000000", Int(0)),
    ("71 80000000", Int(-(2**31))),
    ("71 7fffffff", Int(2**31 - 1)),
    ("55 80", -128),
    ("55 7f", 127),
    ("81 0000000000000000", 0),
    ("81 8000000000000000", -(2**63)),
    ("81 ffffffffffffffff", -1),
    ("81 7fffffffffffffff", 2**63 - 1),
    ("72 3fc00000", Float(1.5)),
    ("72 ff800000", Float(float("-inf"))),
    ("82 3ff8000000000000", 1.5),
    ("74 22500001", Decimal32(b"\x22\x50\x00\x01")),
    ("84 2234000000000001", Decimal64(b"\x22\x34\x00\x00\x00\x00\x00\x01")),
    ("94 000102030405060708090a0b0c0d0e0f", Decimal128(bytes(range(16)))),
    ("73 00000041", Char("A")),
    ("73 0010ffff", Char("\U0010ffff")),
    ("83 8000000000000000", Timestamp(-(2**63))),
    ("83 0000013167adb8a1", Timestamp(1311704463521)),
    ("98 00112233445566778899aabbccddeeff", UUID("00112233-4455-6677-8899-aabbccddeeff")),
    ("a0 00", b""),
    ("a0 02 00ff", b"\x00\xff"),
    ("b0 00000002 00ff", b"\x00\xff"),
    ("a1 02 c3a9", "é"),
    ("b1 00000002 c3a9", "é"),
    ("a3 01 61", Symbol("a")),
    ("b3 00000001 61", Symbol("a")),
    ("a3 05 7175657565", Symbol("queue")),
    ("45", []),
    ("c0 01 00", []),
    ("d0 00000004 00000000", []),
    ("c0 03 02 41 40", [True, None]),
    ("d0 00000006 00000002 41 40", [True, None]),
    ("c1 01 00", {}),
    ("d1 00000004 00000000", {}),
    ("c1 06 02 a30161 5501", {Symbol("a"): 1}),
    ("d1 00000009 00000002 a30161 5501", {Symbol("a"): 1}),
    ("e0 02 00 70", Array("uint", [])),
    ("e0 04 02 52 01 02", Array("uint", [UInt(1), UInt(2)])),
    ("f0 0000000d 00000002 70 00000001 00000002", Array("uint", [UInt(1), UInt(2)])),
    ("e0 02 03 43", Array("uint", [UInt(0), UInt(0), UInt(0)])),
    ("e0 02 02 45", Array("list", [[], []])),
    ("e0 07 02 c0 01 00 02 01 41", Array("list", [[], [True]])),
    ("e0 09 02 e0 03 01 52 01 02 00 40", Array("array", [Array("uint", [UInt(1)]), Array("null", [])])),
    ("e0 07 01 00 a30161 52 01", Array(DescribedType(Symbol("a"), "uint"), [UInt(1)])),
    ("00 5324 45", Described(ULong(0x24), [])),
    ("00 80 0000000000000024 c0 01 00", Described(ULong(0x24), [])),
    ("00 00 5501 5502 00 a30161 40", Described(Described(1, 2), Described(Symbol("a"), None))),
]


@pytest.mark.parametrize(("octets", "value"), VECTORS)
def test_octets_are_decoded_as_the_standard_tabulates(octets, value):
    for kind in (bytes, bytearray):
        decoded = decode(kind(bytes.fromhex(octets)))
        assert identity(decoded) == identity(value)


@pytest.mark.parametrize(("octets", "value"), VECTORS)
def test_octets_cut_short_are_a_decode_error(octets, value):
    whole = bytes.fromhex(octets)
    for cut in range(len(whole)):
        with pytest.raises(DecodeError):
            decode(whole[:cut])
        with pytest.raises(DecodeError):
            Decoder(whole, 0, cut).value()


@pytest.mark.parametrize(
    ("octets", "message", "offset"),
    [
        ("", "a value is missing", 0),
        ("40 40", "octets after the value", 1),
        ("3f", "0x3f is not a constructor", 0),
        ("46", "0x46 is not a constructor", 0),
        ("90" + "00" * 16, "0x90 is not a constructor", 0),
        ("a2 00", "0xa2 is not a constructor", 0),
        ("c2 01 00", "0xc2 is not a constructor", 0),
        ("ff 00", "0xff is not a constructor", 0),
        ("01", "0x01 is not a constructor", 0),
        ("56 02", "0x02 is not a boolean", 0),
        ("73 0000d800", "0xd800 is not a Unicode character", 0),
        ("73 0000dfff", "0xdfff is not a Unicode character", 0),
        ("73 00110000", "0x110000 is not a Unicode character", 0),
        ("73 ffffffff", "0xffffffff is not a Unicode character", 0),
        ("a1 01 80", "not UTF-8", 0),
        ("a1 02 c0af", "not UTF-8", 0),
        ("a3 01 80", "not ASCII", 0),
        ("a0 05 00", "5 octets is cut short", 0),
        ("b0 ffffffff 00", "4294967295 octets is over the limit of 2147483647", 0),
        ("b0 7fffffff 00", "2147483647 octets is cut short", 0),
        ("00 53", "cut short", 1),
        ("00", "a value is missing", 1),
        ("00 44", "a value is missing", 2),
        ("c0 00", "no room for its count", 0),
        ("d0 00000003 000000", "no room for its count", 0),
        ("e0 00", "no room for its count", 0),
        ("c0 02 00 40", "larger than what is in it", 0),
        ("c0 03 01 40 40", "larger than what is in it", 0),
        ("c0 01 01 40", "1 elements do not fit", 0),
        ("c0 02 01 52 01", "cut short", 3),
        ("c0 03 02 52 01 40", "a value is missing", 5),
        ("c0 05 01 d0 00000001", "cut short", 3),
        ("c1 02 01 40", "a key without a value", 0),
        ("c1 03 02 40 3f", "0x3f is not a constructor", 4),
        ("c1 07 04 5501 41 5501 42", "a key twice", 0),
        ("e0 01 00", "a value is missing", 3),
        ("e0 02 00 46", "0x46 is not a constructor", 0),
        ("e0 03 01 00 46", "0x46 is not a constructor", 4),
        ("e0 03 02 50 01", "2 elements do not fit their array", 0),
        ("e0 03 00 50 01", "larger than what is in it", 0),
        ("e0 04 01 a1 02 61", "2 octets is cut short", 0),
        ("e0 03 01 56 02", "0x02 is not a boolean", 0),
        ("f0 00000005 ffffffff 40", "4294967295 elements are over the limit of 65536", 0),
    ],
)
def test_what_is_no_value_is_a_decode_error_at_its_constructor(octets, message, offset):
    check_refused(bytes.fromhex(octets), message, offset)


# Maps


def map_of(*parts):
    body = b"".join(map(encode, parts))
    return bytes((0xD1,)) + struct.pack(">II", len(body) + 4, len(parts)) + body


@pytest.mark.parametrize(
    "pairs",
    [
        {"a": 1, "b": 2},
        {Symbol("a"): 1, "b": 2, b"c": 3, UInt(1): 4, ULong(2): 5, 3: 6, None: 7, False: 8},
        {-1: "these two", -2: "have one hash"},
        {UUID(int=1): 1, UUID(int=2): 2},
        {Described(Symbol("a"), 1): 1, Described(Symbol("a"), 2): 2},
        {0.5: 1, Float(1.5): 2, Decimal32(b"abcd"): 3, Char("c"): 4, Timestamp(9): 5},
    ],
)
def test_a_map_that_a_dict_can_hold_is_a_dict(pairs):
    parts = [part for pair in pairs.items() for part in pair]
    decoded = decode(map_of(*parts))
    assert type(decoded) is dict
    assert [identity(part) for pair in decoded.items() for part in pair] == [*map(identity, parts)]


@pytest.mark.parametrize(
    "keys",
    [
        ["a", Symbol("a")],
        [Symbol("z"), "a", Symbol("a"), "b"],
        [True, 1],
        [1, UInt(1), ULong(1), UByte(1), 1.0, Float(1.0), Timestamp(1)],
        [0.0, -0.0],
        ["a", Char("a")],
        [b"abcd", Decimal32(b"abcd")],
        [[1], [2]],
        ["a", {}],
        [Array("uint", []), Array("int", [])],
        [Described(Symbol("a"), []), 1],
        [PairMap([(1, 2), (True, 3)]), 1],
    ],
)
def test_a_map_that_a_dict_would_lose_part_of_is_a_pair_map(keys):
    pairs = [(key, position) for position, key in enumerate(keys)]
    decoded = decode(map_of(*[part for pair in pairs for part in pair]))
    assert decoded == PairMap(pairs)
    assert encode(decoded) == encode(PairMap(pairs))


@pytest.mark.parametrize("key", ["a", Symbol("a"), 1, UUID(int=1), 0.5, [1], {}, None])
def test_a_key_twice_in_one_map_is_a_decode_error(key):
    check_refused(map_of(key, 1, key, 2), "a map has a key twice")
    check_refused(map_of("other", 0, key, 1, key, 2), "a map has a key twice")


def test_keys_that_a_peer_chose_to_have_one_hash_do_not_go_into_a_dict():
    modulus = 2**61 - 1
    keys = [UUID(int=modulus * factor) for factor in range(1, 2000)]
    assert len(set(map(hash, keys))) == 1
    decoded = decode(map_of(*[part for key in keys for part in (key, 1)]))
    assert type(decoded) is PairMap
    assert decoded[keys[1000]] == 1


# Limits


WRAPS = [
    lambda inner: b"\xc0" + bytes((len(inner) + 1, 1)) + inner,
    lambda inner: b"\xc1" + bytes((len(inner) + 2, 2)) + b"\x40" + inner,
    lambda inner: b"\x00\x44" + inner,
    lambda inner: b"\x00" + inner + b"\x40",
]


@pytest.mark.parametrize("wrap", WRAPS)
def test_nesting_is_bounded(wrap):
    octets = b"\x40"
    for _ in range(4):
        octets = wrap(octets)
    assert encode(decode(octets, CodecLimits(depth=4))) == encode(decode(octets))
    with pytest.raises(DecodeError, match="nested more than 3 deep"):
        decode(octets, CodecLimits(depth=3))


def test_nesting_of_arrays_is_bounded():
    octets = bytes.fromhex("e0 02 00 40")
    for _ in range(3):
        octets = bytes((0xE0, len(octets) + 1, 1)) + octets
    assert decode(octets, CodecLimits(depth=4)) == decode(octets)
    check_refused(octets, "nested more than 3 deep", depth=3)


def test_the_descriptors_of_an_arrays_elements_count_as_nesting():
    octets = bytes.fromhex("e0 06 00 00 44 00 44 40")
    assert decode(octets, CodecLimits(depth=3)) == decode(octets)
    check_refused(octets, "nested more than 2 deep", depth=2)


@pytest.mark.parametrize("constructor", [b"\x00", b"\x00\x44", b"\xc0\xff\x01", b"\xf0\xff\xff\xff\xff\0\0\0\1"])
def test_endless_nesting_is_a_decode_error(constructor):
    with pytest.raises(DecodeError):
        decode(constructor * 100_000)
    with pytest.raises(DecodeError):
        decode(constructor * 100_000, CodecLimits(depth=128))


def test_the_deepest_nesting_that_can_be_allowed_does_not_exhaust_the_stack():
    octets = b"\x00\x44" * 128 + b"\x40"
    assert encode(decode(octets, CodecLimits(depth=128)), 128) == octets


def test_the_size_of_a_value_is_bounded():
    assert decode(encode("abc"), CodecLimits(size_bytes=3)) == "abc"
    check_refused(encode("abcd"), "a value of 4 octets is over the limit of 3", size_bytes=3)
    check_refused(encode([1, 2]), "a value of 5 octets is over the limit of 3", size_bytes=3)


def test_the_count_of_elements_is_bounded():
    for three in ([None] * 3, Array("null", [None] * 3), Array("ubyte", [UByte(1)] * 3)):
        assert decode(encode(three), CodecLimits(count=3)) == three
        check_refused(encode(three), "3 elements are over the limit of 2", count=2)
    check_refused(encode({1: 2}), "2 elements are over the limit of 1", count=1)


def test_nested_arrays_cannot_multiply_elements_that_have_no_octets():
    bomb = encode(Array("array", [Array("null", [None] * 40_000)] * 2))
    assert len(bomb) < 40
    check_refused(bomb, "more than 65536 array elements have no octets", 0)
    assert len(decode(bomb, CodecLimits(count=80_000)).values) == 2


def test_each_octets_that_a_decoder_is_reset_onto_may_have_as_many_elements_without_octets():
    octets = encode(Array("null", [None] * 40_000))
    decoder = Decoder(octets)
    for _ in range(3):
        assert len(decoder.value().values) == 40_000
        decoder.reset(octets, 0, len(octets))


# Skipping


def test_skipping_steps_over_one_value_and_looks_at_nothing_inside_of_it():
    decoder = Decoder(bytes.fromhex("c0 03 02 ff ff  52 01"))
    decoder.skip()
    assert decoder.value() == UInt(1)


@pytest.mark.parametrize(
    ("octets", "message", "offset"),
    [
        ("46", "0x46 is not a constructor", 0),
        ("00 44", "missing", 2),
        ("70 0000", "cut short", 0),
        ("a1 02 61", "cut", 0),
    ],
)
def test_what_cannot_be_skipped_is_a_decode_error(octets, message, offset):
    with pytest.raises(DecodeError, match=message) as refused:
        Decoder(bytes.fromhex(octets)).skip()
    assert refused.value.offset == offset


def test_skipping_endless_descriptors_ends_with_the_octets():
    with pytest.raises(DecodeError, match="a value is missing"):
        Decoder(b"\x00" * 100_000).skip()


# Properties


@given(st.data(), values)
def test_every_legal_encoding_means_the_same_value(data, value):
    octets = data.draw(legal_encodings(value))
    assert identity(decode(octets)) == identity(value)
    assert identity(decode(bytearray(octets))) == identity(value)


@given(st.data(), values)
def test_skipping_ends_where_decoding_does(data, value):
    octets = data.draw(legal_encodings(value))
    decoder = Decoder(octets + b"\x40")
    decoder.skip()
    assert decoder.pos == len(octets)


@given(st.data(), values)
def test_a_value_cut_short_at_any_octet_is_a_decode_error(data, value):
    octets = data.draw(legal_encodings(value))
    for cut in range(len(octets)):
        with pytest.raises(DecodeError):
            decode(octets[:cut])


@given(st.binary() | damaged(encoded_values))
def test_any_octets_are_a_value_that_can_be_encoded_again_or_a_decode_error(octets):
    value, refused = outcome_of(lambda: decode(octets))
    if refused is None:
        assert identity(decode(encode(value))) == identity(value)
        assert len(encode(value)) <= len(octets)
    else:
        assert type(refused) is DecodeError
        assert 0 <= refused.offset <= len(octets)


@given(damaged(encoded_values), st.integers(1, 4), st.integers(0, 6), st.integers(0, 30))
def test_any_limits_leave_a_value_or_a_decode_error(octets, depth, count, size):
    limits = CodecLimits(depth=depth, count=count, size_bytes=size)
    value, refused = outcome_of(lambda: decode(octets, limits))
    if refused is None:
        assert identity(value) == identity(decode(octets))
        assert encode(value, depth)
    else:
        assert type(refused) is DecodeError
