"""Writing of values of a known type: the fields of performatives, in their shortest encodings (1.6).

A Writer is a growing buffer with a cursor. Its `write_` methods append a value of one type. The caller guarantees the
range of the type. A value that has no encoding raises EncodeError.
"""

from collections.abc import Sequence

from routerd.wire.errors import EncodeError
from routerd.wire.limits import LARGEST_SIZE

_largest_size = LARGEST_SIZE
# Most performatives fit, so that the buffer need not grow.
_ROOM = 256
# Below this size, a loop over octets beats a slice assignment (in the compiled form).
_SHORT_COPY = 512
# A constructor, and a size and a count of one octet or of four octets each.
_NARROW_HEADER = 3
_WIDE_HEADER = 9


class Writer:
    """Encoded values, one after the other; `end` is their size in octets."""

    def __init__(self) -> None:
        self._data = bytearray(_ROOM)
        self._view = self._data
        self._room = _ROOM
        self.end = 0

    def clear(self) -> None:
        """Clear the buffer; drop it if it had to grow."""
        self.end = 0
        if self._room > _ROOM:
            self._data = bytearray(_ROOM)
            self._view = self._data
            self._room = _ROOM

    def octets(self) -> bytes:
        """Return everything written."""
        octets: bytes | bytearray = self._view[: self.end]
        # Only in the uncompiled form, a slice of a bytearray is a bytearray.
        return octets if type(octets) is bytes else bytes(octets)

    def _reserve(self, count: int) -> int:
        """Make sure that this many octets fit, step over them, and return their start."""
        at = self.end
        if count > self._room - at:
            self._data += bytes(max(count, self._room))
            self._view = self._data
            self._room = len(self._data)
        self.end = at + count
        return at

    def _put(self, octet: int) -> None:
        at = self._reserve(1)
        self._view[at] = octet

    def _put_two(self, first: int, second: int) -> None:
        at = self._reserve(2)
        self._view[at] = first
        self._view[at + 1] = second

    def _put_word(self, value: int) -> None:
        """Append 32 bits."""
        at = self._reserve(4)
        view = self._view
        view[at] = value >> 24 & 0xFF
        view[at + 1] = value >> 16 & 0xFF
        view[at + 2] = value >> 8 & 0xFF
        view[at + 3] = value & 0xFF

    def _put_size(self, size: int) -> None:
        if size > _largest_size:
            raise EncodeError(f"a value of {size} octets is over the limit of {_largest_size}")
        self._put_word(size)

    def put_octets(self, octets: bytes) -> None:
        """Append encoded octets."""
        size = len(octets)
        at = self._reserve(size)
        if size > _SHORT_COPY:
            self._data[at : at + size] = octets
        else:
            view = self._view
            source = octets
            for i in range(size):
                view[at + i] = source[i]

    # Values of a known type

    def write_null(self) -> None:
        """Append a null."""
        self._put(0x40)

    def write_boolean(self, value: bool) -> None:
        """Append a boolean."""
        self._put(0x41 if value else 0x42)

    def write_ubyte(self, value: int) -> None:
        """Append a ubyte; like all these methods it requires a value in the range of its type."""
        self._put_two(0x50, value)

    def write_ushort(self, value: int) -> None:
        """Append a ushort."""
        self._put(0x60)
        self._put_two(value >> 8, value & 0xFF)

    def write_uint(self, value: int) -> None:
        """Append a uint."""
        if value == 0:
            self._put(0x43)
        elif value <= 0xFF:
            self._put_two(0x52, value)
        else:
            self._put(0x70)
            self._put_word(value)

    def write_ulong(self, value: int) -> None:
        """Append a ulong."""
        if value == 0:
            self._put(0x44)
        elif value <= 0xFF:
            self._put_two(0x53, value)
        else:
            self._put(0x80)
            self._put_word(value >> 32)
            self._put_word(value & 0xFFFFFFFF)

    def write_string(self, text: str) -> None:
        """Append a string."""
        try:
            octets = str.encode(text, "utf-8")
        except UnicodeEncodeError:
            raise EncodeError(f"{text!r} has a surrogate in it") from None
        self._write_variable(0xA1, octets)

    def write_symbol(self, text: str) -> None:
        """Append a symbol."""
        self._write_variable(0xA3, _ascii(text))

    def write_symbols(self, symbols: Sequence[str]) -> None:
        """Append an array of symbols."""
        contents = [_ascii(text) for text in symbols]
        start = self.open_compound(0xE0)
        self._write_contents(contents, 0xA3)
        self.close_compound(start, len(contents))

    def write_binary(self, octets: bytes) -> None:
        """Append a binary."""
        self._write_variable(0xA0, octets)

    def _write_variable(self, code: int, octets: bytes) -> None:
        size = len(octets)
        if size <= 0xFF:
            self._put_two(code, size)
        else:
            self._put(code + 0x10)
            self._put_size(size)
        self.put_octets(octets)

    def open_compound(self, code: int) -> int:
        """Begin a list8, map8 or array8, and return its start; `close_compound` fills in its size and count."""
        at = self._reserve(_NARROW_HEADER)
        self._view[at] = code
        return at

    def close_compound(self, start: int, count: int) -> None:
        """End the compound value that begins at `start`; it becomes a 32-bit form if it is too large."""
        # The size of either form counts the octets of its count (1.6.22).
        size = self.end - start - _NARROW_HEADER + 1
        if size <= 0xFF and count <= 0xFF:
            self._view[start + 1] = size
            self._view[start + 2] = count
        else:
            self._widen(start, count)

    def close_list(self, start: int, count: int) -> None:
        """End the list that begins at `start`; without elements it is a list0."""
        if count:
            self.close_compound(start, count)
        else:
            self._view[start] = 0x45
            self.end = start + 1

    def _widen(self, start: int, count: int) -> None:
        content = start + _NARROW_HEADER
        size = self.end - content
        code = self._view[start] + 0x10
        self._reserve(_WIDE_HEADER - _NARROW_HEADER)
        self._data[start + _WIDE_HEADER : self.end] = self._data[content : content + size]
        self.end = start
        self._put(code)
        self._put_size(size + 4)
        self._put_word(count)
        self.end += size

    def _write_contents(self, contents: list[bytes], code: int) -> None:
        """Append the constructor and the elements of an array of a variable-width type."""
        longest = 0
        for octets in contents:
            longest = max(longest, len(octets))
        self._put(code if longest <= 0xFF else code + 0x10)
        for octets in contents:
            if longest <= 0xFF:
                self._put(len(octets))
            else:
                self._put_size(len(octets))
            self.put_octets(octets)


def _ascii(text: str) -> bytes:
    try:
        return str.encode(text, "ascii")
    except (UnicodeEncodeError, TypeError):
        raise EncodeError(f"{text!r} is not a symbol (ASCII text)") from None
