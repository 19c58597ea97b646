"""Numbers of the AMQP types that clients of management are used to (5)."""

from routerd.wire import Int, UInt, ULong

_LONG_MAX = 0x7FFF_FFFF_FFFF_FFFF
_SMALL = 1024
# Most numbers of a router are small, and to make one of these takes longer than to find it.
_UINTS = tuple(map(UInt, range(_SMALL)))
_ULONGS = tuple(map(ULong, range(_SMALL)))
_INTS = {number: Int(number) for number in range(-1, _SMALL)}


def uint(value: float) -> UInt:
    """Return the whole part of a number as an AMQP uint, or the nearest there is."""
    number = int(value)
    return _UINTS[number] if 0 <= number < _SMALL else UInt(min(max(number, 0), UInt.HIGH))


def ulong(value: float) -> ULong:
    """Return the whole part of a number as an AMQP ulong, or the nearest there is."""
    number = int(value)
    return _ULONGS[number] if 0 <= number < _SMALL else ULong(min(max(number, 0), ULong.HIGH))


def whole(value: float) -> int:
    """Return the whole part of a number as an AMQP int, or a long where that is too small, or the nearest long."""
    number = int(value)
    if number in _INTS:
        return _INTS[number]
    return Int(number) if Int.LOW <= number <= Int.HIGH else min(max(number, -_LONG_MAX - 1), _LONG_MAX)


def as_general(value: object) -> object:
    """Return a value of an attribute as the general view has it: all its numbers are AMQP ints."""
    return whole(value) if isinstance(value, int) and not isinstance(value, bool) else value
