"""Part 1 of the standard, types: which octets mean which value, and which mean none."""

from uuid import UUID

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.composite import decode_composite, encode_composite
from routerd.wire.decoder import Decoder, decode
from routerd.wire.encoder import encode
from routerd.wire.errors import DecodeError, InvalidField
from routerd.wire.performatives import Attach, Begin, Close, Detach, Open
from routerd.wire.sasl_frames import SaslMechanisms
from routerd.wire.terminus import Source, Target
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

SOME_UUID = UUID("00112233-4455-6677-8899-aabbccddeeff")


def octets(text: str) -> bytes:
    return bytes.fromhex(text)


def check_means(text: str, value: object) -> None:
    """The octets are read as this value, of this very type."""
    assert identity(decode(octets(text))) == identity(value)


def check_is(text: str, value: object) -> None:
    """The octets are read as this value, and the value is written as these octets."""
    check_means(text, value)
    assert encode(value).hex() == octets(text).hex()


def check_is_no_value(text: str) -> None:
    """The octets are refused as amqp:decode-error."""
    with pytest.raises(DecodeError) as refused:
        decode(octets(text))
    assert refused.value.condition == "amqp:decode-error"


def composite(text: str) -> object:
    return decode_composite(Decoder(octets(text)))


def written(value: object) -> str:
    out = bytearray()
    encode_composite(out, value)
    return out.hex()


# 1.1 and 1.2: described types, encodings


def test_a_described_value_with_an_unknown_descriptor_keeps_descriptor_and_value():
    check_is("00 80 0000468c00000004 a1 03 666f6f", Described(ULong(0x0000468C00000004), "foo"))
    check_is("00 a3 05 783a75726c a1 03 666f6f", Described(Symbol("x:url"), "foo"))


def test_a_composite_is_recognised_by_its_numeric_and_by_its_symbolic_descriptor():
    close = Close(error=Error(condition="amqp:internal-error"))
    body = "c0 1c 01 00 53 1d c0 16 01 a3 13 616d71703a696e7465726e616c2d6572726f72"
    assert composite("00 53 18" + body) == close
    assert composite("00 80 0000000000000018" + body) == close
    assert composite("00 a3 0f 616d71703a636c6f73653a6c697374" + body) == close
    assert composite("00 b3 0000000f 616d71703a636c6f73653a6c697374" + body) == close


def test_a_value_outside_of_a_restricted_types_choices_is_an_invalid_field():
    attach = "00 53 12 c0 0a 05 a1 01 6c 43 42 50 {mode} 50 00"
    assert composite(attach.format(mode="01")) == Attach(name="l", handle=0, role=False, snd_settle_mode=1)
    with pytest.raises(InvalidField) as refused:
        composite(attach.format(mode="03"))
    assert refused.value.condition == "amqp:invalid-field"


def test_a_described_constructor_is_zero_then_descriptor_then_constructor():
    check_is("00 53 77 a1 02 6869", Described(ULong(0x77), "hi"))
    check_is("00 53 77 00 53 78 40", Described(ULong(0x77), Described(ULong(0x78), None)))
    check_is_no_value("00")
    check_is_no_value("00 53 77")


def test_a_descriptor_may_itself_be_described():
    check_is("00 00 a3 01 61 a1 01 62 a1 01 63", Described(Described(Symbol("a"), "b"), "c"))


def test_an_undefined_format_code_is_a_decode_error():
    defined = {0x00, *range(0x40, 0x46), *range(0x50, 0x57), 0x60, 0x61, *range(0x70, 0x75), *range(0x80, 0x85)}
    defined |= {0x94, 0x98, 0xA0, 0xA1, 0xA3, 0xB0, 0xB1, 0xB3, 0xC0, 0xC1, 0xD0, 0xD1, 0xE0, 0xF0}
    undefined = sorted(set(range(256)) - defined)
    assert len(undefined) == 256 - 40
    for code in undefined:
        check_is_no_value(f"{code:02x}" + "00" * 20)
        check_is_no_value(f"e0 02 00 {code:02x}")


def test_numbers_travel_in_network_byte_order():
    check_is("60 0102", UShort(0x0102))
    check_is("70 01020304", UInt(0x01020304))
    check_is("80 0102030405060708", ULong(0x0102030405060708))
    check_is("61 0102", Short(0x0102))
    check_is("71 01020304", Int(0x01020304))
    check_is("81 0102030405060708", 0x0102030405060708)


