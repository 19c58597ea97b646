"""Python values to octets, always in the shortest encoding that AMQP has for them (part 1).

Which Python type stands for which AMQP type is told in types.py. `encode_into` appends any value to a
bytearray, and the `write_` functions one of a known type. What has no encoding is an EncodeError: the
mistake is our own caller's, and nothing is appended then.
"""

import struct
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from routerd.wire.errors import EncodeError
from routerd.wire.limits import DEFAULT_LIMITS, LARGEST_SIZE
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
)

_DEPTH = DEFAULT_LIMITS.depth
_U32 = struct.Struct(">I")
_U64 = struct.Struct(">Q")
_I64 = struct.Struct(">q")
_SINGLE = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")


def _float_octets(value: float) -> bytes:
    """Return single precision; the payload of a NaN is narrowed by hand, as conversion may change it."""
    if value == value:
        return _SINGLE.pack(value)
    (wide,) = _U64.unpack(_DOUBLE.pack(value))
    # A payload that single precision has no room for leaves a quiet NaN rather than an infinity.
    payload = (wide >> 29) & 0x7FFFFF or 0x400000
    return _U32.pack((wide >> 32) & 0x80000000 | 0x7F800000 | payload)


# The types of a fixed width that are rare on the wire: constructor, and what gives the octets behind it.
_RARE: dict[type, tuple[int, Callable[[Any], bytes]]] = {
    UByte: (0x50, struct.Struct(">B").pack),
    Byte: (0x51, struct.Struct(">b").pack),
    UShort: (0x60, struct.Struct(">H").pack),
    Short: (0x61, struct.Struct(">h").pack),
    Float: (0x72, _float_octets),
    Char: (0x73, lambda value: _U32.pack(ord(value))),
    Decimal32: (0x74, bytes),
    float: (0x82, _DOUBLE.pack),
    Timestamp: (0x83, _I64.pack),
    Decimal64: (0x84, bytes),
    Decimal128: (0x94, bytes),
    UUID: (0x98, attrgetter("bytes")),
}

_KNOWN = frozenset(
    {*_RARE, type(None), str, Symbol, bool, UInt, ULong, Int, int, bytes, bytearray, memoryview}
    | {list, tuple, dict, PairMap, Described, Array}
)

# How arrays of integers are laid out, the shortest form first: constructor, struct code, range.
_INTEGER_FORMS: dict[str, tuple[tuple[int, str, int, int], ...]] = {
    "ubyte": ((0x50, "B", UByte.LOW, UByte.HIGH),),
    "ushort": ((0x60, "H", UShort.LOW, UShort.HIGH),),
    "uint": ((0x43, "", 0, 0), (0x52, "B", 0, 0xFF), (0x70, "I", UInt.LOW, UInt.HIGH)),
    "ulong": ((0x44, "", 0, 0), (0x53, "B", 0, 0xFF), (0x80, "Q", ULong.LOW, ULong.HIGH)),
    "byte": ((0x51, "b", Byte.LOW, Byte.HIGH),),
    "short": ((0x61, "h", Short.LOW, Short.HIGH),),
    "int": ((0x54, "b", -0x80, 0x7F), (0x71, "i", Int.LOW, Int.HIGH)),
    "long": ((0x55, "b", -0x80, 0x7F), (0x81, "q", Timestamp.LOW, Timestamp.HIGH)),
    "timestamp": ((0x83, "q", Timestamp.LOW, Timestamp.HIGH),),
}
_OTHER_FIXED: dict[str, tuple[int, Callable[[Any], bytes]]] = {
    "float": (0x72, lambda value: _float_octets(Float(value))),
    "double": _RARE[float],
    "char": (0x73, lambda value: _U32.pack(ord(Char(value)))),
    "decimal32": (0x74, Decimal32),
    "decimal64": (0x84, Decimal64),
    "decimal128": (0x94, Decimal128),
    "uuid": _RARE[UUID],
}
_VARIABLE: dict[str, tuple[int, Callable[[Any], bytes]]] = {
    "binary": (0xA0, lambda value: memoryview(value).tobytes()),
    "string": (0xA1, lambda value: str.encode(value, "utf-8")),
    "symbol": (0xA3, lambda value: str.encode(value, "ascii")),
}
_COMPOUND: dict[str, tuple[int, Any]] = {
    "list": (0xC0, (list, tuple)),
    "map": (0xC1, (dict, PairMap)),
    "array": (0xE0, Array),
}
# What a value of the wrong type makes of the functions above; UnicodeError and ValueRangeError are ValueErrors.
_MISFITS = (TypeError, ValueError, AttributeError, OverflowError, struct.error)


