"""Octets to Python values: every legal AMQP encoding of every type (part 1), and the typed reads of performatives.

A Decoder is a cursor over octets that somebody else owns. `value` builds whatever comes next, `skip`
steps over it, and the `read_` methods take a value that must be of one type (or null), in any of its
encodings, without building a Python object where a C number will do.

The octets come from a peer: nothing is read past `end`, nothing is allocated for a count before there are
octets for it, nesting is bounded, and whatever is wrong is a DecodeError with the offset of the
constructor in question. A bytearray must not change size while a Decoder is on it.
"""

import struct
from typing import Any
from uuid import UUID

from routerd.wire.errors import DecodeError, ValueRangeError
from routerd.wire.limits import DEFAULT_LIMITS, CodecLimits
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

# Binds the constructors that do not check again what the octets guarantee.
_new_int = int.__new__
_new_float = float.__new__
_new_str = str.__new__
_new_bytes = bytes.__new__

_SMALL_UINTS = tuple(map(UInt, range(256)))
_SMALL_ULONGS = tuple(map(ULong, range(256)))
_DOUBLE = struct.Struct(">d")
_SINGLE = struct.Struct(">f")

# Symbols that peers send all the time are not made anew.
_FAMILIAR_SYMBOLS = {
    name: Symbol(name)
    for name in (
        "amqp:accepted:list amqp:rejected:list amqp:released:list amqp:modified:list amqp:received:list queue topic "
        "move copy session-end link-detach connection-close never ANONYMOUS PLAIN EXTERNAL ANONYMOUS-RELAY product "
        "version platform x-opt-jms-dest x-opt-jms-msg-type apache.org:selector-filter:string"
    ).split()
}

# What the standard's composite types and message sections are called where a peer spells them out (1.4).
_CODES_BY_NAME = {
    f"amqp:{name}".encode(): code
    for name, code in {
        "open:list": 0x10,
        "begin:list": 0x11,
        "attach:list": 0x12,
        "flow:list": 0x13,
        "transfer:list": 0x14,
        "disposition:list": 0x15,
        "detach:list": 0x16,
        "end:list": 0x17,
        "close:list": 0x18,
        "error:list": 0x1D,
        "received:list": 0x23,
        "accepted:list": 0x24,
        "rejected:list": 0x25,
        "released:list": 0x26,
        "modified:list": 0x27,
        "source:list": 0x28,
        "target:list": 0x29,
        "delete-on-close:list": 0x2B,
        "delete-on-no-links:list": 0x2C,
        "delete-on-no-messages:list": 0x2D,
        "delete-on-no-links-or-messages:list": 0x2E,
        "coordinator:list": 0x30,
        "declare:list": 0x31,
        "discharge:list": 0x32,
        "declared:list": 0x33,
        "transactional-state:list": 0x34,
        "sasl-mechanisms:list": 0x40,
        "sasl-init:list": 0x41,
        "sasl-challenge:list": 0x42,
        "sasl-response:list": 0x43,
        "sasl-outcome:list": 0x44,
        "header:list": 0x70,
        "delivery-annotations:map": 0x71,
        "message-annotations:map": 0x72,
        "properties:list": 0x73,
        "application-properties:map": 0x74,
        "data:binary": 0x75,
        "amqp-sequence:list": 0x76,
        "amqp-value:*": 0x77,
        "footer:map": 0x78,
    }.items()
}

