"""Reading of values of a known type: the fields of performatives, in all their encodings (1.6).

A Reader is a cursor over octets that it does not own. Its `read_` methods take a value of one type, or null, and return
a C number where possible. Nothing is read past `end`. No memory is allocated for a size or count before its octets are
there. Errors are DecodeErrors with the offset of the constructor.

After an error the Reader must be `reset` before its next use. A bytearray must not change its size while a Reader uses
it.
"""

from routerd.wire.constructors import CODES_BY_NAME
from routerd.wire.errors import DecodeError, ValueRangeError
from routerd.wire.limits import DEFAULT_LIMITS, CodecLimits
from routerd.wire.types import Symbol

_codes_by_name = CODES_BY_NAME
# Creates a symbol without another check for ASCII.
_new_str = str.__new__

# Common symbols are looked up by their octets, because creation would cost more.
_FAMILIAR = (
    "amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list", "amqp:received:list",
    "queue", "topic", "shared", "global", "move", "copy", "link-detach", "session-end", "connection-close", "never",
    "ANONYMOUS", "PLAIN", "EXTERNAL", "ANONYMOUS-RELAY", "product", "version", "platform",
)  # fmt: skip
_SLOTS = 256


def _slot(size: int, middle: int) -> int:
    """Return the slot of a symbol, by its length and its middle octet."""
    return (size * 8 + middle) % _SLOTS