def encode(value: object, depth: int = _DEPTH) -> bytes:
    """Return the shortest encoding of a value that nests at most `depth` deep."""
    out = bytearray()
    _write(out, value, depth)
    return bytes(out)


def encode_into(out: bytearray, value: object, depth: int = _DEPTH) -> None:
    """Append the shortest encoding of a value that nests at most `depth` deep."""
    start = len(out)
    try:
        _write(out, value, depth)
    except EncodeError:
        del out[start:]
        raise


# Values of a known type


def write_null(out: bytearray) -> None:
    """Append a null."""
    out.append(0x40)


def write_boolean(out: bytearray, value: bool) -> None:
    """Append a boolean."""
    out.append(0x41 if value else 0x42)


def write_ubyte(out: bytearray, value: int) -> None:
    """Append a ubyte."""
    if not 0 <= value <= 0xFF:
        raise EncodeError(f"{value} is no ubyte")
    out.append(0x50)
    out.append(value)


def write_ushort(out: bytearray, value: int) -> None:
    """Append a ushort."""
    if not 0 <= value <= 0xFFFF:
        raise EncodeError(f"{value} is no ushort")
    out.append(0x60)
    out.append(value >> 8)
    out.append(value & 0xFF)


def write_uint(out: bytearray, value: int) -> None:
    """Append a uint."""
    if value == 0:
        out.append(0x43)
    elif 0 < value <= 0xFF:
        out.append(0x52)
        out.append(value)
    elif 0 < value <= 0xFFFFFFFF:
        out.append(0x70)
        _append_u32(out, value)
    else:
        raise EncodeError(f"{value} is no uint")


def write_ulong(out: bytearray, value: int) -> None:
    """Append a ulong."""
    if value == 0:
        out.append(0x44)
    elif 0 < value <= 0xFF:
        out.append(0x53)
        out.append(value)
    elif 0 < value <= 0xFFFFFFFFFFFFFFFF:
        out.append(0x80)
        out += _U64.pack(value)
    else:
        raise EncodeError(f"{value} is no ulong")


def write_string(out: bytearray, text: str) -> None:
    """Append a string."""
    try:
        octets = str.encode(text, "utf-8")
    except UnicodeEncodeError:
        raise EncodeError(f"{text!r} has a surrogate in it") from None
    _write_variable(out, 0xA1, octets)


def write_symbol(out: bytearray, text: str) -> None:
    """Append a symbol."""
    try:
        octets = str.encode(text, "ascii")
    except UnicodeEncodeError:
        raise EncodeError(f"the symbol {text!r} is not ASCII") from None
    _write_variable(out, 0xA3, octets)


def write_binary(out: bytearray, octets: bytes | bytearray | memoryview) -> None:
    """Append a binary."""
    _write_variable(out, 0xA0, bytes(octets))


def write_symbols(out: bytearray, symbols: Sequence[str]) -> None:
    """Append an array of symbols."""
    try:
        contents = [str.encode(text, "ascii") for text in symbols]
    except UnicodeEncodeError:
        raise EncodeError(f"one of the symbols {symbols!r} is not ASCII") from None
    start = open_compound(out, 0xE0)
    _write_contents(out, contents, 0xA3)
    close_compound(out, start, len(contents))


