from uuid import UUID

import pytest

from routerd.io.logs.value_text import composite_code, octets_text, quoted, value_text
from routerd.wire import (
    Array,
    Byte,
    Char,
    Decimal32,
    Described,
    DescribedType,
    Float,
    Int,
    PairMap,
    Symbol,
    Timestamp,
    UByte,
    ULong,
)

VALUES = [
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (7, "7"),
    (UByte(7), "7"),
    (Byte(-7), "-7"),
    (Timestamp(1000), "1000"),
    (1.5, "1.5"),
    (Float(0.5), "0.5"),
    (Decimal32(b"\x00\x01\x02\xff"), "Decimal32 000102ff"),
    (Char("x"), "'x'"),
    (Char("\n"), "'\\n'"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ("text", '"text"'),
    ('a "word"\\\n\x1b', '"a \\"word\\"\\\\\\n\\x1b"'),
    ("\u00e9\u2028", '"\u00e9\\u2028"'),
    (b"a\x00\"\\\xff", 'b"a\\x00\\"\\\\\\xff"'),
    (Symbol("amqp:accepted:list"), ':"amqp:accepted:list"'),
    (Symbol("qd.conn-id"), ':"qd.conn-id"'),
    (Symbol("two words"), ':"two words"'),
    (Symbol(""), ':""'),
    ([1, [None, "x"]], '[1, [null, "x"]]'),
    ({Symbol("k"): 1, "s": {}}, '{:k=1, "s"={}}'),
    (PairMap([([1], 2)]), "{[1]=2}"),
    (Array("symbol", [Symbol("a"), Symbol("b")]), "@symbol[:a, :b]"),
    (Array(DescribedType(Symbol("x:y"), "int"), [Int(1)]), '@@:"x:y" int[1]'),
    (Described(Symbol("x:y"), "z"), '@:"x:y" "z"'),
    (Described(ULong(0x24), 3), "@36 3"),
    (Described(ULong(0x99), []), "@153 []"),
    (Described(ULong(0x24), []), "@accepted(36) []"),
    (Described(Symbol("amqp:accepted:list"), []), "@accepted(36) []"),
    (Described(ULong(0x29), [None, UByte(1)]), "@target(41) [durable=1]"),
    (Described(ULong(0x24), ["more"]), '@accepted(36) ["more"]'),
    (
        Described(ULong(0x25), [Described(ULong(0x1D), [Symbol("x:y"), "no", {"a": 1}])]),
        '@rejected(37) [error=@error(29) [condition=:"x:y", description="no", info={"a"=1}]]',
    ),
    (
        Described(ULong(0x41), [Symbol("PLAIN"), b"\x00user\x00password", "host"]),
        '@sasl-init(65) [mechanism=:PLAIN, initial-response=(14 octets), hostname="host"]',
    ),
    (Described(ULong(0x43), ["password"]), "@sasl-response(67) [response=(...)]"),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=[text for _, text in VALUES])
def test_a_value_has_its_text(value: object, text: str) -> None:
    assert value_text(value) == text


def test_octets_are_shown_up_to_a_limit() -> None:
    assert octets_text(b"abc", 3) == '"abc"'
    assert octets_text(bytearray(b"abcd"), 3) == '"abc"...'


def test_what_is_quoted_ends_no_line() -> None:
    assert quoted("a\r\nb") == '"a\\r\\nb"'


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (Described(ULong(0x10), []), 0x10),
        (Described(Symbol("amqp:sasl-mechanisms:list"), []), 0x40),
        (Described(Symbol("amqp:other:list"), []), None),
        (Described("amqp:open:list", []), None),
        (Described(ULong(0x10), {}), None),
        (16, None),
    ],
)
def test_a_composite_value_is_known_by_its_descriptor(value: object, code: int | None) -> None:
    assert composite_code(value) == code