_BY_SLOT = {_slot(len(name), ord(name[len(name) // 2])): name for name in _FAMILIAR}
_familiar_octets = [_BY_SLOT[slot].encode() if slot in _BY_SLOT else b"" for slot in range(_SLOTS)]
_familiar_symbols = [Symbol(_BY_SLOT.get(slot, "")) for slot in range(_SLOTS)]


class Reader:
    """A cursor over encoded values: `pos` is the start of the next value, `end` the end of the octets."""

    def __init__(
        self, data: bytes | bytearray, start: int = 0, end: int | None = None, limits: CodecLimits = DEFAULT_LIMITS
    ) -> None:
        self._depth = limits.depth
        self._count_limit = limits.count
        self._size_limit = limits.size_bytes
        self.reset(data, start, len(data) if end is None else end)

    def reset(self, data: bytes | bytearray, start: int, end: int) -> None:
        """Start again, on data[start:end]."""
        if not 0 <= start <= end <= len(data):
            raise ValueRangeError(f"{start} to {end} is not within {len(data)} octets")
        self.begin(data, start, end)

    def begin(self, data: bytes | bytearray, start: int, end: int) -> None:
        """Start again, as `reset`, for a caller that has checked the bounds."""
        self._data = data
        self.view = data
        self.pos = start
        self.end = end
        self.list_end = end
        self._weightless = 0

    def peek(self) -> int:
        """Return the constructor of the next value, without a step."""
        if self.pos >= self.end:
            raise DecodeError("a value is missing", offset=self.pos)
        return self.view[self.pos]

    # Octets

    def _constructor(self) -> int:
        at = self.pos
        if at >= self.end:
            raise DecodeError("a value is missing", offset=at)
        self.pos = at + 1
        return self.view[at]

    def _take(self, count: int, at: int) -> int:
        """Step over octets, and return their start; `at` is the start of their value."""
        start = self.pos
        if count > self.end - start:
            raise DecodeError("a value is cut short", offset=at)
        self.pos = start + count
        return start

    def _u32(self, at: int) -> int:
        view = self.view
        first = view[at]
        return first << 24 | view[at + 1] << 16 | view[at + 2] << 8 | view[at + 3]

    def _size(self, code: int, at: int) -> int:
        """Read a size, of one or four octets by the constructor; that many octets must follow."""
        size = self._u32(self._take(4, at)) if code & 0x10 else self.view[self._take(1, at)]
        if size > self._size_limit:
            raise DecodeError(f"a value of {size} octets is over the limit of {self._size_limit}", offset=at)
        if size > self.end - self.pos:
            raise DecodeError(f"a value of {size} octets is cut short", offset=at)
        return size

    def _count(self, code: int, at: int, stop: int) -> int:
        """Read the count of a compound value that ends at `stop`; each element has at least one octet, except in
        arrays.
        """
        width = 4 if code & 0x10 else 1
        if width > stop - self.pos:
            raise DecodeError("a compound value has no room for its count", offset=at)
        start = self._take(width, at)
        count = self._u32(start) if width == 4 else self.view[start]
        if count > self._count_limit:
            raise DecodeError(f"{count} elements are over the limit of {self._count_limit}", offset=at)
        if code < 0xE0 and count > stop - self.pos:
            raise DecodeError(f"{count} elements do not fit their compound value", offset=at)
        return count

    def octets(self, start: int, stop: int) -> bytes:
        octets = self.view[start:stop]
        # Only in the uncompiled form, a slice of a bytearray is a bytearray.
        return octets if type(octets) is bytes else bytes(octets)

    # What is behind the constructor of a variable-width type (1.6.19 to 1.6.21)

    def _binary(self, code: int, at: int) -> bytes:
        size = self._size(code, at)
        start = self.pos
        self.pos = start + size
        return self.octets(start, start + size)

    def _string(self, code: int, at: int) -> str:
        size = self._size(code, at)
        start = self.pos
        self.pos = start + size
        try:
            return self.view[start : start + size].decode("utf-8")
        except UnicodeDecodeError:
            raise DecodeError("a string is not UTF-8", offset=at) from None

    def _symbol(self, code: int, at: int) -> Symbol:
        size = self._size(code, at)
        start = self.pos
        self.pos = start + size
        if size:
            slot = _slot(size, self.view[start + (size >> 1)])
            if self._matches(start, size, _familiar_octets[slot]):
                return _familiar_symbols[slot]
        try:
            text = self.view[start : start + size].decode("ascii")
        except UnicodeDecodeError:
            raise DecodeError("a symbol is not ASCII", offset=at) from None
        return _new_str(Symbol, text)

    def _matches(self, start: int, size: int, octets: bytes) -> bool:
        if size != len(octets):
            return False
        view = self.view
        other = octets
        same = 0
        while same < size and view[start + same] == other[same]:
            same += 1
        return same == size

    def _truth(self, number: int, at: int) -> bool:
        if number > 1:
            raise DecodeError(f"0x{number:02x} is not a boolean", offset=at)
        return number == 1

    # Composite types

    def read_descriptor(self) -> int:
        """Step over a descriptor and return its code; return -1, without a step, if the standard has no such
        descriptor.
        """
        at = self.pos
        if self._constructor() != 0x00:
            raise DecodeError("a described value is missing", offset=at)
        code = self._constructor()
        if code == 0x53:  # smallulong
            return self.view[self._take(1, at)]
        if code == 0x80:  # ulong
            start = self._take(8, at)
            high = self._u32(start)
            if high < 0x80000000:
                return high * 0x100000000 + self._u32(start + 4)
        elif code == 0x44:  # ulong0
            return 0
        elif code == 0xA3 or code == 0xB3:
            number = _codes_by_name.get(self._binary(code, at))
            if number is not None:
                return number
        self.pos = at
        return -1

    def read_list(self) -> int:
        """Step into a list and return its count; `list_end` is its end. The caller reads the elements."""
        at = self.pos
        code = self._constructor()
        if code == 0x45:  # list0
            self.list_end = self.pos
            return 0
        if code != 0xC0 and code != 0xD0:
            raise _wrong("list", code, at)
        return self._step_into(code, at)

    def read_map_start(self) -> int:
        """Step into a map and return the number of its pairs; `list_end` is its end, as with `read_list`."""
        at = self.pos
        code = self._constructor()
        if code != 0xC1 and code != 0xD1:
            raise _wrong("map", code, at)
        count = self._step_into(code, at)
        if count & 1:
            raise DecodeError("a map has a key without a value", offset=at)
        return count >> 1

    def _step_into(self, code: int, at: int) -> int:
        size = self._size(code, at)
        stop = self.pos + size
        count = self._count(code, at, stop)
        self.list_end = stop
        return count

    # Values of one type

    def read_null(self) -> bool:
        """Step over a null; return whether there was one."""
        at = self.pos
        if at >= self.end:
            raise DecodeError("a value is missing", offset=at)
        if self.view[at] != 0x40:
            return False
        self.pos = at + 1
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
            return self._truth(self.view[self._take(1, at)], at)
        if code == 0x40:  # null
            return -1
        raise _wrong("boolean", code, at)

    def read_ubyte(self) -> int:
        """Return a ubyte, or -1 for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x50:
            return self.view[self._take(1, at)]
        if code == 0x40:  # null
            return -1
        raise _wrong("ubyte", code, at)

    def read_ushort(self) -> int:
        """Return a ushort, or -1 for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x60:
            start = self._take(2, at)
            return self.view[start] << 8 | self.view[start + 1]
        if code == 0x40:  # null
            return -1
        raise _wrong("ushort", code, at)

    def read_uint(self) -> int:
        """Return a uint, or -1 for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x52:  # smalluint
            return self.view[self._take(1, at)]
        if code == 0x43:  # uint0
            return 0
        if code == 0x70:
            return self._u32(self._take(4, at))
        if code == 0x40:  # null
            return -1
        raise _wrong("uint", code, at)

    def read_ulong(self) -> int | None:
        """Return a ulong, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0x53:  # smallulong
            return self.view[self._take(1, at)]
        if code == 0x44:  # ulong0
            return 0
        if code == 0x80:
            start = self._take(8, at)
            high = self._u32(start)
            return high << 32 | self._u32(start + 4)
        if code == 0x40:  # null
            return None
        raise _wrong("ulong", code, at)

    def read_string(self) -> str | None:
        """Return a string, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0xA1 or code == 0xB1:
            return self._string(code, at)
        if code == 0x40:  # null
            return None
        raise _wrong("string", code, at)

    def read_symbol(self) -> Symbol | None:
        """Return a symbol, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0xA3 or code == 0xB3:
            return self._symbol(code, at)
        if code == 0x40:  # null
            return None
        raise _wrong("symbol", code, at)

    def read_binary(self) -> bytes | None:
        """Return a binary, or None for a null."""
        at = self.pos
        code = self._constructor()
        if code == 0xA0 or code == 0xB0:
            return self._binary(code, at)
        if code == 0x40:  # null
            return None
        raise _wrong("binary", code, at)

    def read_four(self) -> int:
        """Return a binary of four octets as a number; -1, without a step, for anything else."""
        at = self.pos
        if self.end - at < 6 or self.view[at] != 0xA0 or self.view[at + 1] != 4:
            return -1
        self.pos = at + 6
        return self._u32(at + 2)

    def read_symbols(self) -> tuple[Symbol, ...]:
        """Return the symbols of a field that is `multiple`: null, a single symbol, or an array (1.4)."""
        at = self.pos
        code = self._constructor()
        if code == 0x40:  # null
            return ()
        if code == 0xA3 or code == 0xB3:
            return (self._symbol(code, at),)
        if code != 0xE0 and code != 0xF0:
            raise _wrong("symbol or an array of them", code, at)
        size = self._size(code, at)
        stop = self.pos + size
        count = self._count(code, at, stop)
        code = self._constructor()
        if code != 0xA3 and code != 0xB3:
            raise _wrong("symbol in an array", code, at)
        symbols = []
        for _ in range(count):
            symbols.append(self._symbol(code, at))
        if self.pos != stop:
            raise DecodeError("an array is larger or smaller than what is in it", offset=at)
        return tuple(symbols)


def _wrong(wanted: str, code: int, at: int) -> DecodeError:
    """Return the error for a value of the wrong type."""
    return DecodeError(f"0x{code:02x} is not the constructor of a {wanted}", offset=at)
