"""Octets under a mask. In the compiled form, `c_masks` replaces this module and is faster.

Integers as long as the octets are the fastest way in CPython.
"""


def applied(octets: bytes | bytearray | memoryview, mask: bytes) -> bytes:
    """Return octets with a mask of four octets put over them again and again."""
    size = len(octets)
    whole = (mask * (size // len(mask) + 1))[:size]
    return (int.from_bytes(octets, "little") ^ int.from_bytes(whole, "little")).to_bytes(size, "little")
