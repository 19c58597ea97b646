"""Serial numbers of RFC 1982 in 32 bits: delivery-ids, transfer-ids and delivery-counts (2.8.10)."""

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF
_HALF = 0x80000000


def precedes(a: int, b: int) -> bool:
    """Return whether serial number a comes before b."""
    return a != b and ((b - a) & _MASK) < _HALF


def distance(a: int, b: int) -> int:
    """Return the number of steps from a forward to b."""
    return (b - a) & _MASK
