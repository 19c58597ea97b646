"""Reused memory and copies of octets. In the compiled form, `c_memory` replaces this module and is faster.

Memory is not cleared before use there. A bytearray keeps its memory after it was sent, and gets its full size again
when it is reused.
"""

import sys
from typing import Any


def new(size: int) -> bytearray:
    """Return a buffer of this size with arbitrary content."""
    return bytearray(size)


def resize(data: bytearray, size: int) -> None:
    """Change the size of a buffer; in the compiled form, octets that are cut off stay in its memory."""
    if size <= len(data):
        del data[size:]
    else:
        data.extend(bytes(size - len(data)))


def capacity(data: bytearray) -> int:
    """Return the octets that fit into the memory."""
    # Python keeps one more octet behind the last one.
    return max(data.__alloc__() - 1, len(data))


def is_viewed(data: bytearray) -> bool:
    """Whether a memoryview of the octets exists, so that their number cannot change."""
    try:
        data.append(0)
    except BufferError:
        return True
    del data[-1:]
    return False


def copy(target: bytearray, at: int, source: bytes | bytearray, start: int, size: int) -> None:
    """Copy source[start:start+size] to target[at:at+size]."""
    target[at : at + size] = source[start : start + size]


def put_word(target: bytearray, at: int, value: int) -> int:
    """Write 32 bits to target[at:at+4] in network order; return the end."""
    target[at : at + 4] = value.to_bytes(4, "big")
    return at + 4


def put_uint(target: bytearray, at: int, value: int) -> int:
    """Write an AMQP uint to target[at:] in its shortest encoding; return the end."""
    if value == 0:
        target[at] = 0x43
        return at + 1
    if value < 256:
        target[at] = 0x52
        target[at + 1] = value
        return at + 2
    target[at] = 0x70
    return put_word(target, at + 1, value)


def is_same(one: bytes | bytearray, at: int, other: bytes, size: int) -> bool:
    """Whether one[at:at+size] equals the first octets of another."""
    return one[at : at + size] == other[:size]


def is_ours_alone(value: Any) -> bool:
    """Whether the caller, in one variable, has the only reference to an object."""
    return sys.getrefcount(value) == _references


def _references_of(value: object) -> int:
    return sys.getrefcount(value)


def _references_of_ours() -> int:
    value = object()
    return _references_of(value)


# The reference of that variable, and those of a call, which depend on the version of Python.
_references = _references_of_ours()