def _write_variable(out: bytearray, code: int, octets: bytes) -> None:
    size = len(octets)
    if size <= 0xFF:
        out.append(code)
        out.append(size)
    else:
        out.append(code + 0x10)
        _append_size(out, size)
    out += octets


def _append_size(out: bytearray, size: int) -> None:
    if size > LARGEST_SIZE:
        raise EncodeError(f"a value of {size} octets is over the limit of {LARGEST_SIZE}")
    _append_u32(out, size)


def _append_u32(out: bytearray, value: int) -> None:
    out.append(value >> 24 & 0xFF)
    out.append(value >> 16 & 0xFF)
    out.append(value >> 8 & 0xFF)
    out.append(value & 0xFF)


# Values of any type


def _write(out: bytearray, value: Any, depth: int) -> None:
    _write_as(out, value, type(value), depth)


def _write_as(out: bytearray, value: Any, kind: type, depth: int) -> None:
    """Append a value as its type, or an ancestor of it, is written: the frequent types first."""
    if value is None:
        out.append(0x40)
    elif kind is str:
        write_string(out, value)
    elif kind is Symbol:
        write_symbol(out, value)
    elif kind is bool:
        out.append(0x41 if value else 0x42)
    elif kind is UInt:
        write_uint(out, value)
    elif kind is ULong:
        write_ulong(out, value)
    elif kind is int:
        _write_signed(out, value, 0x55, 0x81)
    elif kind is Int:
        _write_signed(out, value, 0x54, 0x71)
    elif kind is bytes or kind is bytearray or kind is memoryview:
        write_binary(out, value)
    elif kind in _RARE:
        code, octets_of = _RARE[kind]
        out.append(code)
        out += octets_of(value)
    else:
        _write_nested(out, value, kind, depth - 1)


def _write_signed(out: bytearray, value: int, short: int, full: int) -> None:
    """Append an int or a long, given its short and its full constructor."""
    if -0x80 <= value <= 0x7F:
        out.append(short)
        out.append(value & 0xFF)
    elif full == 0x71:
        out.append(full)
        _append_u32(out, value & 0xFFFFFFFF)
    elif -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        out.append(full)
        out += _I64.pack(value)
    else:
        raise EncodeError(f"{value} is beyond 64 bits, and so no long")


def _write_nested(out: bytearray, value: Any, kind: type, depth: int) -> None:
    if depth < 0:
        raise EncodeError("the value is nested too deep")
    if kind is list or kind is tuple:
        if value:
            _write_compound(out, value, 0xC0, depth)
        else:
            out.append(0x45)
    elif kind is dict or kind is PairMap:
        _write_compound(out, value, 0xC1, depth)
    elif kind is Array:
        _write_compound(out, value, 0xE0, depth)
    elif kind is Described:
        out.append(0x00)
        _write(out, value.descriptor, depth)
        _write(out, value.value, depth)
    else:
        _write_as(out, value, _known_ancestor(kind), depth + 1)


def _known_ancestor(kind: type) -> type:
    """Return the nearest ancestor of a class that has an AMQP type."""
    for ancestor in kind.__mro__:
        if ancestor in _KNOWN:
            return ancestor
    raise EncodeError(f"{kind.__name__} has no AMQP type")


def _write_compound(out: bytearray, value: Any, code: int, depth: int) -> None:
    start = open_compound(out, code)
    count = _write_content(out, value, code, depth)
    close_compound(out, start, count)


def open_compound(out: bytearray, code: int) -> int:
    """Begin a list8, map8 or array8 and return where; `close_compound` fills in its size and count."""
    start = len(out)
    out.append(code)
    out.append(0)
    out.append(0)
    return start


def close_compound(out: bytearray, start: int, count: int) -> None:
    """End the compound value that begins at `start`; one that has grown beyond one octet gets the wide form."""
    size = len(out) - start - 2
    if size <= 0xFF and count <= 0xFF:
        out[start + 1] = size
        out[start + 2] = count
    else:
        header = bytearray((out[start] + 0x10,))
        _append_size(header, size + 3)
        _append_u32(header, count)
        out[start : start + 3] = header


