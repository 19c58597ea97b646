"""The values of a column as a page, with the dictionary that it refers to where it has one."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from routerd.records.file_format.leaves import BYTE_ARRAY, INT32, INT64
from routerd.records.file_format.packing import differences, is_same, lowered, packed, range_of
from routerd.records.file_format.thrift import varint

PLAIN, RLE, DELTA_BINARY_PACKED, RLE_DICTIONARY = 0, 3, 5, 8
_REPETITIVE_WIDTH = 4
"""So many bits a name has at least where compressing is worth its time."""
_FORMATS = {INT32: "i", INT64: "q"}

Value = int | str


@dataclass(slots=True)
class Page:
    """One column of a row group: all its values, and the levels that say where they belong."""

    count: int
    """Values, and those that are not there."""
    encoding: int
    values: bytes
    dictionary: bytes | None = None
    entries: int = 0
    """Of the dictionary."""
    definition: bytes | None = None
    """Where values are there; None where they must be."""
    repetition: bytes | None = None
    """Where lists go on; None outside of lists."""
    range: tuple[int, int] | None = None
    """The least value and the greatest, where readers want to know."""
    is_repetitive: bool = False
    """Whether it is worth compressing: the same names come again and again, in the same order."""

    @property
    def body(self) -> bytes:
        """What stands in the page."""
        levels = (len(one).to_bytes(4, "little") + one for one in (self.repetition, self.definition) if one is not None)
        return b"".join((*levels, self.values))


def run(value: int, count: int, width: int) -> bytes:
    """Return a number of `width` bits that is repeated `count` times."""
    return varint(count << 1) + value.to_bytes((width + 7) // 8, "little")


def series(numbers: "memoryview[Any]", count: int, width: int) -> bytes:
    """Return numbers of `width` bits, as a run if all are equal."""
    if is_same(numbers, count):
        return run(numbers[0], count, width)
    return varint((count + 7) // 8 << 1 | 1) + packed(numbers, count, width)


def plain(values: Sequence[Value], physical: int) -> bytes:
    """Return values one behind the other."""
    if physical == BYTE_ARRAY:
        texts = [str(value).encode(errors="replace") for value in values]
        return b"".join(len(one).to_bytes(4, "little") + one for one in texts)
    return struct.pack(f"<{len(values)}{_FORMATS[physical]}", *values)


def constant(value: Value, count: int, physical: int) -> Page:
    """Return a column that has one value everywhere."""
    return Page(count, RLE_DICTIONARY, b"\1" + run(0, count, 1), plain([value], physical), 1)


def absent(count: int) -> Page:
    """Return an optional column without values."""
    return Page(count, PLAIN, b"", definition=run(0, count, 1))


def named(codes: "memoryview[Any]", count: int, entries: Sequence[Value], physical: int) -> Page:
    """Return a column of codes, each an index of an entry; there is at least one of both."""
    if is_same(codes, count):
        return constant(entries[codes[0]], count, physical)
    width = max(1, (len(entries) - 1).bit_length())
    octets = bytes([width]) + series(codes, count, width)
    is_repetitive = width >= _REPETITIVE_WIDTH
    return Page(count, RLE_DICTIONARY, octets, plain(entries, physical), len(entries), is_repetitive=is_repetitive)


def numeric(values: "memoryview[Any]", count: int, physical: int, *, with_range: bool = False) -> Page:
    """Return a column of at least one number."""
    if is_same(values, count):
        page = constant(values[0], count, physical)
    else:
        page = Page(count, DELTA_BINARY_PACKED, differences(values, count))
    if with_range:
        page.range = range_of(values, count)
    return page


def wide(values: "memoryview[Any]", count: int) -> Page:
    """Return a column of 64-bit numbers that have nothing to do with each other."""
    return Page(count, PLAIN, values[:count].tobytes())


def of_few(values: "memoryview[Any]", count: int) -> Page:
    """Return a column of at least one 8-bit number."""
    if is_same(values, count):
        return constant(values[0], count, INT32)
    least, greatest = range_of(values, count)
    return named(lowered(values, count, least), count, range(least, greatest + 1), INT32)


def everywhere(page: Page) -> Page:
    """Return a page of an optional column none of whose values is missing."""
    page.definition = run(1, page.count, 1)
    return page


def here_and_there(page: Page, levels: "memoryview[Any]", count: int) -> Page:
    """Return a page of an optional column of `count` values; it has those whose level is 1."""
    page.definition = series(levels, count, 1)
    page.count = count
    return page
