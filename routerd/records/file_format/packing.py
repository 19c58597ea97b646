# What is counted or indexed here has been checked by who calls it.
# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Numbers as the octets that Parquet has for them: bits side by side, runs, and differences.

A column is a view of integers of 8, 32 or 64 bits; its first `count` values are used. Each function passes it once. The
work for each value in this module is most of the cost of recording.
"""

from array import array
from typing import Any

BLOCK = 128
"""Differences that are told their least at a time."""
PART = 32
"""Differences that are as wide as the widest of them."""

_BLOCK = BLOCK
_PART = PART
_PARTS = BLOCK // PART
_WIDE = 32
_LOW_BITS = 0xFFFFFFFF
_ALL_BITS = 0xFFFFFFFFFFFFFFFF
_VARINT_OCTETS = 10
_ZERO = array("i", [0])
_LARGE_ZERO = array("q", [0])


def range_of(values: "memoryview[int]", count: int) -> tuple[int, int]:
    """Return the least and the greatest of at least one number."""
    least = greatest = values[0]
    for at in range(1, count):
        least = min(least, values[at])
        greatest = max(greatest, values[at])
    return least, greatest


def is_same(values: "memoryview[int]", count: int) -> bool:
    """Return whether all of at least one number are the same."""
    first = values[0]
    at = 1
    while at < count and values[at] == first:
        at += 1
    return at == count


def which_of(values: "memoryview[int]", count: int, least: int, limit: int) -> list[int]:
    """Return which numbers there are, in order; none is below `least`, and all are below `limit`."""
    seen = bytearray(limit - least)
    flags = seen
    for at in range(count):
        flags[values[at] - least] = 1
    return [least + at for at, flag in enumerate(seen) if flag]


def looked_up(table: "memoryview[int]", values: "memoryview[int]", count: int, least: int) -> "memoryview[Any]":
    """Return what a table, which begins with `least`, has for each number."""
    found = memoryview(_ZERO * count)
    into = found
    for at in range(count):
        into[at] = table[values[at] - least]
    return found


def lowered(values: "memoryview[int]", count: int, least: int) -> "memoryview[Any]":
    """Return how much more than `least` each number is."""
    found = memoryview(_ZERO * count)
    into = found
    for at in range(count):
        into[at] = values[at] - least
    return found


def present(
    values: "memoryview[int]", count: int, absent: int
) -> tuple["memoryview[Any]", int, "memoryview[Any]"]:
    """Return the numbers that are not `absent`, how many these are, and for each place 1 if there is one, or 0."""
    found = memoryview(_LARGE_ZERO * count)
    levels = memoryview(_ZERO * count)
    into = found
    flags = levels
    number = 0
    for at in range(count):
        value = values[at]
        into[number] = value
        if value != absent:
            flags[at] = 1
            number += 1
    return found, number, levels


def list_levels(ends: "memoryview[int]", rows: int) -> tuple["memoryview[Any]", "memoryview[Any]", int]:
    """Return for each element of lists 1 if it continues one, and 1 if it is there; and how many elements there are.

    `ends` has where each list begins, and where the last one ends. An empty list has one element that is not there.
    """
    room = ends[rows] - ends[0] + rows
    continues = memoryview(_ZERO * room)
    is_there = memoryview(_ZERO * room)
    again = continues
    there = is_there
    number = 0
    start = ends[0]
    for row in range(rows):
        end = ends[row + 1]
        if end > start:
            there[number] = 1
        number += 1
        for _ in range(start + 1, end):
            again[number] = 1
            there[number] = 1
            number += 1
        start = end
    return continues, is_there, number


def packed(values: "memoryview[int]", count: int, width: int) -> bytes:
    """Return numbers with `width` bits each, up to 32, padded by zeros to a multiple of eight numbers."""
    size = (count + 7) // 8 * width
    octets = bytearray(size + 8)
    into = octets
    end = 0
    bits = 0
    held = 0
    for at in range(count):
        value = values[at]
        held |= value << bits
        bits += width
        while bits >= 8:
            into[end] = held & 0xFF
            end += 1
            held >>= 8
            bits -= 8
    if bits:
        into[end] = held & 0xFF
    return bytes(octets[:size])


def differences(values: "memoryview[int]", count: int) -> bytes:
    """Return at least one number as the first one and what each adds to the one before (DELTA_BINARY_PACKED)."""
    blocks = (count - 1 + BLOCK - 1) // BLOCK
    octets = bytearray(5 * _VARINT_OCTETS + blocks * (_VARINT_OCTETS + _PARTS + 8 * BLOCK) + 8)
    into = octets
    scratch = memoryview(_LARGE_ZERO * BLOCK)
    deltas = scratch
    end = _put_varint(into, 0, _BLOCK)
    end = _put_varint(into, end, _PARTS)
    end = _put_varint(into, end, count)
    end = _put_varint(into, end, _folded(values[0]))
    start = 1
    while start < count:
        number = min(count - start, _BLOCK)
        least = values[start] - values[start - 1]
        for i in range(number):
            delta = values[start + i] - values[start + i - 1]
            deltas[i] = delta
            least = min(least, delta)
        end = _put_varint(into, end, _folded(least))
        end = _put_parts(into, end, deltas, number, least)
        start += number
    return bytes(octets[:end])


def _put_parts(into: bytearray, end: int, deltas: "memoryview[int]", number: int, least: int) -> int:
    """Put the widths of the parts of a block, and the parts; return the end."""
    widths = end
    end += _PARTS
    for part in range(_PARTS):
        first = part * _PART
        last = min(number, first + _PART)
        together = 0
        for i in range(first, last):
            together |= (deltas[i] - least) & _ALL_BITS
        width = 0
        while together:
            together >>= 1
            width += 1
        into[widths + part] = width
        if width:
            end = _put_part(into, end, deltas, first, last, least, width)
    return end


def _put_part(
    into: bytearray, end: int, deltas: "memoryview[int]", first: int, last: int, least: int, width: int
) -> int:
    """Put a part of a block, with zeros for what is missing of it; return the end."""
    # Never are more than 7 bits left over, to which the low half of a number is added, and then the high one.
    low_width = min(width, _WIDE)
    done = end + width * _PART // 8
    bits = 0
    held = 0
    for i in range(first, last):
        value = (deltas[i] - least) & _ALL_BITS
        held |= (value & _LOW_BITS) << bits
        bits += low_width
        while bits >= 8:
            into[end] = held & 0xFF
            end += 1
            held >>= 8
            bits -= 8
        if width > _WIDE:
            held |= (value >> _WIDE) << bits
            bits += width - _WIDE
            while bits >= 8:
                into[end] = held & 0xFF
                end += 1
                held >>= 8
                bits -= 8
    if bits:
        into[end] = held & 0xFF
    return done


def _put_varint(into: bytearray, end: int, value: int) -> int:
    """Put a number that is not below 0, seven bits an octet; return the end."""
    while value > 0x7F:
        into[end] = value & 0x7F | 0x80
        value >>= 7
        end += 1
    into[end] = value
    return end + 1


def _folded(value: int) -> int:
    """Return 0 for 0, 1 for -1, 2 for 1 and so on."""
    return (value << 1) & _ALL_BITS if value >= 0 else ~(value << 1) & _ALL_BITS
