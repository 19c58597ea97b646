"""The messages that are sent: a data section whose first octets are the time at which they were sent.

The time is CLOCK_MONOTONIC in nanoseconds, least octet first: it compares between processes of one host only.
"""

from routerd.wire import encode

STAMP_SIZE = 8
_DATA = 0x75
_BINARY8 = 0xA0
_BINARY32 = 0xB0
_NOTHING = -1


def data_message(size: int) -> tuple[bytearray, int]:
    """Return a message with a body of `size` octets, and the place of its stamp."""
    return bytearray(b"\x00\x53\x75\xb0" + size.to_bytes(4, "big") + b"x" * size), 8


def request_message(size: int, reply_to: str) -> tuple[bytearray, int, int]:
    """Return a request, where its stamp is, and where the 8 octets of its correlation-id are."""
    fields = b"\x40\x40\x40\x40" + encode(reply_to) + b"\x80"
    head = _properties(fields, 8)
    message, stamp_at = data_message(size)
    return head + bytes(8) + message, len(head) + 8 + stamp_at, len(head)


def reply_head(to: str, correlation_id: object) -> bytes:
    """Return the properties of a reply; the body follows."""
    fields = b"\x40\x40" + encode(to) + b"\x40\x40" + encode(correlation_id)
    return bytes(_properties(fields, 0))


def put_stamp(message: bytearray, at: int, stamp: int) -> None:
    """Write a stamp into a message."""
    view = message
    for i in range(8):
        view[at + i] = (stamp >> (8 * i)) & 0xFF


def put_number(message: bytearray, at: int, number: int) -> None:
    """Write an AMQP ulong, without its constructor, into a message."""
    view = message
    for i in range(8):
        view[at + i] = (number >> (56 - 8 * i)) & 0xFF


def body_place(data: bytes | bytearray, start: int, end: int) -> int:
    """Return where the body of the message in data[start:end] begins, or -1 where it has none."""
    view = data
    at = start
    while end - at >= 8 and view[at] == 0x00 and view[at + 1] == 0x53:
        if view[at + 2] >= _DATA:
            return at
        kind = view[at + 3]
        if kind == 0x45:
            at += 4
        elif kind == 0xC0 or kind == 0xC1:
            at += 5 + view[at + 4]
        elif kind == 0xD0 or kind == 0xD1:
            # Three octets of the size: no section before the body of a message of ours has 16 MiB.
            at += 8 + (view[at + 5] << 16 | view[at + 6] << 8 | view[at + 7])
        else:
            return _NOTHING
    return _NOTHING


def stamp_in(data: bytes | bytearray, start: int, end: int) -> int:
    """Return the stamp of the message that begins at `start`, or -1 where it has none."""
    view = data
    at = body_place(data, start, end)
    if at < 0:
        return _NOTHING
    kind = view[at + 3]
    at += 8 if kind == _BINARY32 else 5
    if (kind != _BINARY32 and kind != _BINARY8) or end - at < 8:
        return _NOTHING
    stamp = view[at + 7]
    for i in range(7):
        stamp = stamp << 8 | view[at + 6 - i]
    return stamp


def _properties(fields: bytes, more: int) -> bytearray:
    # A list32 of six fields; `more` octets of it are still to follow.
    size = 4 + len(fields) + more
    return bytearray(b"\x00\x53\x73\xd0" + size.to_bytes(4, "big") + (6).to_bytes(4, "big") + fields)