@pytest.mark.parametrize(
    ("width", "codes"),
    [
        (0, "40 41 42 43 44 45"),
        (1, "50 51 52 53 54 55 56"),
        (2, "60 61"),
        (4, "70 71 72 73 74"),
        (8, "80 81 82 83 84"),
        (16, "94 98"),
    ],
)
def test_every_fixed_width_value_takes_the_octets_of_its_subcategory(width, codes):
    for code in codes.split():
        decode(octets(code + "00" * width))
        check_is_no_value(code + "00" * (width + 1))
        if width:
            check_is_no_value(code + "00" * (width - 1))


def test_variable_width_values_carry_a_one_or_four_octet_size():
    for short, wide, value in (
        ("a0", "b0", b"x" * 255),
        ("a1", "b1", "x" * 255),
        ("a3", "b3", Symbol("x" * 255)),
    ):
        check_is(f"{short} ff" + "78" * 255, value)
        check_means(f"{wide} 000000ff" + "78" * 255, value)
        check_is_no_value(f"{short} ff" + "78" * 254)
        check_is_no_value(f"{wide} 000000ff" + "78" * 254)
        check_is_no_value(f"{wide} 000000")
    check_is("b0 00000100" + "78" * 256, b"x" * 256)
    check_is("b1 00000100" + "78" * 256, "x" * 256)
    check_is("b3 00000100" + "78" * 256, Symbol("x" * 256))


def test_compounds_carry_size_and_count_of_equal_width():
    check_is("c0 05 03 40 52 07 41", [None, UInt(7), True])
    check_means("d0 00000008 00000003 40 52 07 41", [None, UInt(7), True])
    check_is("c1 05 02 a3 01 61 41", {Symbol("a"): True})
    check_means("d1 00000008 00000002 a3 01 61 41", {Symbol("a"): True})
    check_is("c0 ff fe" + "40" * 254, [None] * 254)
    check_is("d0 00000103 000000ff" + "40" * 255, [None] * 255)


@pytest.mark.parametrize(
    "text",
    [
        "c0 02 01 40 40",
        "c0 03 01 40 40",
        "c0 03 03 40 40",
        "c0 00",
        "c0 02 01",
        "c0 03 01 a1 05 6162636465",
        "d0 00000003 000000",
        "d0 00000006 00000001 40 40",
        "c1 04 02 40 41 41",
        "c1 05 02 40 41",
    ],
)
def test_a_compound_whose_size_does_not_fit_its_items_is_a_decode_error(text):
    check_is_no_value(text)


def test_an_array_has_one_constructor_for_all_its_elements():
    check_is("e0 05 03 50 01 02 03", Array("ubyte", [UByte(1), UByte(2), UByte(3)]))
    check_is("e0 07 02 a1 01 61 02 6263", Array("string", ["a", "bc"]))
    check_means("f0 00000008 00000003 50 01 02 03", Array("ubyte", [UByte(1), UByte(2), UByte(3)]))


def test_array_elements_may_be_described_compound_or_arrays():
    points = Array(DescribedType(Symbol("p"), "int"), [Int(1), Int(-1)])
    check_means("e0 0e 02 00 a3 01 70 71 00000001 ffffffff", points)
    assert identity(decode(encode(points))) == identity(points)
    check_means("e0 09 02 c0 02 01 41 03 02 42 43", Array("list", [[True], [False, UInt(0)]]))
    check_means("e0 0a 01 c1 07 02 a3 02 6b31 54 05", Array("map", [{Symbol("k1"): Int(5)}]))
    check_means(
        "e0 09 02 e0 02 01 41 03 01 50 09",
        Array("array", [Array("boolean", [True]), Array("ubyte", [UByte(9)])]),
    )


@pytest.mark.parametrize(
    "text",
    [
        "e0 04 03 50 01 02",
        "e0 06 03 50 01 02 03 04",
        "e0 05 04 50 01 02 03",
        "e0 01 01",
        "e0 00",
        "e0 04 01 a1 05 61",
        "f0 00000005 00000001 50",
        "f0 00000004 00000000",
    ],
)
def test_an_array_whose_size_does_not_fit_its_elements_is_a_decode_error(text):
    check_is_no_value(text)


# 1.3 and 1.4: composites


@pytest.mark.parametrize("text", ["00 53 18 c1 01 00", "00 53 18 40", "00 53 18 a1 00", "53 18"])
def test_a_composite_that_is_not_a_list_is_a_decode_error(text):
    with pytest.raises(DecodeError) as refused:
        composite(text)
    assert refused.value.condition == "amqp:decode-error"


