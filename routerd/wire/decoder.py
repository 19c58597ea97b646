"""Decoding: octets to Python values, for every legal AMQP encoding of every type (part 1).

A Decoder is a Reader that also takes values of unknown type. `value` builds the next value, and `skip` steps over it. A
peer controls the octets, so nesting is bounded, and so is everything that could cost more memory than octets. `types`
lists the Python type for each AMQP type.
"""

import struct
from typing import Any
from uuid import UUID

from routerd.wire.constructors import FORMS, NAMES_BY_CONSTRUCTOR, SIZED, UNKNOWN
from routerd.wire.errors import DecodeError, ValueRangeError
from routerd.wire.limits import DEFAULT_LIMITS, CodecLimits
from routerd.wire.reader import Reader
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

# These constructors do not check again what the octets guarantee.
_new_int = int.__new__
_new_float = float.__new__
_new_str = str.__new__
_new_bytes = bytes.__new__

_SMALL_UINTS = tuple(map(UInt, range(256)))
_SMALL_ULONGS = tuple(map(ULong, range(256)))
_DOUBLE = struct.Struct(">d")
_SINGLE = struct.Struct(">f")

_form_table = FORMS
_forms = _form_table
_names = NAMES_BY_CONSTRUCTOR
_sized = SIZED
_unknown = UNKNOWN
_WIDTH_MASK = 0x1F

# Keys of these types go straight into a dict. Some other keys cannot be hashed. A peer can also choose UUIDs and
# described values that all have the same hash.
_PLAIN_KEYS = frozenset({str, Symbol, bytes, bool, int, UByte, UShort, UInt, ULong, Byte, Short, Int, Timestamp, Char})
# Some collisions occur by chance, as -1 and -2 have the same hash; many are an attack.
_CHANCE_COLLISIONS = 8


