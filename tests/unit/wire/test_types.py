"""The AMQP types that Python lacks."""

import copy
import pickle
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from routerd.wire.errors import LocalError, ValueRangeError
from routerd.wire.types import (
    Array,
    Byte,
    Char,
    Composite,
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


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (UByte, 0, 255),
        (UShort, 0, 65_535),
        (UInt, 0, 4_294_967_295),
        (ULong, 0, 18_446_744_073_709_551_615),
        (Byte, -128, 127),
        (Short, -32_768, 32_767),
        (Int, -2_147_483_648, 2_147_483_647),
        (Timestamp, -9_223_372_036_854_775_808, 9_223_372_036_854_775_807),
    ],
)
def test_an_integer_type_takes_its_range_and_nothing_else(kind, low, high):
    assert [kind(low), kind(high)] == [low, high]
    assert type(kind(low)) is kind
    for beyond in (low - 1, high + 1):
        with pytest.raises(ValueRangeError, match=f"is not from {low} to {high}, the range of {kind.__name__}"):
            kind(beyond)


def test_an_integer_shows_its_type_in_repr_alone():
    assert (repr(UInt(5)), str(UInt(5)), f"{UInt(5)}") == ("UInt(5)", "5", "5")


def test_a_range_error_is_a_local_error_and_a_value_error():
    assert issubclass(ValueRangeError, LocalError)
    assert issubclass(ValueRangeError, ValueError)


def test_a_float_is_rounded_to_single_precision():
    assert Float(0.1) == 0.10000000149011612
    assert Float(float("inf")) == float("inf")
    assert Float(float("nan")) != Float(float("nan"))
    assert (repr(Float(1.5)), str(Float(1.5))) == ("Float(1.5)", "1.5")


@pytest.mark.parametrize("number", [1e39, -1e39, 10**400])
def test_a_float_beyond_single_precision_is_refused(number):
    with pytest.raises(ValueRangeError, match="beyond single precision"):
        Float(number)


def test_a_symbol_is_text_in_ascii():
    assert Symbol("amqp:accepted:list") == "amqp:accepted:list"
    assert (repr(Symbol("a")), str(Symbol("a"))) == ("Symbol('a')", "a")
    with pytest.raises(ValueRangeError, match="'é' is not ASCII"):
        Symbol("é")


@pytest.mark.parametrize("text", ["a", "é", "\U0010ffff", "\x00", "\ud7ff", "\ue000"])
def test_a_char_is_one_code_point(text):
    assert Char(text) == text
    assert repr(Char(text)) == f"Char({text!r})"


@pytest.mark.parametrize("text", ["", "ab", *map(chr, (0xD800, 0xDFFF))])
def test_a_char_is_neither_a_surrogate_nor_anything_but_one(text):
    with pytest.raises(ValueRangeError, match="is not one Unicode character"):
        Char(text)


@pytest.mark.parametrize(("kind", "width"), [(Decimal32, 4), (Decimal64, 8), (Decimal128, 16)])
def test_a_decimal_is_as_many_octets_as_it_has(kind, width):
    octets = bytes(range(width))
    assert kind(octets) == octets
    assert repr(kind(octets)) == f"{kind.__name__}({octets!r})"
    for wrong in (octets[1:], octets + b"x"):
        with pytest.raises(ValueRangeError, match=f"{kind.__name__} has {width} octets, not {len(wrong)}"):
            kind(wrong)


@pytest.mark.parametrize("value", [UInt(1), Float(0.1), Symbol("a"), Char("a"), Decimal32(b"abcd"), Timestamp(-1)])
def test_a_value_survives_being_copied_and_pickled(value):
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert identity(twin) == identity(value)


def test_described_values_are_equal_by_value_and_can_be_keys():
    assert Described(Symbol("a"), 1) == Described(Symbol("a"), 1) != Described(Symbol("b"), 1)
    assert {Described(Symbol("a"), 1): 2}[Described(Symbol("a"), 1)] == 2
    assert repr(Described(Symbol("a"), 1)) == "Described(descriptor=Symbol('a'), value=1)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(Described(Symbol("a"), []))


