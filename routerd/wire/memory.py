"""Memory that is used again, and octets put into it; the compiled form has `c_memory` in its place, which knows more.

Room for octets is not cleared there before use. A bytearray that was sent keeps its memory, and is stretched to the
whole of it when it is used again.
"""

import sys
from typing import Any


def new(size: int) -> bytearray:
    """Return room for so many octets; what is in it has no meaning."""
    return bytearray(size)


def resize(data: bytearray, size: int) -> None:
    """Cut room, or stretch it; in the compiled form what is cut off stays in its memory."""
    if size <= len(data):
        del data[size:]
    else:
        data.extend(bytes(size - len(data)))


def capacity(data: bytearray) -> int:
    """Return how many octets there is memory for."""
    # There is an octet behind the last one.
    return max(data.__alloc__() - 1, len(data))


def is_viewed(data: bytearray) -> bool:
    """Whether somebody looks at the octets, so that their number can't be changed."""
    try:
        data.append(0)
    except BufferError:
        return True
    del data[-1:]
    return False


def copy(target: bytearray, at: int, source: bytes | bytearray, start: int, size: int) -> None:
    """Put source[start:start+size] to target[at:at+size]."""
    target[at : at + size] = source[start : start + size]


def put_word(target: bytearray, at: int, value: int) -> int:
    """Put 32 bits to target[at:at+4] in network order; return where they end."""
    target[at : at + 4] = value.to_bytes(4, "big")
    return at + 4


def put_uint(target: bytearray, at: int, value: int) -> int:
    """Put an AMQP uint to target[at:] in its shortest encoding; return where it ends."""
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
    """Whether one[at:at+size] are the first octets of another."""
    return one[at : at + size] == other[:size]


def is_ours_alone(value: Any) -> bool:
    """Whether nobody has an object but who asks, in one variable."""
    return sys.getrefcount(value) == _references


def _references_of(value: object) -> int:
    return sys.getrefcount(value)


def _references_of_ours() -> int:
    value = object()
    return _references_of(value)


# That of the variable, and as many as a call adds to it, which depends on the version of Python.
_references = _references_of_ours()