class Decoder(Reader):
    """A cursor over encoded values of any type."""

    def value(self) -> Any:
        """Build the next value, of any type."""
        return self._value(self._depth)

    def read_map(self) -> Any:
        """Return a map, as a dict or a PairMap, or None for a null."""
        code = self.peek()
        if code == 0xC1 or code == 0xD1 or code == 0x40:
            return self._value(self._depth)
        raise DecodeError(f"0x{code:02x} is not the constructor of a map", offset=self.pos)

    def skip(self) -> None:
        """Step over the next value without reading its content."""
        wanted = 1
        while wanted:
            at = self.pos
            code = self._constructor()
            if code == 0x00:
                wanted += 1
            else:
                form = _known_form(code, at)
                size = self._size(code, at) if form & _sized else form
                self._take(size, at)
                wanted -= 1

    def _value(self, depth: int) -> Any:
        at = self.pos
        code = self._constructor()
        if code == 0x00:
            self._check_depth(depth - 1, at)
            descriptor = self._value(depth - 1)
            return Described(descriptor, self._value(depth - 1))
        return self._content(code, at, depth)

    def _content(self, code: int, at: int, depth: int) -> Any:
        """Build the value behind a constructor."""
        form = _known_form(code, at)
        if form & _sized == 0:
            return self._fixed(code, at, form)
        if code >= 0xC0:
            return self._compound(code, at, depth - 1)
        kind = code & 0x0F
        if kind == 1:
            return self._string(code, at)
        if kind == 3:
            return self._symbol(code, at)
        return self._binary(code, at)

    def _check_depth(self, depth: int, at: int) -> None:
        if depth < 0:
            raise DecodeError(f"values are nested more than {self._depth} deep", offset=at)

    # Fixed-width types (1.6.1 to 1.6.18), and list0

    def _fixed(self, code: int, at: int, width: int) -> Any:
        start = self._take(width, at)
        if width == 0:
            return self._of_no_octets(code)
        if width == 1:
            return self._of_one_octet(code, start, at)
        if width == 4:
            return self._of_four_octets(code, start, at)
        if width == 8:
            return self._of_eight_octets(code, start)
        if width == 2:
            return self._of_two_octets(code, start)
        octets = self.octets(start, start + 16)
        return UUID(bytes=octets) if code == 0x98 else _new_bytes(Decimal128, octets)

    def _of_no_octets(self, code: int) -> Any:
        if code == 0x40:  # null
            return None
        if code == 0x41:  # true
            return True
        if code == 0x42:  # false
            return False
        if code == 0x43:  # uint0
            return _SMALL_UINTS[0]
        if code == 0x44:  # ulong0
            return _SMALL_ULONGS[0]
        return []

    def _of_one_octet(self, code: int, start: int, at: int) -> Any:
        number = self.view[start]
        if code == 0x52:  # smalluint
            return _SMALL_UINTS[number]
        if code == 0x53:  # smallulong
            return _SMALL_ULONGS[number]
        if code == 0x56:  # boolean
            return self._truth(number, at)
        if code == 0x50:  # ubyte
            return _new_int(UByte, number)
        signed = number - 0x100 if number & 0x80 else number
        if code == 0x54:  # smallint
            return _new_int(Int, signed)
        if code == 0x55:  # smalllong
            return signed
        return _new_int(Byte, signed)

    def _of_two_octets(self, code: int, start: int) -> Any:
        number = self.view[start] << 8 | self.view[start + 1]
        if code == 0x60:  # ushort
            return _new_int(UShort, number)
        return _new_int(Short, number - 0x10000 if number & 0x8000 else number)

    def _of_four_octets(self, code: int, start: int, at: int) -> Any:
        number = self._u32(start)
        if code == 0x70:  # uint
            return _new_int(UInt, number)
        if code == 0x71:  # int
            return _new_int(Int, number - 0x100000000 if number & 0x80000000 else number)
        octets = self.octets(start, start + 4)
        if code == 0x72:  # float
            return _single(octets, number)
        if code == 0x74:
            return _new_bytes(Decimal32, octets)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise DecodeError(f"0x{number:x} is not a Unicode character", offset=at)
        return _new_str(Char, chr(number))

    def _of_eight_octets(self, code: int, start: int) -> Any:
        octets = self.octets(start, start + 8)
        if code == 0x82:
            return _DOUBLE.unpack(octets)[0]
        if code == 0x84:
            return _new_bytes(Decimal64, octets)
        high = self._u32(start)
        low = self._u32(start + 4)
        if code == 0x80:
            return _new_int(ULong, high << 32 | low)
        signed = (high - 0x100000000 if high & 0x80000000 else high) * 0x100000000 + low
        return signed if code == 0x81 else _new_int(Timestamp, signed)

    # Lists, maps and arrays (1.6.22 to 1.6.24)

    def _compound(self, code: int, at: int, depth: int) -> Any:
        self._check_depth(depth, at)
        size = self._size(code, at)
        stop = self.pos + size
        count = self._count(code, at, stop)
        outer = self.end
        self.end = stop
        result: Any
        if code >= 0xE0:
            result = self._array(count, at, depth)
        elif code & 0x0F == 0:
            result = [self._value(depth) for _ in range(count)]
        else:
            result = self._map(count, at, depth)
        if self.pos != stop:
            raise DecodeError("a compound value is larger than what is in it", offset=at)
        self.end = outer
        return result

    def _map(self, count: int, at: int, depth: int) -> Any:
        if count & 1:
            raise DecodeError("a map has a key without a value", offset=at)
        mapping: dict[Any, Any] = {}
        pairs: list[tuple[Any, Any]] = []
        for _ in range(count >> 1):
            key = self._value(depth)
            value = self._value(depth)
            if not pairs and type(key) in _PLAIN_KEYS and key not in mapping:
                mapping[key] = value
            else:
                pairs = pairs or [*mapping.items()]
                pairs.append((key, value))
        return _mapping(pairs, at) if pairs else mapping

    def _array(self, count: int, at: int, depth: int) -> Array:
        descriptors = []
        code = self._constructor()
        while code == 0x00:
            depth -= 1
            self._check_depth(depth, at)
            descriptors.append(self._value(depth))
            code = self._constructor()
        self._check_elements(count, _known_form(code, at), at)
        values = [self._content(code, at, depth) for _ in range(count)]
        element: str | DescribedType = _names[code]
        for descriptor in reversed(descriptors):
            element = DescribedType(descriptor, element)
        return Array(element, values)

    def _check_elements(self, count: int, form: int, at: int) -> None:
        """Check that the elements of an array can be present, before memory is allocated for them."""
        width = form & _WIDTH_MASK
        if width == 0:
            # Arrays of elements without octets could multiply their cost by nesting.
            self._weightless += count
            if self._weightless > self._count_limit:
                raise DecodeError(f"more than {self._count_limit} array elements have no octets", offset=at)
        elif count * width > self.end - self.pos:
            raise DecodeError(f"{count} elements do not fit their array", offset=at)


def decode(data: bytes | bytearray, limits: CodecLimits = DEFAULT_LIMITS) -> Any:
    """Return the single value in the octets."""
    decoder = Decoder(data, 0, None, limits)
    value = decoder.value()
    if decoder.pos != decoder.end:
        raise DecodeError("there are octets after the value", offset=decoder.pos)
    return value


def _known_form(code: int, at: int) -> int:
    form = _forms[code]
    if form == _unknown:
        raise DecodeError(f"0x{code:02x} is not a constructor", offset=at)
    return form


def _mapping(pairs: list[tuple[Any, Any]], at: int) -> Any:
    """Return a map whose keys are not all plain and distinct: a dict if it loses nothing, else a PairMap."""
    try:
        pair_map = PairMap(pairs)
    except ValueRangeError:
        raise DecodeError("a map has a key twice", offset=at) from None
    try:
        hashes = {hash(key) for key, _ in pairs}
    except TypeError:
        return pair_map
    if len(pairs) - len(hashes) > _CHANCE_COLLISIONS:
        return pair_map
    mapping = dict(pairs)
    return mapping if len(mapping) == len(pairs) else pair_map


def _single(octets: bytes, bits: int) -> Float:
    """Return a float. The payload of a NaN is widened by hand, because conversion may change it."""
    payload = bits & 0x007FFFFF
    if bits & 0x7F800000 == 0x7F800000 and payload:
        wide = (bits & 0x80000000) << 32 | 0x7FF << 52 | payload << 29
        return _new_float(Float, _DOUBLE.unpack(wide.to_bytes(8, "big"))[0])
    return _new_float(Float, _SINGLE.unpack(octets)[0])
