"""Decisions read from the octets of an input, so that one input always makes the same run.

What happens is read from the front of an input, how it is answered from the back: a mutation of the one leaves
the other as it was. Where the octets end, every decision is 0, which stands for the most ordinary one.
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

NUMBERS = (
    *(0, 1, 2, 3, 7, 16, 100, 0xFF, 0x100, 0xFFFF, 0x10000),
    *(0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF),
)
"""Numbers of 32 bits at which something may change."""


class Choices:
    """A cursor over the octets from which decisions are made."""

    __slots__ = ("_data", "_pos")

    def __init__(self, data: bytes, *, backwards: bool = False) -> None:
        self._data = data[::-1] if backwards else data
        self._pos = 0

    @property
    def left(self) -> int:
        """How many octets have not been used."""
        return len(self._data) - self._pos

    def octet(self) -> int:
        """Return the next octet, 0 when there is none."""
        pos = self._pos
        if pos >= len(self._data):
            return 0
        self._pos = pos + 1
        return self._data[pos]

    def below(self, limit: int) -> int:
        """Return a number from 0 to limit - 1, where 256 is the highest limit."""
        return self.octet() % limit

    def one_of(self, options: Sequence[T]) -> T:
        """Return one of the options, the first being the most ordinary."""
        return options[self.octet() % len(options)]

    def number(self) -> int:
        """Return a number of 32 bits, more often than not one at which something may change."""
        first = self.octet()
        if first < 0xF0:
            return NUMBERS[first % len(NUMBERS)]
        return int.from_bytes(self.octets(4).ljust(4, b"\0"), "big")

    def octets(self, count: int) -> bytes:
        """Return so many octets, fewer where they end."""
        found = self._data[self._pos : self._pos + count]
        self._pos += len(found)
        return found
