"""A message-id in 64 bits: the row of a decision has this number in place of a text."""

_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_ALL_BITS = 0xFFFFFFFFFFFFFFFF


def message_key(message_id: bytes) -> int:
    """Return the 64-bit FNV-1a hash of a message-id, signed as columns are.

    A string counts as its UTF-8, a ulong as its decimal digits, a uuid as its 36 characters, a binary as it is.
    """
    key = _OFFSET
    for octet in message_id:
        key = ((key ^ octet) * _PRIME) & _ALL_BITS
    return key - (1 << 64) if key >> 63 else key
