"""Serial numbers of RFC 1982 in 32 bits: delivery-ids, transfer-ids and delivery-counts (2.8.10)."""


def precedes(a: int, b: int) -> bool:
    """Return whether serial number a comes before b."""
    return a != b and ((b - a) & 0xFFFFFFFF) < 0x80000000


def distance(a: int, b: int) -> int:
    """Return how many steps lead from a forward to b."""
    return (b - a) & 0xFFFFFFFF
