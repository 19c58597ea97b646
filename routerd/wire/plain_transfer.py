"""Transfers as most peers encode whole messages: where what one of them says is.

Nothing is decoded but what is looked at, and nothing is allocated. Any other encoding is none of these.
"""

from routerd.wire.section_scan import read_u32

TAG_MAX = 32
"""Octets of a delivery-tag, at most (2.8.7)."""
FIELDS_AT = 14
"""Where in the frame the fields begin."""
LOOKED_AT = FIELDS_AT + 2 + 5 + 2 + TAG_MAX + 3
"""Octets that are looked at, at most: up to the fields, handle, delivery-id, tag, and three more."""
OVERHEAD = 33 + 4
"""Octets of frame header and fields of a transfer whose tag is a number, at most."""

_TAG_MAX = TAG_MAX
_FIELDS_AT = FIELDS_AT


def payload_of(view: bytes | bytearray, frame: int, remote_handle: int, is_settled: bool) -> int:
    """Return where the payload of a transfer begins, or -1 if it is not a whole one of the link, settled or not."""
    list_end = frame + _FIELDS_AT - 1 + view[frame + 12]
    count = view[frame + 13]
    if not 4 <= count <= 6:
        return -1
    at = frame + _FIELDS_AT
    if view[at] == 0x43:
        handle = 0
        at += 1
    elif view[at] == 0x52:
        handle = view[at + 1]
        at += 2
    else:
        return -1
    if handle != remote_handle:
        return -1
    if view[at] == 0x70:
        at += 5
    elif view[at] == 0x52:
        at += 2
    elif view[at] == 0x43:
        at += 1
    else:
        return -1
    if view[at] != 0xA0 or view[at + 1] > _TAG_MAX:
        return -1
    at += 2 + view[at + 1]
    # The message-format is 0; what is not said of the settlement is no.
    if view[at] != 0x43 or (count == 4 and is_settled):
        return -1
    at += 1
    if count > 4:
        if view[at] != (0x41 if is_settled else 0x42):
            return -1
        at += 1
    if count == 6:
        if view[at] != 0x42:
            return -1
        at += 1
    return at if at == list_end else -1


def id_of(view: bytes | bytearray, frame: int) -> int:
    """Return the delivery-id of a transfer after `payload_of` has found its payload."""
    at = _id_at(view, frame)
    if view[at] == 0x70:
        return read_u32(view, at + 1)
    return view[at + 1] if view[at] == 0x52 else 0


def tag_of(view: bytes | bytearray, frame: int) -> int:
    """Return where the delivery-tag of such a transfer is: a code, a size, and octets."""
    at = _id_at(view, frame)
    if view[at] == 0x70:
        return at + 5
    return at + 2 if view[at] == 0x52 else at + 1


def _id_at(view: bytes | bytearray, frame: int) -> int:
    at = frame + _FIELDS_AT
    return at + 1 if view[at] == 0x43 else at + 2
