"""Writes of values whose type is known, in the shortest encoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.decoder import decode
from routerd.wire.encoder import Encoder, encode
from routerd.wire.errors import EncodeError
from routerd.wire.types import Array, Symbol, UByte, UInt, ULong, UShort
from tests.unit.wire.strategies import binaries, symbols, texts


def written(method, *arguments):
    encoder = Encoder()
    getattr(encoder, method)(*arguments)
    return encoder.octets()


@pytest.mark.parametrize(
    ("method", "argument", "octets"),
    [
        ("write_boolean", True, "41"),
        ("write_boolean", False, "42"),
        ("write_ubyte", 0, "50 00"),
        ("write_ubyte", 255, "50 ff"),
        ("write_ushort", 0x0102, "60 0102"),
        ("write_uint", 0, "43"),
        ("write_uint", 255, "52 ff"),
        ("write_uint", 256, "70 00000100"),
        ("write_uint", 0xFFFFFFFF, "70 ffffffff"),
        ("write_ulong", 0, "44"),
        ("write_ulong", 255, "53 ff"),
        ("write_ulong", 256, "80 0000000000000100"),
        ("write_ulong", 2**64 - 1, "80 ffffffffffffffff"),
        ("write_string", "é", "a1 02 c3a9"),
        ("write_symbol", "a", "a3 01 61"),
        ("write_symbol", Symbol("a"), "a3 01 61"),
        ("write_symbols", ("a", Symbol("bc")), "e0 07 02 a3 01 61 02 6263"),
        ("write_binary", b"\x00", "a0 01 00"),
        ("put_octets", b"\x52\x01", "52 01"),
    ],
)
def test_a_typed_write_appends_the_shortest_encoding(method, argument, octets):
    assert written(method, argument).hex() == bytes.fromhex(octets).hex()


def test_a_null_is_one_octet():
    assert written("write_null") == b"\x40"


@pytest.mark.parametrize(
    ("method", "argument", "message"),
    [
        ("write_string", "\ud800", "surrogate"),
        ("write_symbol", "é", "'é' is not a symbol"),
        ("write_symbol", 5, "5 is not a symbol"),
        ("write_symbols", ("a", "é"), "'é' is not a symbol"),
        ("write_symbols", ("a", None), "None is not a symbol"),
    ],
)
def test_text_without_an_encoding_is_an_encode_error(method, argument, message):
    with pytest.raises(EncodeError, match=message):
        written(method, argument)


def test_a_list_is_closed_with_its_size_and_count():
    encoder = Encoder()
    start = encoder.open_compound(0xC0)
    encoder.write_uint(5)
    encoder.close_list(start, 1)
    assert encoder.octets() == bytes.fromhex("c0 03 01 52 05")


def test_a_list_without_elements_is_a_list0():
    encoder = Encoder()
    encoder.close_list(encoder.open_compound(0xC0), 0)
    encoder.write_null()
    assert encoder.octets() == bytes.fromhex("45 40")


def test_what_is_behind_a_list_that_gets_wide_stays_whole():
    encoder = Encoder()
    encoder.write_null()
    start = encoder.open_compound(0xC0)
    encoder.write_binary(b"x" * 300)
    encoder.close_list(start, 1)
    encoder.write_boolean(True)
    body = b"\xb0\x00\x00\x01\x2c" + b"x" * 300
    assert encoder.octets() == bytes.fromhex("40 d0 00000135 00000001") + body + b"\x41"


@given(st.lists(st.binary(max_size=600), max_size=8))
def test_however_much_is_written_nothing_is_lost(pieces):
    encoder = Encoder()
    for piece in pieces:
        encoder.put_octets(piece)
    assert encoder.octets() == b"".join(pieces)
    assert encoder.end == len(b"".join(pieces))


@given(st.integers(0, 2**32 - 1), texts, symbols, binaries, st.lists(symbols, max_size=4))
def test_typed_writes_and_generic_ones_agree(number, text, symbol, octets, several):
    encoder = Encoder()
    encoder.write_ubyte(number & 0xFF)
    encoder.write_ushort(number & 0xFFFF)
    encoder.write_uint(number)
    encoder.write_ulong(number)
    encoder.write_string(text)
    encoder.write_symbol(symbol)
    encoder.write_binary(octets)
    encoder.write_symbols(several)
    values = [UByte(number & 0xFF), UShort(number & 0xFFFF), UInt(number), ULong(number), text, symbol, octets]
    assert encoder.octets() == b"".join(map(encode, [*values, Array("symbol", several)]))
    assert decode(encode(values)) == values