_NAMES_BY_CONSTRUCTOR = {
    0x40: "null", 0x41: "boolean", 0x42: "boolean", 0x43: "uint", 0x44: "ulong", 0x45: "list",
    0x50: "ubyte", 0x51: "byte", 0x52: "uint", 0x53: "ulong", 0x54: "int", 0x55: "long", 0x56: "boolean",
    0x60: "ushort", 0x61: "short",
    0x70: "uint", 0x71: "int", 0x72: "float", 0x73: "char", 0x74: "decimal32",
    0x80: "ulong", 0x81: "long", 0x82: "double", 0x83: "timestamp", 0x84: "decimal64",
    0x94: "decimal128", 0x98: "uuid",
    0xA0: "binary", 0xA1: "string", 0xA3: "symbol", 0xB0: "binary", 0xB1: "string", 0xB3: "symbol",
    0xC0: "list", 0xC1: "map", 0xD0: "list", 0xD1: "map", 0xE0: "array", 0xF0: "array",
}  # fmt: skip

# The octets behind a constructor by the half-octet that it begins with (1.2): a width, or of a size field.
_WIDTHS = (0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 1, 4, 1, 4, 1, 4)
_FIXED, _SIZED, _UNKNOWN = 0x20, 0x40, 0xFF
_FORM_TABLE = bytes(
    _UNKNOWN
    if code not in _NAMES_BY_CONSTRUCTOR
    else _WIDTHS[code >> 4] | (_FIXED if code < 0xA0 else _SIZED)
    for code in range(256)
)
_forms = _FORM_TABLE

# Keys of these types go straight into a dict. Of the others, some cannot be hashed, and a peer can
# choose UUIDs and described values that all have one hash.
_PLAIN_KEYS = frozenset({str, Symbol, bytes, bool, int, UByte, UShort, UInt, ULong, Byte, Short, Int, Timestamp, Char})
# -1 and -2 have the same hash, and so on: a few collisions are chance, many are an attack.
_CHANCE_COLLISIONS = 8