def _write_content(out: bytearray, value: Any, code: int, depth: int) -> int:
    """Append what follows the count of a compound value, and return the count."""
    if code == 0xC0:
        for item in value:
            _write(out, item, depth)
        return len(value)
    if code == 0xC1:
        for key, item in value.items():
            _write(out, key, depth)
            _write(out, item, depth)
        return 2 * len(value)
    _write_elements(out, value.values, value.type, depth)
    return len(value.values)


# Arrays


def _write_elements(out: bytearray, values: Sequence[Any], element: str | DescribedType, depth: int) -> None:
    """Append the one constructor of all elements, and the elements."""
    while isinstance(element, DescribedType):
        depth -= 1
        if depth < 0:
            raise EncodeError("the value is nested too deep")
        out.append(0x00)
        _write(out, element.descriptor, depth)
        element = element.type
    try:
        if element in _INTEGER_FORMS:
            _write_integers(out, values, element)
        elif element in _OTHER_FIXED:
            code, octets_of = _OTHER_FIXED[element]
            out.append(code)
            out += b"".join([octets_of(value) for value in values])
        elif element in _VARIABLE:
            code, octets_of = _VARIABLE[element]
            _write_contents(out, [octets_of(value) for value in values], code)
        elif element in _COMPOUND:
            _write_compounds(out, values, element, depth - 1)
        else:
            _write_constants(out, values, element)
    except _MISFITS as misfit:
        raise EncodeError(f"a value does not fit an array of {element}: {misfit}") from None


def _write_integers(out: bytearray, values: Sequence[Any], element: str) -> None:
    low = min(values, default=0)
    high = max(values, default=0)
    forms = [form for form in _INTEGER_FORMS[element] if form[2] <= low and high <= form[3]]
    if not forms:
        raise ValueError(f"{low} to {high} is out of range")
    code, letter, _, _ = forms[0] if values else forms[-1]
    out.append(code)
    if letter:
        out += struct.pack(f">{len(values)}{letter}", *values)


def _write_contents(out: bytearray, contents: list[bytes], code: int) -> None:
    """Append the constructor and the elements of an array of a variable-width type."""
    longest = 0
    for octets in contents:
        longest = max(longest, len(octets))
    out.append(code if longest <= 0xFF else code + 0x10)
    for octets in contents:
        if longest <= 0xFF:
            out.append(len(octets))
        else:
            _append_size(out, len(octets))
        out += octets


def _write_constants(out: bytearray, values: Sequence[Any], element: str) -> None:
    """Append the elements of an array of nulls or of booleans."""
    kind = type(None) if element == "null" else bool
    for value in values:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is no {element}")
    if element == "null":
        out.append(0x40)
    elif len(set(values)) == 1:
        out.append(0x41 if values[0] else 0x42)
    else:
        out.append(0x56)
        out += bytes(values)


def _write_compounds(out: bytearray, values: Sequence[Any], element: str, depth: int) -> None:
    if depth < 0:
        raise EncodeError("the value is nested too deep")
    code, kinds = _COMPOUND[element]
    contents = []
    narrow = True
    longest = 0
    for value in values:
        if not isinstance(value, kinds):
            raise TypeError(f"{value!r} is no {element}")
        content = bytearray()
        count = _write_content(content, value, code, depth)
        narrow = narrow and len(content) < 0xFF and count <= 0xFF
        longest = max(longest, count)
        contents.append((count, content))
    if element == "list" and values and longest == 0:
        out.append(0x45)
    else:
        out.append(code if narrow else code + 0x10)
        for count, content in contents:
            _write_counted(out, content, count, narrow)


def _write_counted(out: bytearray, content: bytearray, count: int, narrow: bool) -> None:
    """Append an element of an array of compound values: its size, its count and its content."""
    if narrow:
        out.append(len(content) + 1)
        out.append(count)
    else:
        _append_size(out, len(content) + 4)
        _append_u32(out, count)
    out += content