@pytest.mark.parametrize(
    "text",
    [
        "00 53 10 c0 04 01 a3 01 63",
        "00 53 10 c0 07 03 a1 01 63 40 53 01",
        "00 53 16 c0 04 02 43 50 01",
        "00 53 16 c0 03 01 53 01",
        "00 53 11 c0 05 04 43 43 43 43",
    ],
)
def test_a_field_of_the_wrong_type_is_a_decode_error(text):
    with pytest.raises(DecodeError) as refused:
        composite(text)
    assert refused.value.condition == "amqp:decode-error"


def test_fields_of_any_type_take_described_values_and_pass_unknown_ones_on():
    unknown = Described(ULong(0x0000468C00000009), [UInt(1), "x"])
    attach = Attach(name="l", handle=0, role=True, source=unknown, target=Target(address="t"))
    assert composite(written(attach)) == attach
    assert composite(written(Source(address=Symbol("s")))) == Source(address=Symbol("s"))
    with pytest.raises(DecodeError):
        composite("00 53 12 c0 0b 06 a1 01 6c 43 41 40 40 a1 01 73")


def test_a_field_that_is_not_encoded_has_its_default():
    assert composite("00 53 10 c0 04 01 a1 01 63") == Open(
        container_id="c", hostname=None, max_frame_size=4294967295, channel_max=65535, idle_time_out=None
    )
    assert composite("00 53 16 c0 02 01 43") == Detach(handle=0, closed=False, error=None)
    assert composite("00 53 16 c0 04 03 43 40 40") == Detach(handle=0, closed=False, error=None)


@pytest.mark.parametrize(
    "text",
    [
        "00 53 10 45",
        "00 53 10 c0 02 01 40",
        "00 53 10 c0 01 00",
        "00 53 11 c0 05 04 40 43 43 40",
        "00 53 23 c0 02 01 43",
    ],
)
def test_a_mandatory_field_that_is_missing_or_null_is_a_decode_error(text):
    with pytest.raises(DecodeError) as refused:
        composite(text)
    assert refused.value.condition == "amqp:decode-error"


def test_restricted_types_without_descriptor_travel_as_their_source_type():
    attach = Attach(name="l", handle=300, role=True, snd_settle_mode=1, rcv_settle_mode=1)
    assert written(attach) == octets("00 53 12 c0 0e 05 a1 01 6c 70 0000012c 41 50 01 50 01").hex()


def test_the_place_in_the_list_names_the_field():
    begin = Begin(remote_channel=1, next_outgoing_id=2, incoming_window=3, outgoing_window=4, handle_max=5)
    assert composite("00 53 11 c0 0c 05 60 0001 52 02 52 03 52 04 52 05") == begin
    assert written(begin) == octets("00 53 11 c0 0c 05 60 0001 52 02 52 03 52 04 52 05").hex()
    later = Begin(next_outgoing_id=2, incoming_window=3, outgoing_window=4)
    assert written(later) == octets("00 53 11 c0 08 04 40 52 02 52 03 52 04").hex()


def test_more_elements_than_fields_is_a_decode_error():
    assert composite("00 53 17 c0 02 01 40") == composite("00 53 17 45")
    with pytest.raises(DecodeError):
        composite("00 53 17 c0 03 02 40 40")


def test_nulls_at_the_end_of_a_composite_are_left_out_and_accepted():
    assert written(Open(container_id="c")) == octets("00 53 10 c0 04 01 a1 01 63").hex()
    assert composite("00 53 10 c0 0d 0a a1 01 63 40 40 40 40 40 40 40 40 40") == Open(container_id="c")


def test_one_value_of_a_multiple_field_may_stand_alone():
    begin = Begin(next_outgoing_id=0, incoming_window=0, outgoing_window=0, offered_capabilities=("a",))
    assert composite("00 53 11 c0 09 06 40 43 43 43 40 a3 01 61") == begin
    assert composite("00 53 11 c0 0c 06 40 43 43 43 40 e0 04 01 a3 01 61") == begin


def test_several_values_of_a_multiple_field_are_an_array():
    begin = Begin(next_outgoing_id=0, incoming_window=0, outgoing_window=0, offered_capabilities=("a", "bc"))
    text = "00 53 11 c0 0f 06 40 43 43 43 40 e0 07 02 a3 01 61 02 6263"
    assert composite(text) == begin
    assert written(begin) == octets(text).hex()


