"""Numbers of the AMQP types that clients of management are used to (5)."""

from collections.abc import Callable
from typing import TypeVar

from routerd.wire import Int, UInt, ULong

T = TypeVar("T", bound=int)

KEPT_MAX = 4096
_LONG_MAX = 0x7FFF_FFFF_FFFF_FFFF


class _Kept(dict[float, T]):
    """Numbers of one type by what they are of: most come again, and to make one takes longer than to find it."""

    def __init__(self, make: Callable[[int], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, value: float) -> T:
        if len(self) >= KEPT_MAX:
            self.clear()
        number = self[value] = self._make(int(value))
        return number


def _whole(number: int) -> int:
    return Int(number) if Int.LOW <= number <= Int.HIGH else min(max(number, -_LONG_MAX - 1), _LONG_MAX)


uint = _Kept(lambda number: UInt(min(max(number, 0), UInt.HIGH))).__getitem__
"""Returns the whole part of a number as an AMQP uint, or the nearest there is."""
ulong = _Kept(lambda number: ULong(min(max(number, 0), ULong.HIGH))).__getitem__
"""Returns the whole part of a number as an AMQP ulong, or the nearest there is."""
whole = _Kept(_whole).__getitem__
"""Returns the whole part of a number as an AMQP int, or a long where that is too small, or the nearest long."""


def as_general(value: object) -> object:
    """Return a value of an attribute as the general view has it: all its numbers are AMQP ints."""
    return whole(value) if isinstance(value, int) and not isinstance(value, bool) else value
