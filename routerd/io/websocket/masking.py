"""Masking of WebSocket frames (RFC 6455 section 5.3)."""

from routerd.io.websocket import masks

KEY_SIZE = 4


def unmasked(octets: bytes | bytearray | memoryview, key: bytes, at: int) -> bytes:
    """Return octets without their mask; `at` is where in its frame the first of them is."""
    turn = at % KEY_SIZE
    return masks.applied(octets, key[turn:] + key[:turn] if turn else key)