def test_null_and_an_empty_array_mean_the_same_in_a_multiple_field():
    none = Begin(next_outgoing_id=0, incoming_window=0, outgoing_window=0)
    assert none.offered_capabilities == ()
    assert composite("00 53 11 c0 07 06 40 43 43 43 40 40") == none
    assert composite("00 53 11 c0 0a 06 40 43 43 43 40 e0 02 00 a3") == none
    assert composite("00 53 11 c0 10 06 40 43 43 43 40 f0 00000005 00000000 a3") == none


@pytest.mark.parametrize("text", ["00 53 40 45", "00 53 40 c0 02 01 40", "00 53 40 c0 05 01 e0 02 00 a3"])
def test_a_mandatory_multiple_field_without_a_value_is_a_decode_error(text):
    with pytest.raises(DecodeError):
        composite(text)
    assert composite("00 53 40 c0 04 01 a3 01 41") == SaslMechanisms(sasl_server_mechanisms=("A",))


# 1.5: descriptors


def test_a_descriptor_of_a_reserved_type_is_read_and_kept():
    check_is("00 a1 03 55524c a1 01 78", Described("URL", "x"))
    check_is("00 52 77 41", Described(UInt(0x77), True))
    check_is("00 45 41", Described([], True))


# 1.6: the primitive types


def test_null_is_0x40():
    check_is("40", None)


def test_boolean_has_three_encodings():
    check_is("41", True)
    check_is("42", False)
    check_means("56 01", True)
    check_means("56 00", False)


@pytest.mark.parametrize("octet", ["02", "80", "ff"])
def test_a_boolean_octet_above_one_is_a_decode_error(octet):
    check_is_no_value("56" + octet)


def test_ubyte_is_0x50_and_one_octet():
    check_is("50 00", UByte(0))
    check_is("50 ff", UByte(255))


def test_ushort_is_0x60_and_two_octets():
    check_is("60 0000", UShort(0))
    check_is("60 ffff", UShort(65535))


def test_uint_has_three_encodings():
    check_is("43", UInt(0))
    check_is("52 01", UInt(1))
    check_is("52 ff", UInt(255))
    check_is("70 00000100", UInt(256))
    check_is("70 ffffffff", UInt(4294967295))
    check_means("70 00000000", UInt(0))
    check_means("52 00", UInt(0))


def test_ulong_has_three_encodings():
    check_is("44", ULong(0))
    check_is("53 01", ULong(1))
    check_is("53 ff", ULong(255))
    check_is("80 0000000000000100", ULong(256))
    check_is("80 ffffffffffffffff", ULong(18446744073709551615))
    check_means("80 0000000000000000", ULong(0))
    check_means("53 00", ULong(0))


def test_byte_is_0x51_and_one_octet():
    check_is("51 7f", Byte(127))
    check_is("51 80", Byte(-128))
    check_is("51 ff", Byte(-1))


def test_short_is_0x61_and_two_octets():
    check_is("61 7fff", Short(32767))
    check_is("61 8000", Short(-32768))


def test_int_has_two_encodings():
    check_is("54 7f", Int(127))
    check_is("54 80", Int(-128))
    check_is("71 00000080", Int(128))
    check_is("71 ffffff7f", Int(-129))
    check_is("71 80000000", Int(-2147483648))
    check_means("71 ffffffff", Int(-1))


def test_long_has_two_encodings():
    check_is("55 7f", 127)
    check_is("55 80", -128)
    check_is("81 0000000000000080", 128)
    check_is("81 ffffffffffffff7f", -129)
    check_is("81 8000000000000000", -(2**63))
    check_means("81 ffffffffffffffff", -1)


def test_float_is_0x72_and_a_binary32():
    check_is("72 3fc00000", Float(1.5))
    check_is("72 80000000", Float(-0.0))
    check_is("72 7f800000", Float(float("inf")))
    assert encode(decode(octets("72 7fc00000"))) == octets("72 7fc00000")


def test_double_is_0x82_and_a_binary64():
    check_is("82 3ff8000000000000", 1.5)
    check_is("82 8000000000000000", -0.0)
    check_is("82 fff0000000000000", float("-inf"))
    assert encode(decode(octets("82 7ff8000000000001"))) == octets("82 7ff8000000000001")


def test_decimals_are_kept_as_their_octets():
    check_is("74 32800001", Decimal32(octets("32800001")))
    check_is("84 31c0000000000001", Decimal64(octets("31c0000000000001")))
    check_is("94 3040" + "00" * 13 + "01", Decimal128(octets("3040" + "00" * 13 + "01")))


