"""Encoding: Python values to octets, always in the shortest AMQP encoding (part 1).

An Encoder is a Writer that also takes values of any type. `encode` and `encode_into` encode a single value. `types`
lists the Python type for each AMQP type. A value without encoding, or nested too deep, raises EncodeError, because it
comes from our own caller.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from routerd.wire.errors import EncodeError
from routerd.wire.limits import DEFAULT_LIMITS
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
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)
from routerd.wire.writer import Writer

_DEPTH = DEFAULT_LIMITS.depth
_U32 = struct.Struct(">I")
_U64 = struct.Struct(">Q")
_I64 = struct.Struct(">q")
_SINGLE = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")


def _float_octets(value: float) -> bytes:
    """Return single precision. The payload of a NaN is narrowed by hand, because conversion may change it."""
    if value == value:
        return _SINGLE.pack(value)
    (wide,) = _U64.unpack(_DOUBLE.pack(value))
    # A payload too large for single precision becomes a quiet NaN, not an infinity.
    payload = (wide >> 29) & 0x7FFFFF or 0x400000
    return _U32.pack((wide >> 32) & 0x80000000 | 0x7F800000 | payload)


# Rare types of fixed width: the constructor, and the function for the octets behind it.
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

_NESTED = frozenset({list, tuple, dict, Described, Array})
_KNOWN = frozenset({*_RARE, *_NESTED, str, Symbol, bool, UInt, ULong, Int, int, bytes, bytearray})

# Encodings of integer arrays, the shortest first: constructor, struct code, range.
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
    "map": (0xC1, Mapping),
    "array": (0xE0, Array),
}
# The errors of the functions above for values of a wrong type; UnicodeError and ValueRangeError are ValueErrors.
_MISFITS = (TypeError, ValueError, AttributeError, OverflowError, struct.error)


class Encoder(Writer):
    """Encoded values of any type, one after the other."""

    def write(self, value: object, depth: int = _DEPTH) -> None:
        """Append a value of any type, which nests at most `depth` deep."""
        self._write_as(value, type(value), depth)

    def _write_as(self, value: Any, kind: type, depth: int) -> None:
        """Append a value in the encoding of its type or an ancestor of it; frequent types come first."""
        if value is None:
            self._put(0x40)
        elif kind is str:
            self.write_string(value)
        elif kind is Symbol:
            self.write_symbol(value)
        elif kind is bool:
            self.write_boolean(value)
        elif kind is UInt:
            self.write_uint(value)
        elif kind is ULong:
            self.write_ulong(value)
        elif kind is int:
            self._write_long(value)
        elif kind is Int:
            self._write_int(value)
        elif kind is bytes or kind is bytearray or kind is memoryview:
            self.write_binary(bytes(value))
        elif kind in _RARE:
            code, octets_of = _RARE[kind]
            self._put(code)
            self.put_octets(octets_of(value))
        elif (kind is list or kind is tuple) and not value:
            self._put(0x45)
        elif kind in _NESTED:
            self._write_nested(value, kind, depth - 1)
        else:
            self._write_as(value, _known_ancestor(kind), depth)

    def _write_int(self, value: int) -> None:
        if -0x80 <= value <= 0x7F:
            self._put_two(0x54, value & 0xFF)
        else:
            self._put(0x71)
            self._put_word(value & 0xFFFFFFFF)

    def _write_long(self, value: int) -> None:
        if -0x80 <= value <= 0x7F:
            self._put_two(0x55, value & 0xFF)
        elif -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            self._put(0x81)
            self.put_octets(_I64.pack(value))
        else:
            raise EncodeError(f"{value} is out of range for a long (64 bits)")

    def _write_nested(self, value: Any, kind: type, depth: int) -> None:
        _check_depth(depth)
        if kind is list or kind is tuple:
            self._write_compound(value, 0xC0, depth)
        elif kind is dict:
            self._write_compound(value, 0xC1, depth)
        elif kind is Array:
            self._write_compound(value, 0xE0, depth)
        else:
            self._put(0x00)
            self.write(value.descriptor, depth)
            self.write(value.value, depth)

    def _write_compound(self, value: Any, code: int, depth: int) -> None:
        start = self.open_compound(code)
        count = self._write_content(value, code, depth)
        self.close_compound(start, count)

    def _write_content(self, value: Any, code: int, depth: int) -> int:
        """Append the content behind the count of a compound value, and return the count."""
        if code == 0xC0:
            for item in value:
                self.write(item, depth)
            return len(value)
        if code == 0xC1:
            for key, item in value.items():
                self.write(key, depth)
                self.write(item, depth)
            return 2 * len(value)
        self._write_elements(value.values, value.type, depth)
        return len(value.values)

    # Arrays

    def _write_elements(self, values: Sequence[Any], element: str | DescribedType, depth: int) -> None:
        """Append the one constructor of all elements, and the elements."""
        while isinstance(element, DescribedType):
            depth -= 1
            _check_depth(depth)
            self._put(0x00)
            self.write(element.descriptor, depth)
            element = element.type
        try:
            if element in _INTEGER_FORMS:
                self._write_integers(values, element)
            elif element in _OTHER_FIXED:
                code, octets_of = _OTHER_FIXED[element]
                self._put(code)
                self.put_octets(b"".join([octets_of(value) for value in values]))
            elif element in _VARIABLE:
                code, octets_of = _VARIABLE[element]
                self._write_contents([octets_of(value) for value in values], code)
            elif element in _COMPOUND:
                self._write_compounds(values, element, depth - 1)
            else:
                self._write_constants(values, element)
        except _MISFITS as misfit:
            raise EncodeError(f"a value does not fit an array of {element}: {misfit}") from None

    def _write_integers(self, values: Sequence[Any], element: str) -> None:
        low = min(values, default=0)
        high = max(values, default=0)
        forms = [form for form in _INTEGER_FORMS[element] if form[2] <= low and high <= form[3]]
        if not forms:
            raise ValueError(f"{low} to {high} is out of range")
        code, letter, _, _ = forms[0] if values else forms[-1]
        self._put(code)
        if letter:
            self.put_octets(struct.pack(f">{len(values)}{letter}", *values))

    def _write_constants(self, values: Sequence[Any], element: str) -> None:
        """Append the constructor of an array of nulls or booleans, and its elements if they need octets."""
        kind = type(None) if element == "null" else bool
        for value in values:
            if type(value) is not kind:
                raise TypeError(f"{value!r} is not of type {element}")
        if element == "null":
            self._put(0x40)
        elif len(set(values)) == 1:
            self.write_boolean(values[0])
        else:
            self._put(0x56)
            self.put_octets(bytes(values))

    def _write_compounds(self, values: Sequence[Any], element: str, depth: int) -> None:
        """Append the constructor and the elements of an array of compound values."""
        code, kinds = _COMPOUND[element]
        contents = []
        is_narrow = True
        for value in values:
            if not isinstance(value, kinds):
                raise TypeError(f"{value!r} is not of type {element}")
            if element != "list" or value:
                _check_depth(depth)
            encoder = Encoder()
            count = encoder._write_content(value, code, depth)
            is_narrow = is_narrow and encoder.end < 0xFF and count <= 0xFF
            contents.append((count, encoder.octets()))
        if element == "list" and values and not any(values):
            self._put(0x45)
        else:
            self._put(code if is_narrow else code + 0x10)
            for count, octets in contents:
                self._write_counted(count, octets, is_narrow)

    def _write_counted(self, count: int, octets: bytes, is_narrow: bool) -> None:
        """Append an element of an array of compound values: its size, its count and its content."""
        if is_narrow:
            self._put_two(len(octets) + 1, count)
        else:
            self._put_size(len(octets) + 4)
            self._put_word(count)
        self.put_octets(octets)


def encode(value: object, depth: int = _DEPTH) -> bytes:
    """Return the shortest encoding of a value, which nests at most `depth` deep."""
    encoder = Encoder()
    encoder.write(value, depth)
    return encoder.octets()


def encode_into(out: bytearray, value: object, depth: int = _DEPTH) -> None:
    """Append the shortest encoding of a value; after an EncodeError nothing is appended."""
    encoder = Encoder()
    encoder.write(value, depth)
    out += encoder.octets()


def _check_depth(depth: int) -> None:
    if depth < 0:
        raise EncodeError("the value is nested too deep")


def _known_ancestor(kind: type) -> type:
    """Return the nearest ancestor of a class that has an AMQP type."""
    for ancestor in kind.__mro__:
        if ancestor in _KNOWN:
            return ancestor
    if issubclass(kind, Mapping):
        return dict
    raise EncodeError(f"{kind.__name__} has no AMQP type")
