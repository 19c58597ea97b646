"""A value of every AMQP type, in the notation of peers/proton_values.py, for the echo scenario."""

from typing import Any

Value = list[Any]

NUMBERS: list[Value] = [
    *(["ubyte", "0"], ["ubyte", "255"], ["ushort", "0"], ["ushort", "65535"]),
    *(["uint", "0"], ["uint", "255"], ["uint", "256"], ["uint", "4294967295"]),
    *(["ulong", "0"], ["ulong", "255"], ["ulong", "256"], ["ulong", "18446744073709551615"]),
    *(["byte", "-128"], ["byte", "127"], ["short", "-32768"], ["short", "32767"]),
    *(["int", "0"], ["int", "-128"], ["int", "128"], ["int", "-2147483648"], ["int", "2147483647"]),
    *(["long", "0"], ["long", "-128"], ["long", "128"]),
    *(["long", "-9223372036854775808"], ["long", "9223372036854775807"]),
    *(["float", "3fc00000"], ["float", "ff800000"], ["float", "7fc00000"]),
    *(["double", "3ff8000000000000"], ["double", "8000000000000000"], ["double", "7ff8000000000000"]),
    *(["decimal32", "22500001"], ["decimal64", "a2300000000000ff"], ["decimal128", "2208" + "00" * 13 + "01"]),
]

SCALARS: list[Value] = [
    *(["null"], ["boolean", True], ["boolean", False]),
    *NUMBERS,
    *(["char", "65"], ["char", "8364"], ["char", "128512"]),
    *(["timestamp", "0"], ["timestamp", "-1"], ["timestamp", "1700000000123"]),
    *(["uuid", "00112233445566778899aabbccddeeff"], ["binary", ""], ["binary", "00ff"], ["binary", "ab" * 300]),
    *(["string", ""], ["string", "h\u00e9\u20ac\U0001f600"], ["string", "s" * 300]),
    *(["symbol", ""], ["symbol", "x-opt-a"], ["symbol", "y" * 300]),
]

COMPOUND: list[Value] = [
    ["list", []],
    ["list", [["int", "1"], ["uint", "1"], ["list", [["null"], ["list", []]]]]],
    ["list", [["binary", "00" * 300]]],
    ["map", []],
    ["map", [[["string", "b"], ["int", "1"]], [["string", "a"], ["map", [[["symbol", "k"], ["boolean", True]]]]]]],
    ["map", [[["uint", "1"], ["string", "uint"]], [["int", "1"], ["string", "int"]], [["list", []], ["null"]]]],
    ["described", ["symbol", "test:described"], ["string", "by a symbol"]],
    ["described", ["ulong", "18446744073709551615"], ["list", [["int", "1"]]]],
    ["list", [["described", ["ulong", "300"], ["map", []]]]],
]

ARRAYS: list[Value] = [
    *(["array", "boolean", None, [[True], [False]]], ["array", "int", None, []]),
    *(["array", name, None, [["0"], ["1"], ["100"]]] for name in ("ubyte", "ushort", "uint", "ulong")),
    *(["array", name, None, [["0"], ["-1"], ["100"]]] for name in ("byte", "short", "int", "long")),
    *(["array", "float", None, [["3fc00000"]]], ["array", "double", None, [["3ff8000000000000"]]]),
    *(["array", "decimal32", None, [["22500001"]]], ["array", "decimal64", None, [["a2300000000000ff"]]]),
    *(["array", "decimal128", None, [["2208" + "00" * 13 + "01"]]], ["array", "char", None, [["65"], ["128512"]]]),
    *(["array", "timestamp", None, [["1700000000123"]]], ["array", "uuid", None, [["00" * 16], ["ff" * 16]]]),
    *(["array", "binary", None, [["00"], [""]]], ["array", "string", None, [["a"], ["b" * 300]]]),
    *(["array", "symbol", None, [["a"], ["b"]]], ["array", "list", None, [[[["int", "1"]]], [[]]]]),
    ["array", "map", None, [[[[["string", "k"], ["int", "1"]]]], [[]]]],
    ["array", "int", ["symbol", "test:described"], [["1"], ["2"]]],
    ["array", "list", ["ulong", "300"], [[[["int", "1"]]], [[]]]],
]

NOT_BY_RHEA: list[Value] = [
    ["described", ["symbol", "outer"], ["described", ["symbol", "inner"], ["null"]]],
    ["array", "array", None, [["uint", None, [["1"]]], ["uint", None, [["2"], ["3"]]]]],
]
"""rhea drops the second of two descriptors, and can't write an array of arrays."""

TYPED_VALUES = [*SCALARS, *COMPOUND, *ARRAYS]
EVERY_VALUE = [*TYPED_VALUES, *NOT_BY_RHEA]