def test_char_is_0x73_and_utf32():
    check_is("73 00000041", Char("A"))
    check_is("73 0010ffff", Char("\U0010ffff"))


@pytest.mark.parametrize("text", ["73 0000d800", "73 0000dfff", "73 00110000", "73 ffffffff"])
def test_a_surrogate_or_too_large_char_is_a_decode_error(text):
    check_is_no_value(text)


def test_timestamp_is_0x83_and_signed_milliseconds():
    check_is("83 0000013167adb8a1", Timestamp(1311704463521))
    check_is("83 ffffffffffffffff", Timestamp(-1))


def test_uuid_is_0x98_and_sixteen_octets():
    check_is("98 00112233445566778899aabbccddeeff", SOME_UUID)


def test_binary_has_two_encodings():
    check_is("a0 00", b"")
    check_is("a0 02 00ff", b"\x00\xff")
    check_means("b0 00000002 00ff", b"\x00\xff")


def test_string_has_two_encodings():
    check_is("a1 00", "")
    check_is("a1 03 e282ac", "\u20ac")
    check_is("a1 04 f09f9880", "\U0001f600")
    check_means("b1 00000003 e282ac", "\u20ac")


@pytest.mark.parametrize("text", ["80", "c3", "c0af", "eda080", "f4908080", "e282"])
def test_octets_that_are_no_utf8_are_a_decode_error(text):
    size = len(octets(text))
    check_is_no_value(f"a1 {size:02x} {text}")
    check_is_no_value(f"b1 {size:08x} {text}")


def test_a_string_is_sent_without_a_byte_order_mark():
    assert encode("abc") == octets("a1 03 616263")


def test_symbol_has_two_encodings():
    check_is("a3 03 616263", Symbol("abc"))
    check_means("b3 00000003 616263", Symbol("abc"))


def test_an_octet_above_0x7f_in_a_symbol_is_a_decode_error():
    check_means("a3 01 7f", Symbol("\x7f"))
    check_is_no_value("a3 01 80")
    check_is_no_value("b3 00000002 c3a4")


def test_list_has_three_encodings():
    check_is("45", [])
    check_means("c0 01 00", [])
    check_means("d0 00000004 00000000", [])
    check_is("c0 04 02 a1 00 45", ["", []])


def test_map_has_two_encodings():
    check_is("c1 01 00", {})
    check_means("d1 00000004 00000000", {})
    check_is("c1 08 04 a1 01 61 52 01 42 40", {"a": UInt(1), False: None})
    check_means("d1 0000000b 00000004 a1 01 61 52 01 42 40", {"a": UInt(1), False: None})


@pytest.mark.parametrize("text", ["c1 02 01 40", "c1 04 03 41 40 42", "d1 00000005 00000001 40"])
def test_a_map_with_an_odd_number_of_items_is_a_decode_error(text):
    check_is_no_value(text)


@pytest.mark.parametrize(
    "text",
    [
        "c1 05 04 40 41 40 42",
        "c1 09 04 a1 01 61 41 a1 01 61 42",
        "c1 06 04 43 41 52 00 41",
        "c1 05 04 45 41 45 41",
    ],
)
def test_a_map_with_two_identical_keys_is_a_decode_error(text):
    check_is_no_value(text)


def test_the_order_of_a_maps_pairs_survives_decoding_and_encoding():
    one, other = octets("c1 09 04 a1 01 61 41 a1 01 62 42"), octets("c1 09 04 a1 01 62 42 a1 01 61 41")
    assert encode(decode(one)) == one
    assert encode(decode(other)) == other
    assert identity(decode(one)) != identity(decode(other))


def test_keys_of_different_types_are_different_keys():
    text = "c1 0c 08 41 40 52 01 41 50 01 42 55 01 43"
    pairs = [(True, None), (UInt(1), True), (UByte(1), False), (1, UInt(0))]
    check_is(text, PairMap(pairs))
    check_means("c1 09 04 a1 01 61 41 a3 01 61 42", PairMap([("a", True), (Symbol("a"), False)]))


def test_array_has_two_encodings():
    check_is("e0 02 00 a1", Array("string", []))
    check_means("f0 00000005 00000000 a1", Array("string", []))
    wide = "f0 0000026d 00000134 60" + "0102" * 308
    check_is(wide, Array("ushort", [UShort(0x0102)] * 308))