class Decoder:
    """A cursor over encoded values: `pos` is where the next one begins, `end` where the octets end."""

    def __init__(
        self, data: bytes | bytearray, start: int = 0, end: int | None = None, limits: CodecLimits = DEFAULT_LIMITS
    ) -> None:
        self._depth = limits.depth
        self._count_limit = limits.count
        self._size_limit = limits.size_bytes
        self.reset(data, start, len(data) if end is None else end)

    def reset(self, data: bytes | bytearray, start: int, end: int) -> None:
        """Begin again, on data[start:end]."""
        if not 0 <= start <= end <= len(data):
            raise ValueRangeError(f"{start} to {end} is not within {len(data)} octets")
        self._data = data
        self._view = data
        self.pos = start
        self.end = end
        self.list_end = end
        self._weightless = 0

    # Values of any type

    def value(self) -> Any:
        """Build the next value, whatever its type."""
        return self._value(self._depth)

    def skip(self) -> None:
        """Step over the next value without building it; what is inside of it is not looked at."""
        wanted = 1
        while wanted:
            at = self.pos
            code = self._constructor()
            form = _forms[code]
            if code == 0x00:
                wanted += 1
                continue
            if form == _UNKNOWN:
                raise DecodeError(f"0x{code:02x} is no constructor", offset=at)
            size = form & 0x1F
            if form & _SIZED:
                size = self._size(code, at)
            self._take(size, at)
            wanted -= 1

    def peek(self) -> int:
        """Return the constructor octet of the next value, and stay before it."""
        if self.pos >= self.end:
            raise DecodeError("a value is missing", offset=self.pos)
        return self._view[self.pos]

    def _value(self, depth: int) -> Any:
        at = self.pos
        code = self._constructor()
        if code == 0x00:
            return self._described(at, depth - 1)
        return self._content(code, at, depth)

    def _content(self, code: int, at: int, depth: int) -> Any:
        """Build what follows a constructor."""
        if code >= 0xC0:
            return self._compound(code, at, depth - 1)
        if code >= 0xA0:
            return self._variable(code, at)
        return self._fixed(code, at)

    def _described(self, at: int, depth: int) -> Any:
        self._check_depth(depth, at)
        descriptor = self._value(depth)
        return Described(descriptor, self._value(depth))

    def _check_depth(self, depth: int, at: int) -> None:
        if depth < 0:
            raise DecodeError(f"values are nested more than {self._depth} deep", offset=at)

    # Octets

    def _constructor(self) -> int:
        at = self.pos
        if at >= self.end:
            raise DecodeError("a value is missing", offset=at)
        self.pos = at + 1
        return self._view[at]

    def _take(self, count: int, at: int) -> int:
        """Step over octets, and return where they begin; `at` is where the value that they belong to does."""
        start = self.pos
        if count > self.end - start:
            raise DecodeError("a value is cut short", offset=at)
        self.pos = start + count
        return start

    def _size(self, code: int, at: int) -> int:
        """Read a size, of one octet or of four as the constructor says; there are as many octets."""
        if code & 0x10:
            size = _u32(self._view, self._take(4, at))
        else:
            size = self._view[self._take(1, at)]
        if size > self._size_limit:
            raise DecodeError(f"a value of {size} octets is over the limit of {self._size_limit}", offset=at)
        if size > self.end - self.pos:
            raise DecodeError(f"a value of {size} octets is cut short", offset=at)
        return size

    def _octets(self, start: int, stop: int) -> bytes:
        octets = self._view[start:stop]
        # Only where this is not compiled is the slice of a bytearray one too.
        return octets if type(octets) is bytes else bytes(octets)

    # Fixed-width types (1.6.1 to 1.6.18)

    def _fixed(self, code: int, at: int) -> Any:
        form = _forms[code]
        if form == _UNKNOWN:
            raise DecodeError(f"0x{code:02x} is no constructor", offset=at)
        width = form & 0x1F
        start = self._take(width, at)
        if width == 0:
            return self._of_no_octets(code)
        if width == 1:
            return self._of_one_octet(code, start, at)
        if width == 4:
            return self._of_four_octets(code, start, at)
        if width == 8:
            return self._of_eight_octets(code, start)
        return self._of_other_width(code, start)

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
        return []  # list0

    def _of_one_octet(self, code: int, start: int, at: int) -> Any:
        number = self._view[start]
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

    def _truth(self, number: int, at: int) -> bool:
        if number > 1:
            raise DecodeError(f"0x{number:02x} is no boolean", offset=at)
        return number == 1

    def _of_four_octets(self, code: int, start: int, at: int) -> Any:
        number = _u32(self._view, start)
        if code == 0x70:  # uint
            return _new_int(UInt, number)
        if code == 0x71:  # int
            return _new_int(Int, _signed(number))
        if code == 0x72:  # float
            return _single(self._octets(start, start + 4), number)
        if code == 0x73:  # char
            if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                raise DecodeError(f"0x{number:x} is no Unicode character", offset=at)
            return _new_str(Char, chr(number))
        return _new_bytes(Decimal32, self._octets(start, start + 4))

    def _of_eight_octets(self, code: int, start: int) -> Any:
        high = _u32(self._view, start)
        low = _u32(self._view, start + 4)
        if code == 0x80:  # ulong
            return _new_int(ULong, _u64(high, low))
        if code == 0x81:  # long
            return _s64(high, low)
        if code == 0x83:  # timestamp
            return _new_int(Timestamp, _s64(high, low))
        octets = self._octets(start, start + 8)
        if code == 0x82:  # double
            return _DOUBLE.unpack(octets)[0]
        return _new_bytes(Decimal64, octets)

    def _of_other_width(self, code: int, start: int) -> Any:
        if code == 0x60 or code == 0x61:
            number = self._view[start] << 8 | self._view[start + 1]
            if code == 0x60:  # ushort
                return _new_int(UShort, number)
            return _new_int(Short, number - 0x10000 if number & 0x8000 else number)
        octets = self._octets(start, start + 16)
        if code == 0x98:  # uuid
            return UUID(bytes=octets)
        return _new_bytes(Decimal128, octets)

    # Variable-width types (1.6.19 to 1.6.21)

    def _variable(self, code: int, at: int) -> Any:
        if _forms[code] == _UNKNOWN:
            raise DecodeError(f"0x{code:02x} is no constructor", offset=at)
        size = self._size(code, at)
        kind = code & 0x0F
        if kind == 1:
            return self._string(size, at)
        if kind == 3:
            return self._symbol(size, at)
        return self._binary(size)

    def _string(self, size: int, at: int) -> str:
        start = self.pos
        self.pos = start + size
        try:
            return self._view[start : start + size].decode("utf-8")
        except UnicodeDecodeError:
            raise DecodeError("a string is not UTF-8", offset=at) from None

    def _symbol(self, size: int, at: int) -> Symbol:
        start = self.pos
        self.pos = start + size
        try:
            text = self._view[start : start + size].decode("ascii")
        except UnicodeDecodeError:
            raise DecodeError("a symbol is not ASCII", offset=at) from None
        familiar = _FAMILIAR_SYMBOLS.get(text)
        return _new_str(Symbol, text) if familiar is None else familiar

    def _binary(self, size: int) -> bytes:
        start = self.pos
        self.pos = start + size
        return self._octets(start, start + size)

    # Compound types and arrays (1.6.22 to 1.6.24)

    def _compound(self, code: int, at: int, depth: int) -> Any:
        kind = code & 0x0F
        if _forms[code] == _UNKNOWN:
            raise DecodeError(f"0x{code:02x} is no constructor", offset=at)
        self._check_depth(depth, at)
        stop = self._open(code, at)
        count = self._count(code, at, stop)
        outer = self.end
        self.end = stop
        result: Any
        if code >= 0xE0:
            result = self._array(count, at, depth)
        elif kind == 0:
            result = [self._value(depth) for _ in range(count)]
        else:
            result = self._map(count, at, depth)
        if self.pos != stop:
            raise DecodeError("a compound value is larger than what is in it", offset=at)
        self.end = outer
        return result

    def _open(self, code: int, at: int) -> int:
        """Read the size of a compound value, and return where it stops."""
        size = self._size(code, at)
        return self.pos + size

    def _count(self, code: int, at: int, stop: int) -> int:
        """Read the count of a compound value; except in arrays an element has at least one octet."""
        width = 4 if code & 0x10 else 1
        if width > stop - self.pos:
            raise DecodeError("a compound value is too small for its count", offset=at)
        start = self._take(width, at)
        count = _u32(self._view, start) if width == 4 else self._view[start]
        if count > self._count_limit:
            raise DecodeError(f"{count} elements are over the limit of {self._count_limit}", offset=at)
        if code < 0xE0 and count > stop - self.pos:
            raise DecodeError(f"{count} elements do not fit the size of their compound value", offset=at)
        return count

    def _map(self, count: int, at: int, depth: int) -> Any:
        if count & 1:
            raise DecodeError("a map has a key without a value", offset=at)
        mapping: dict[Any, Any] = {}
        pairs: list[tuple[Any, Any]] | None = None
        for _ in range(count >> 1):
            key = self._value(depth)
            value = self._value(depth)
            if pairs is None:
                if type(key) in _PLAIN_KEYS and key not in mapping:
                    mapping[key] = value
                    continue
                pairs = list(mapping.items())
            pairs.append((key, value))
        return mapping if pairs is None else _mapping(pairs, at)

    def _array(self, count: int, at: int, depth: int) -> Array:
        element = self.pos
        descriptors = []
        code = self._constructor()
        while code == 0x00:
            depth -= 1
            self._check_depth(depth, at)
            descriptors.append(self._value(depth))
            code = self._constructor()
        name = _NAMES_BY_CONSTRUCTOR.get(code)
        if name is None:
            raise DecodeError(f"0x{code:02x} is no constructor", offset=element)
        self._check_elements(count, _forms[code], at)
        values = [self._content(code, at, depth) for _ in range(count)]
        element_type: str | DescribedType = name
        for descriptor in reversed(descriptors):
            element_type = DescribedType(descriptor, element_type)
        return Array(element_type, values)

    def _check_elements(self, count: int, form: int, at: int) -> None:
        """Check that the elements of an array can be there, before anything is allocated for them."""
        width = form & 0x1F
        if width == 0:
            # Nested, arrays whose elements have no octets could multiply what one of them may cost.
            self._weightless += count
            if self._weightless > self._count_limit:
                raise DecodeError(f"more than {self._count_limit} array elements have no octets", offset=at)
        elif count * width > self.end - self.pos:
            raise DecodeError(f"{count} elements do not fit the size of their array", offset=at)

    # Reads of one type, for the fields of composite types

    def read_descriptor(self) -> int:
        """Step over a descriptor and return its code; -1, and nothing is stepped over, if the standard has none."""
        at = self.pos
        if self._constructor() != 0x00:
            raise DecodeError("a described value is missing", offset=at)
        code = self._constructor()
        if code == 0x53:  # smallulong
            return self._view[self._take(1, at)]
        if code == 0x80:  # ulong
            start = self._take(8, at)
            high = _u32(self._view, start)
            if high < 0x80000000:
                return _s64(high, _u32(self._view, start + 4))
        elif code == 0x44:  # ulong0
            return 0
        elif code == 0xA3 or code == 0xB3:
            size = self._size(code, at)
            number = _CODES_BY_NAME.get(self._binary(size))
            if number is not None:
                return number
        self.pos = at
        return -1

    def read_list(self) -> int:
        """Step into a list and return its count; `list_end` is where it ends. The caller reads the elements."""
        at = self.pos
        code = self._constructor()
        if code == 0x45:  # list0
            self.list_end = self.pos
            return 0
        if code != 0xC0 and code != 0xD0:
            raise _wrong("list", code, at)
        stop = self._open(code, at)
        count = self._count(code, at, stop)
        self.list_end = stop
        return count

    def read_map_start(self) -> int:
        """Step into a map and return how many pairs it has; `list_end` is where it ends, as with `read_list`."""
        at = self.pos
        code = self._constructor()
        if code != 0xC1 and code != 0xD1:
            raise _wrong("map", code, at)
        stop = self._open(code, at)
        count = self._count(code, at, stop)
        if count & 1:
            raise DecodeError("a map has a key without a value", offset=at)
        self.list_end = stop
        return count >> 1

    def read_null(self) -> bool:
        """Step over a null, and return whether there was one; anything else stays."""
        if self.peek() != 0x40:
            return False
        self.pos += 1
        return True

    def read_boolean(self) -> int:
        """Return 0 or 1, or -1 for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x41:  # true
            return 1
        if code == 0x42:  # false
            return 0
        if code == 0x56:  # boolean
            return self._truth(self._view[self._take(1, at)], at)
        if code == 0x40:  # null
            return -1
        raise _wrong("boolean", code, at)

    def read_ubyte(self) -> int:
        """Return a ubyte, or -1 for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x50:
            return self._view[self._take(1, at)]
        if code == 0x40:  # null
            return -1
        raise _wrong("ubyte", code, at)

    def read_ushort(self) -> int:
        """Return a ushort, or -1 for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x60:
            start = self._take(2, at)
            return self._view[start] << 8 | self._view[start + 1]
        if code == 0x40:  # null
            return -1
        raise _wrong("ushort", code, at)

    def read_uint(self) -> int:
        """Return a uint, or -1 for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x52:  # smalluint
            return self._view[self._take(1, at)]
        if code == 0x43:  # uint0
            return 0
        if code == 0x70:
            return _u32(self._view, self._take(4, at))
        if code == 0x40:  # null
            return -1
        raise _wrong("uint", code, at)

    def read_ulong(self) -> int | None:
        """Return a ulong, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x53:  # smallulong
            return self._view[self._take(1, at)]
        if code == 0x44:  # ulong0
            return 0
        if code == 0x80:
            start = self._take(8, at)
            return _u64(_u32(self._view, start), _u32(self._view, start + 4))
        if code == 0x40:  # null
            return None
        raise _wrong("ulong", code, at)

    def read_string(self) -> str | None:
        """Return a string, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0xA1 or code == 0xB1:
            return self._string(self._size(code, at), at)
        if code == 0x40:  # null
            return None
        raise _wrong("string", code, at)

    def read_symbol(self) -> Symbol | None:
        """Return a symbol, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0xA3 or code == 0xB3:
            return self._symbol(self._size(code, at), at)
        if code == 0x40:  # null
            return None
        raise _wrong("symbol", code, at)

    def read_binary(self) -> bytes | None:
        """Return a binary, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0xA0 or code == 0xB0:
            return self._binary(self._size(code, at))
        if code == 0x40:  # null
            return None
        raise _wrong("binary", code, at)

    def read_map(self) -> Any:
        """Return a map, as a dict or a PairMap, or None for a null."""
        code = self.peek()
        if code == 0xC1 or code == 0xD1 or code == 0x40:
            return self._value(self._depth)
        raise _wrong("map", code, self.pos)

    def read_symbols(self) -> tuple[Symbol, ...]:
        """Return a field that holds any number of symbols: null, one of them, or an array (1.4)."""
        at = self.pos
        code = self.peek()
        if code == 0x40:  # null
            self.pos += 1
            return ()
        if code == 0xA3 or code == 0xB3:
            self.pos += 1
            return (self._symbol(self._size(code, at), at),)
        if code != 0xE0 and code != 0xF0:
            raise _wrong("symbol or an array of them", code, at)
        self.pos += 1
        stop = self._open(code, at)
        count = self._count(code, at, stop)
        code = self._constructor()
        if code != 0xA3 and code != 0xB3:
            raise _wrong("symbol in an array", code, at)
        self._check_elements(count, _forms[code], at)
        symbols = []
        for _ in range(count):
            symbols.append(self._symbol(self._size(code, at), at))
        if self.pos != stop:
            raise DecodeError("an array is larger or smaller than what is in it", offset=at)
        return tuple(symbols)


