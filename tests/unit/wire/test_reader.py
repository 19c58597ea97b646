"""Reads of values whose type is known, in any of their encodings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.decoder import Decoder
from routerd.wire.errors import DecodeError, ValueRangeError
from routerd.wire.limits import CodecLimits
from routerd.wire.types import Symbol, UByte, UInt, ULong, UShort
from tests.unit.wire.strategies import (
    binaries,
    damaged,
    encoded_values,
    legal_encodings,
    outcome_of,
    ranged,
    symbols,
    texts,
)


def decoder_of(text, **limits):
    return Decoder(bytes.fromhex(text), limits=CodecLimits(**limits))


def check_refused(decoder, method, offset, message):
    """The read raises a DecodeError that tells this offset."""
    with pytest.raises(DecodeError, match=message) as refused:
        getattr(decoder, method)()
    assert refused.value.offset == offset
    assert refused.value.condition == "amqp:decode-error"


READS = [
    ("read_boolean", "41", 1),
    ("read_boolean", "42", 0),
    ("read_boolean", "56 01", 1),
    ("read_boolean", "56 00", 0),
    ("read_boolean", "40", -1),
    ("read_ubyte", "50 ff", 255),
    ("read_ubyte", "40", -1),
    ("read_ushort", "60 fffe", 65534),
    ("read_ushort", "40", -1),
    ("read_uint", "43", 0),
    ("read_uint", "52 ff", 255),
    ("read_uint", "70 80000001", 0x80000001),
    ("read_uint", "40", -1),
    ("read_ulong", "44", 0),
    ("read_ulong", "53 ff", 255),
    ("read_ulong", "80 ffffffffffffffff", 2**64 - 1),
    ("read_ulong", "40", None),
    ("read_string", "a1 02 c3a9", "é"),
    ("read_string", "b1 00000002 c3a9", "é"),
    ("read_string", "40", None),
    ("read_symbol", "a3 01 61", Symbol("a")),
    ("read_symbol", "b3 00000012 616d71703a61636365707465643a6c697374", Symbol("amqp:accepted:list")),
    ("read_symbol", "40", None),
    ("read_binary", "a0 02 00ff", b"\x00\xff"),
    ("read_binary", "b0 00000000", b""),
    ("read_binary", "40", None),
    ("read_symbols", "40", ()),
    ("read_symbols", "a3 01 61", (Symbol("a"),)),
    ("read_symbols", "b3 00000001 61", (Symbol("a"),)),
    ("read_symbols", "e0 02 00 a3", ()),
    ("read_symbols", "e0 06 02 a3 01 61 01 62", (Symbol("a"), Symbol("b"))),
    ("read_symbols", "f0 0000000a 00000001 b3 00000001 61", (Symbol("a"),)),
    ("read_map", "40", None),
    ("read_map", "c1 06 02 a10161 5501", {"a": 1}),
    ("read_map", "d1 00000004 00000000", {}),
    ("read_descriptor", "00 53 24", 0x24),
    ("read_descriptor", "00 44", 0),
    ("read_descriptor", "00 80 0000000000000010", 0x10),
    ("read_descriptor", "00 80 7fffffffffffffff", 2**63 - 1),
    ("read_descriptor", "00 a3 12 616d71703a7472616e736665723a6c697374", 0x14),
    ("read_descriptor", "00 b3 00000012 616d71703a7472616e736665723a6c697374", 0x14),
    ("read_list", "45", 0),
    ("read_list", "c0 01 00", 0),
    ("read_map_start", "c1 01 00", 0),
    ("read_map_start", "d1 00000004 00000000", 0),
]


@pytest.mark.parametrize(("method", "octets", "value"), READS)
def test_a_typed_read_takes_every_encoding_of_its_type(method, octets, value):
    decoder = decoder_of(octets)
    result = getattr(decoder, method)()
    assert result == value
    assert type(result) in (type(value), bool)
    assert decoder.pos == decoder.end


def test_a_binary_of_four_octets_is_read_as_a_number():
    decoder = decoder_of("a0 04 80000001 40")
    assert (decoder.read_four(), decoder.pos) == (0x80000001, 6)


@pytest.mark.parametrize(
    "octets", ["a0 03 000001 4040", "a0 05 0000000001", "b0 00000004 00000001", "40", "", "a0 04 000000"]
)
def test_what_else_there_is_stays_to_be_read(octets):
    decoder = decoder_of(octets)
    assert (decoder.read_four(), decoder.pos) == (-1, 0)


@pytest.mark.parametrize(("method", "octets", "value"), READS)
def test_a_typed_read_cut_short_at_any_octet_is_a_decode_error(method, octets, value):
    whole = bytes.fromhex(octets)
    for cut in range(len(whole)):
        with pytest.raises(DecodeError):
            getattr(Decoder(whole, 0, cut), method)()


@pytest.mark.parametrize(
    ("method", "octets", "message"),
    [
        ("read_boolean", "52 01", "0x52 is not the constructor of a boolean"),
        ("read_boolean", "56 02", "0x02 is not a boolean"),
        ("read_ubyte", "52 01", "0x52 is not the constructor of a ubyte"),
        ("read_ushort", "52 01", "0x52 is not the constructor of a ushort"),
        ("read_uint", "53 01", "0x53 is not the constructor of a uint"),
        ("read_ulong", "52 01", "0x52 is not the constructor of a ulong"),
        ("read_string", "a3 01 61", "0xa3 is not the constructor of a string"),
        ("read_string", "a1 01 ff", "not UTF-8"),
        ("read_string", "a1 03 eda080", "not UTF-8"),
        ("read_symbol", "a1 01 61", "0xa1 is not the constructor of a symbol"),
        ("read_symbol", "a3 02 c3a9", "not ASCII"),
        ("read_binary", "a1 01 61", "0xa1 is not the constructor of a binary"),
        ("read_symbols", "a1 01 61", "0xa1 is not the constructor of a symbol or an array"),
        ("read_symbols", "e0 04 01 a1 01 61", "0xa1 is not the constructor of a symbol in an array"),
        ("read_symbols", "e0 05 01 a3 01 61 61", "an array is larger or smaller"),
        ("read_symbols", "e0 02 01 a3 01 61", "an array is larger or smaller"),
        ("read_symbols", "e0 03 01 a3 02 61", "cut short"),
        ("read_map", "45", "0x45 is not the constructor of a map"),
        ("read_map", "c1 02 01 40", "a key without a value"),
        ("read_descriptor", "53 24", "a described value is missing"),
        ("read_list", "40", "0x40 is not the constructor of a list"),
        ("read_list", "c0 00", "no room for its count"),
        ("read_list", "c0 01 01", "1 elements do not fit"),
        ("read_map_start", "c0 01 00", "0xc0 is not the constructor of a map"),
        ("read_map_start", "c1 02 01 40", "a key without a value"),
    ],
)
def test_octets_that_are_not_of_the_type_are_a_decode_error_at_their_constructor(method, octets, message):
    check_refused(Decoder(b"\x40\x40" + bytes.fromhex(octets), 2), method, 2, message)


def test_a_missing_value_is_a_decode_error_where_it_should_be():
    for method in ("peek", "value", "skip", "read_null", "read_uint", "read_map"):
        check_refused(Decoder(b"\x40\x40", 1, 1), method, 1, "a value is missing")


@pytest.mark.parametrize("octets", ["00 a3 01 61 45", "00 80 8000000000000000 45", "00 a1 01 61 45", "00 00 44 45 45"])
def test_an_unknown_descriptor_is_left_where_it_is(octets):
    decoder = decoder_of("40" + octets)
    decoder.read_null()
    assert (decoder.read_descriptor(), decoder.pos) == (-1, 1)
    assert decoder.value().value == []


def test_a_null_is_stepped_over_and_nothing_else():
    decoder = decoder_of("40 41")
    assert [decoder.read_null(), decoder.read_null(), decoder.pos] == [True, False, 1]


def test_a_list_is_stepped_into_and_its_end_is_told():
    decoder = decoder_of("c0 04 02 5205 43 41")
    assert (decoder.read_list(), decoder.pos, decoder.list_end) == (2, 3, 6)
    assert [decoder.read_uint(), decoder.read_uint()] == [5, 0]
    assert decoder.pos == decoder.list_end
    assert decoder.read_boolean() == 1


def test_an_empty_list_ends_where_it_is_stepped_into():
    decoder = decoder_of("45 41")
    assert (decoder.read_list(), decoder.pos, decoder.list_end) == (0, 1, 1)


def test_a_map_is_stepped_into_and_its_pairs_are_counted():
    decoder = decoder_of("c1 06 02 a10161 5205")
    assert (decoder.read_map_start(), decoder.pos, decoder.list_end) == (1, 3, 8)


def test_a_peek_changes_nothing():
    decoder = decoder_of("52 05")
    assert [decoder.peek(), decoder.peek(), decoder.read_uint()] == [0x52, 0x52, 5]


@pytest.mark.parametrize("text", ["amqp:accepted:list", "amqp:accepted:LIST", "queue", "quEue", "queueue", "", "q"])
def test_a_symbol_that_is_or_resembles_a_frequent_one_is_read_exactly(text):
    for octets in (b"\xa3" + bytes((len(text),)), b"\xb3" + len(text).to_bytes(4, "big")):
        symbol = Decoder(octets + text.encode()).read_symbol()
        assert (symbol, type(symbol)) == (text, Symbol)


def test_limits_hold_for_typed_reads():
    check_refused(decoder_of("a1 03 616263", size_bytes=2), "read_string", 0, "3 octets is over the limit of 2")
    assert decoder_of("a1 02 6162", size_bytes=2).read_string() == "ab"
    check_refused(decoder_of("c0 04 03 404040", count=2), "read_list", 0, "3 elements are over the limit of 2")
    assert decoder_of("c0 03 02 4040", count=2).read_list() == 2


def test_a_decoder_can_be_reset_onto_other_octets():
    decoder = Decoder(b"\x52\x05")
    assert decoder.read_uint() == 5
    decoder.reset(bytearray(b"\x00\x52\x06\x00"), 1, 3)
    assert (decoder.pos, decoder.end, decoder.list_end) == (1, 3, 3)
    assert decoder.read_uint() == 6


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (2, 1), (0, 3), (3, 3)])
def test_a_decoder_stays_within_the_octets_it_is_given(start, end):
    with pytest.raises(ValueRangeError, match=f"{start} to {end} is not within 2 octets"):
        Decoder(b"\x40\x40", start, end)


typed_values = st.one_of(
    st.tuples(st.just("read_boolean"), st.booleans()),
    st.tuples(st.just("read_ubyte"), ranged(UByte)),
    st.tuples(st.just("read_ushort"), ranged(UShort)),
    st.tuples(st.just("read_uint"), ranged(UInt)),
    st.tuples(st.just("read_ulong"), ranged(ULong)),
    st.tuples(st.just("read_string"), texts),
    st.tuples(st.just("read_symbol"), symbols),
    st.tuples(st.just("read_binary"), binaries),
    st.tuples(st.just("read_map"), st.dictionaries(symbols, texts)),
)


@given(st.data(), typed_values, st.binary(max_size=3), st.binary(max_size=3))
def test_every_legal_encoding_is_read_wherever_it_lies(data, typed_value, before, after):
    method, value = typed_value
    octets = data.draw(legal_encodings(value))
    for kind in (bytes, bytearray):
        decoder = Decoder(kind(before + octets + after), len(before), len(before + octets))
        assert getattr(decoder, method)() == value
        assert decoder.pos == decoder.end


@given(
    st.sampled_from(sorted({method for method, _, _ in READS} | {"peek", "skip"})),
    st.binary() | damaged(encoded_values),
)
def test_any_octets_give_a_value_or_a_decode_error(method, octets):
    decoder = Decoder(octets)
    _, refused = outcome_of(getattr(decoder, method))
    if refused is not None:
        assert type(refused) is DecodeError
        assert 0 <= refused.offset <= len(octets)
    assert 0 <= decoder.pos <= len(octets)
