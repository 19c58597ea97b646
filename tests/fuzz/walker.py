"""AMQP octets taken apart without a line of the engine's: what it is measured by must not share its mistakes.

A value is walked to a pair (name of its type, Python value), what is inside of compound values too. Floats stay
octets, and an array is (descriptors, constructor, items).
"""

import struct
from typing import Any, NamedTuple

Value = tuple[str, Any]

_FIXED = {
    0x40: ("null", ""),
    0x41: ("boolean", ""),
    0x42: ("boolean", ""),
    0x43: ("uint", ""),
    0x44: ("ulong", ""),
    0x45: ("list", ""),
    0x50: ("ubyte", ">B"),
    0x51: ("byte", ">b"),
    0x52: ("uint", ">B"),
    0x53: ("ulong", ">B"),
    0x54: ("int", ">b"),
    0x55: ("long", ">b"),
    0x56: ("boolean", ">B"),
    0x60: ("ushort", ">H"),
    0x61: ("short", ">h"),
    0x70: ("uint", ">I"),
    0x71: ("int", ">i"),
    0x72: ("float", "4s"),
    0x73: ("char", ">I"),
    0x74: ("decimal32", "4s"),
    0x80: ("ulong", ">Q"),
    0x81: ("long", ">q"),
    0x82: ("double", "8s"),
    0x83: ("timestamp", ">q"),
    0x84: ("decimal64", "8s"),
    0x94: ("decimal128", "16s"),
    0x98: ("uuid", "16s"),
}
_OF_NO_OCTETS: dict[int, Any] = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0, 0x45: []}
_VARIABLE = {0xA0: "binary", 0xA1: "string", 0xA3: "symbol"}
_COMPOUND = {0xC0: "list", 0xC1: "map", 0xE0: "array"}
_KNOWN = frozenset({*_FIXED, *_VARIABLE, *_COMPOUND, *(code | 0x10 for code in (*_VARIABLE, *_COMPOUND))})
_DEPTH = 60
WEIGHTLESS = 2_000
"""Array elements without octets; a few octets could name billions of them."""


class Malformed(Exception):
    """The octets are not what AMQP 1.0 says they must be."""


class Beyond(Exception):
    """The octets may be right, and are more than the walker is ready for."""


class Frame(NamedTuple):
    """A frame, or a protocol header, for which the kind is -1."""

    kind: int
    channel: int
    body: bytes


class Walker:
    """A walk over octets."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = bytes(data)
        self._weightless = WEIGHTLESS

    def value(self, at: int, end: int, depth: int = _DEPTH) -> tuple[Value, int]:
        """Return the value at `at`, and where it ends."""
        if depth <= 0:
            raise Beyond("nested too deep")
        code = self._octet(at, end)
        if code == 0:
            descriptor, at = self.value(at + 1, end, depth - 1)
            described, at = self.value(at, end, depth - 1)
            return ("described", (descriptor, described)), at
        return self._content(code, at + 1, end, depth)

    def _octet(self, at: int, end: int) -> int:
        if at >= end:
            raise Malformed("no octet is left")
        return self._data[at]

    def _content(self, code: int, at: int, end: int, depth: int) -> tuple[Value, int]:
        if code not in _KNOWN:
            raise Malformed(f"0x{code:02x} is not a constructor")
        if code in _FIXED:
            return self._fixed(code, at, end)
        width = 4 if code & 0x10 else 1
        kind = code & ~0x10
        size, at = self._number(at, end, width), at + width
        stop = at + size
        if stop > end:
            raise Malformed("a size beyond the end")
        if kind in _VARIABLE:
            return _variable(_VARIABLE[kind], self._data[at:stop]), stop
        count, at = self._number(at, stop, width), at + width
        if _COMPOUND[kind] == "array":
            return ("array", self._array(count, at, stop, depth)), stop
        items = self._items(count, at, stop, depth)
        return (_COMPOUND[kind], items if kind == 0xC0 else _pairs(items)), stop

    def _number(self, at: int, end: int, width: int) -> int:
        if at + width > end:
            raise Malformed("no room for a size or count")
        return int.from_bytes(self._data[at : at + width], "big")

    def _fixed(self, code: int, at: int, end: int) -> tuple[Value, int]:
        name, layout = _FIXED[code]
        if not layout:
            return (name, _OF_NO_OCTETS[code]), at
        stop = at + struct.calcsize(layout)
        if stop > end:
            raise Malformed(f"no room for a {name}")
        (found,) = struct.unpack_from(layout, self._data, at)
        if name == "boolean":
            if found > 1:
                raise Malformed(f"a boolean of {found}")
            found = bool(found)
        if name == "char" and (found > 0x10FFFF or 0xD800 <= found < 0xE000):
            raise Malformed(f"0x{found:x} is not a character")
        return (name, found), stop

    def _items(self, count: int, at: int, stop: int, depth: int) -> list[Value]:
        if count > stop - at:
            raise Malformed(f"{count} items in {stop - at} octets")
        items = []
        for _ in range(count):
            item, at = self.value(at, stop, depth - 1)
            items.append(item)
        if at != stop:
            raise Malformed("a list or map larger than its items")
        return items

    def _array(self, count: int, at: int, stop: int, depth: int) -> tuple[list[Value], int, list[Value]]:
        descriptors = []
        code = self._octet(at, stop)
        while code == 0:
            depth -= 1
            descriptor, at = self.value(at + 1, stop, depth)
            descriptors.append(descriptor)
            code = self._octet(at, stop)
        at += 1
        if code not in _KNOWN:
            raise Malformed(f"0x{code:02x} is not a constructor")
        if code & 0xF0 == 0x40:
            self._weightless -= count
            if self._weightless < 0:
                raise Beyond("too many elements without octets")
        items = []
        for _ in range(count):
            item, at = self._content(code, at, stop, depth - 1)
            items.append(item)
        if at != stop:
            raise Malformed("an array larger than its elements")
        return descriptors, code, items


def whole_value(data: bytes | bytearray) -> Value:
    """Return the one value that the octets are."""
    found, at = Walker(data).value(0, len(data))
    if at != len(data):
        raise Malformed("octets behind a value")
    return found


def frames(data: bytes | bytearray) -> list[Frame]:
    """Return the protocol headers and frames of a stream that ends with a frame."""
    found = []
    at = 0
    while at < len(data):
        if data[at : at + 4] == b"AMQP":
            found.append(Frame(-1, 0, bytes(data[at : at + 8])))
            at += 8
            continue
        if len(data) - at < 8:
            raise Malformed("the stream ends within a frame header")
        size, offset, kind, channel = struct.unpack_from(">IBBH", data, at)
        if offset < 2 or 4 * offset > size or at + size > len(data):
            raise Malformed(f"a frame of {size} octets with data offset {offset}, where {len(data) - at} are left")
        found.append(Frame(kind, channel, bytes(data[at + 4 * offset : at + size])))
        at += size
    return found


def _variable(name: str, octets: bytes) -> Value:
    try:
        if name == "string":
            return name, octets.decode("utf-8")
        if name == "symbol":
            return name, octets.decode("ascii")
    except UnicodeDecodeError:
        raise Malformed(f"a {name} with wrong octets") from None
    return name, octets


def _pairs(items: list[Value]) -> list[tuple[Value, Value]]:
    if len(items) % 2:
        raise Malformed("a map with a key that has no value")
    pairs = list(zip(items[::2], items[1::2], strict=True))
    # Their text stands for the keys: a list cannot be hashed, and Python takes True for 1.
    if len({repr(key) for key, _ in pairs}) != len(pairs):
        raise Malformed("a map with a key twice")
    return pairs