def test_arrays_are_equal_if_type_and_values_are():
    assert Array("uint", [UInt(1)]) == Array("uint", [UInt(1)]) != Array("ulong", [ULong(1)])
    assert Array("uint", []) != Array("ulong", [])
    described = Array(DescribedType(Symbol("a"), DescribedType(ULong(1), "uint")), [])
    assert described == Array(DescribedType(Symbol("a"), DescribedType(ULong(1), "uint")), [])
    assert described != Array("uint", [])


@pytest.mark.parametrize("type_", ["integer", "", DescribedType(Symbol("a"), "described")])
def test_an_array_of_an_unknown_type_is_refused(type_):
    with pytest.raises(ValueRangeError, match="is not an AMQP type"):
        Array(type_, [])


DISTINCT = [
    *(None, True, False, 0, 1, 0.0, -0.0, 1.0, float("nan"), "", "a", b"", b"abcd", [], [1], [UInt(1)]),
    *(UByte(1), UShort(1), UInt(1), ULong(1), Byte(1), Short(1), Int(1), Timestamp(1), Float(1.0)),
    *(Symbol("a"), Char("a"), Decimal32(b"abcd"), Decimal64(b"abcdefgh"), UUID(int=1)),
    *({}, {1: 2}, {1: 3}, {1: 2, 3: 4}, {3: 4, 1: 2}, PairMap([(ULong(1), 2)])),
    *(Described(Symbol("a"), 1), Described("a", 1), Described(Symbol("a"), UInt(1))),
    *(Array("uint", []), Array("int", [])),
    *(Array(DescribedType("a", "uint"), []), Array(DescribedType(Symbol("a"), "uint"), [])),
]


def test_values_that_differ_in_type_or_value_differ_in_identity():
    assert len({identity(value) for value in DISTINCT}) == len(DISTINCT)


def test_one_amqp_value_has_one_identity_whatever_python_type_carries_it():
    assert identity([1, "a"]) == identity((1, "a"))
    assert identity({UInt(1): [2]}) == identity(PairMap([(UInt(1), (2,))]))
    assert identity(b"ab") == identity(bytearray(b"ab")) == identity(memoryview(b"ab"))


class TestPairMap:
    pairs = ((UInt(1), "uint"), (True, "boolean"), (1, "long"), ([1], "list"), ({}, "map"))

    def test_finds_keys_by_type_and_value(self):
        pair_map = PairMap(self.pairs)
        assert [pair_map[key] for key, _ in self.pairs] == [value for _, value in self.pairs]
        assert pair_map.get(ULong(1)) is None
        assert ULong(1) not in pair_map
        with pytest.raises(KeyError, match="ULong"):
            pair_map[ULong(1)]

    def test_keeps_the_order_of_its_pairs(self):
        pair_map = PairMap(self.pairs)
        assert len(pair_map) == 5
        assert [identity(key) for key in pair_map] == [identity(key) for key, _ in self.pairs]
        assert list(pair_map.items()) == list(self.pairs)

    def test_equals_what_has_the_same_pairs_in_the_same_order(self):
        assert PairMap(self.pairs) == PairMap(self.pairs)
        assert PairMap(self.pairs) != PairMap(reversed(self.pairs))
        assert PairMap([(1, 2)]) != PairMap([(1, 3)])
        assert PairMap([(1, 2)]) != PairMap([(UInt(1), 2)])
        assert PairMap([(1, 2)]) != {1: 2}

    def test_shows_its_pairs(self):
        assert repr(PairMap([(UInt(1), [2])])) == "PairMap([(UInt(1), [2])])"

    def test_refuses_a_key_twice(self):
        with pytest.raises(ValueRangeError, match="the key 1 is there twice"):
            PairMap([(1, "a"), (1, "b")])

    def test_cannot_be_hashed(self):
        with pytest.raises(TypeError, match="unhashable"):
            hash(PairMap([]))


@dataclass(slots=True, kw_only=True, repr=False)
class Login(Composite):
    CODE = 0x99
    user: str
    realm: str | None = None
    password: str = field(default="", repr=False)


def test_the_repr_of_a_composite_shows_what_differs_from_the_defaults():
    assert repr(Login(user="a")) == "Login(user='a')"
    assert repr(Login(user="a", realm="b")) == "Login(user='a', realm='b')"


def test_the_repr_of_a_composite_never_shows_a_secret():
    assert repr(Login(user="a", password="sesame")) == "Login(user='a', password=...)"