def decode(data: bytes | bytearray, limits: CodecLimits = DEFAULT_LIMITS) -> Any:
    """Return the one value that the octets hold."""
    decoder = Decoder(data, 0, None, limits)
    value = decoder.value()
    if decoder.pos != decoder.end:
        raise DecodeError("there are octets after the value", offset=decoder.pos)
    return value


def _wrong(wanted: str, code: int, at: int) -> DecodeError:
    """Return the error for a value of another type than the wanted one."""
    return DecodeError(f"0x{code:02x} is not the constructor of a {wanted}", offset=at)


def _mapping(pairs: list[tuple[Any, Any]], at: int) -> Any:
    """Return a map whose keys are not all plain and distinct in Python: a dict if that loses nothing."""
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
    """Return a float; the payload of a NaN is widened by hand, as conversion may change it."""
    if bits & 0x7F800000 == 0x7F800000 and bits & 0x007FFFFF:
        wide = (bits & 0x80000000) << 32 | 0x7FF << 52 | (bits & 0x007FFFFF) << 29
        return _new_float(Float, _DOUBLE.unpack(wide.to_bytes(8, "big"))[0])
    return _new_float(Float, _SINGLE.unpack(octets)[0])


def _u32(view: bytes | bytearray, at: int) -> int:
    return view[at] << 24 | view[at + 1] << 16 | view[at + 2] << 8 | view[at + 3]


def _u64(high: int, low: int) -> int:
    return high << 32 | low


def _signed(number: int) -> int:
    return number - 0x100000000 if number & 0x80000000 else number


def _s64(high: int, low: int) -> int:
    return _signed(high) * 0x100000000 + low
