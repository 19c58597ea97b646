"""Limits of the codec for a peer's values: nesting, elements and octets."""

from dataclasses import dataclass

from routerd.wire.errors import ValueRangeError

DEEPEST = 128
MOST_ELEMENTS = 0xFFFFFFFF
LARGEST_SIZE = 0x7FFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecLimits:
    """The limits within which octets are decoded."""

    depth: int = 32
    """The depth of lists, maps, arrays and described values; 1 to 128, because each level costs stack."""

    count: int = 65_536
    """The most elements in one list, map or array, and of elements without octets in all arrays together."""

    size_bytes: int = LARGEST_SIZE
    """The largest size in octets that a variable-width or compound value may have."""

    def __post_init__(self) -> None:
        _check("depth", self.depth, 1, DEEPEST)
        _check("count", self.count, 0, MOST_ELEMENTS)
        _check("size_bytes", self.size_bytes, 0, LARGEST_SIZE)


def _check(name: str, value: int, low: int, high: int) -> None:
    """Raise ValueRangeError unless low <= value <= high."""
    if not low <= value <= high:
        raise ValueRangeError(f"{name} is {value}, which is not from {low} to {high}")


DEFAULT_LIMITS = CodecLimits()
