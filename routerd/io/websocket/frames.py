"""WebSocket frames as octets (RFC 6455 section 5.2): those of a client are masked, those of a server are not."""

import struct
from enum import IntEnum

from routerd.io.websocket.masking import KEY_SIZE, unmasked

CONTROL_MAX = 125
"""Octets of the payload of a control frame."""
MESSAGE_MAX = 1 << 26
"""Octets of a message. It does not limit memory, as nothing is kept; a larger message can only be a mistake."""
HEAD_MAX = 14
"""Octets before the payload."""


class Opcode(IntEnum):
    """The kind of a frame."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class Status(IntEnum):
    """The reason for a close (7.4.1)."""

    NORMAL = 1000
    PROTOCOL_ERROR = 1002
    UNSUPPORTED = 1003
    INVALID_TEXT = 1007
    POLICY = 1008
    TOO_BIG = 1009


class Violation(Exception):
    """The peer has broken a rule; the text names it, and the status is for the close."""

    def __init__(self, status: Status, text: str) -> None:
        super().__init__(text)
        self.status = status


_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = (int(one) for one in Opcode)
_KNOWN = frozenset(int(one) for one in Opcode)
_FIN, _RESERVED, _OPCODE, _MASK, _SIZE = 0x80, 0x70, 0x0F, 0x80, 0x7F
_CONTROL = 0x08
_SENDABLE = (range(1000, 1004), range(1007, 1015), range(3000, 5000))
"""The statuses that a close may have on the wire."""


class FrameHead:
    """The heads of one frame after the other, checked against the rules and against earlier frames."""

    __slots__ = ("_is_masked", "_is_message_begun", "is_final", "key", "message_octets", "opcode", "size")

    def __init__(self, *, is_masked: bool = True) -> None:
        """Frames of a client are masked."""
        self._is_masked = is_masked
        self.opcode = 0
        self.is_final = False
        self.size = 0
        self.key = b""
        self.message_octets = 0
        """Octets of the present message so far."""
        self._is_message_begun = False

    @property
    def is_control(self) -> bool:
        """Whether this is a control frame, which may come between the frames of a message."""
        return self.opcode >= _CONTROL

    def read(self, octets: bytes | memoryview, at: int, end: int) -> int:
        """Read a head; return where it ends, or 0 while it is incomplete. Raises Violation."""
        if end - at < 2:
            return 0
        first, second = octets[at], octets[at + 1]
        self._check(first, second)
        size = second & _SIZE
        at += 2
        wide = 2 if size == 126 else 8 if size == 127 else 0
        key = KEY_SIZE if self._is_masked else 0
        if end - at < wide + key:
            return 0
        if wide:
            size = int.from_bytes(octets[at : at + wide], "big")
            if size < (126 if wide == 2 else 1 << 16) or size >> 63:
                raise Violation(Status.PROTOCOL_ERROR, f"a size of {size} octets has {wide} octets")
            at += wide
        self.opcode = first & _OPCODE
        self.is_final = bool(first & _FIN)
        self.size = size
        self.key = bytes(octets[at : at + key])
        if not self.is_control:
            self._count()
        return at + key

    def _check(self, first: int, second: int) -> None:
        """Check the rules that hold for every frame."""
        opcode = first & _OPCODE
        if first & _RESERVED:
            raise Violation(Status.PROTOCOL_ERROR, "a reserved bit is set, and no extension was agreed on")
        if opcode not in _KNOWN:
            raise Violation(Status.PROTOCOL_ERROR, f"there is no opcode {opcode}")
        if bool(second & _MASK) is not self._is_masked:
            raise Violation(Status.PROTOCOL_ERROR, f"a frame is {'not ' if self._is_masked else ''}masked")
        if opcode & _CONTROL:
            if not first & _FIN or second & _SIZE > CONTROL_MAX:
                raise Violation(Status.PROTOCOL_ERROR, "a control frame is in fragments, or too long")
        elif opcode == _TEXT:
            raise Violation(Status.UNSUPPORTED, "AMQP goes in binary messages, and this is text")
        elif (opcode == _CONTINUATION) is not self._is_message_begun:
            raise Violation(Status.PROTOCOL_ERROR, "a continuation is where a message begins, or the other way round")

    def _count(self) -> None:
        self.message_octets = self.size + (self.message_octets if self.opcode == _CONTINUATION else 0)
        self._is_message_begun = not self.is_final
        if self.message_octets > MESSAGE_MAX:
            raise Violation(Status.TOO_BIG, f"a message has more than {MESSAGE_MAX} octets")


def frame(opcode: int, octets: bytes | bytearray | memoryview, key: bytes = b"") -> bytes:
    """Return one frame with a whole message, masked if a key is given."""
    size, mask = len(octets), _MASK if key else 0
    if size <= CONTROL_MAX:
        head = struct.pack(">BB", _FIN | opcode, mask | size)
    elif size < 1 << 16:
        head = struct.pack(">BBH", _FIN | opcode, mask | 126, size)
    else:
        head = struct.pack(">BBQ", _FIN | opcode, mask | 127, size)
    if key:
        with memoryview(octets) as view:
            return b"".join((head, key, unmasked(view, key, 0)))
    return b"".join((head, octets))


def close_payload(status: int, text: str = "") -> bytes:
    """Return the payload of a close; a text that is too long is cut."""
    reason = text.encode()[: CONTROL_MAX - 2].decode(errors="ignore").encode()
    return struct.pack(">H", status) + reason


def answer_to_close(payload: bytes) -> bytes:
    """Return the payload of the answer to a close (5.5.1); raises Violation."""
    if not payload:
        return b""
    if len(payload) == 1:
        raise Violation(Status.PROTOCOL_ERROR, "a close has a payload of one octet")
    (status,) = struct.unpack_from(">H", payload)
    if not any(status in one for one in _SENDABLE):
        raise Violation(Status.PROTOCOL_ERROR, f"a close has the status {status}")
    try:
        payload[2:].decode()
    except UnicodeDecodeError:
        raise Violation(Status.INVALID_TEXT, "the reason of a close is no UTF-8") from None
    return payload[:2]
