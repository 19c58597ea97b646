"""WebSocket as a filter of a connection: the octets of AMQP go in binary messages (RFC 6455).

The handshake is HTTP's, and over when this begins. Messages are a stream: their ends mean nothing to AMQP. So the
received part of a frame is passed on at once. Only the head of an incomplete frame is kept.
"""

import os
import time

from routerd.io.sockets import Filter, Octets
from routerd.io.websocket.frames import (
    CONTROL_MAX,
    HEAD_MAX,
    FrameHead,
    Opcode,
    Status,
    Violation,
    answer_to_close,
    close_payload,
    frame,
)
from routerd.io.websocket.masking import KEY_SIZE, unmasked

SENT_MAX = 1 << 18
"""Octets of a message to the peer; some libraries refuse messages above a megabyte."""
PINGS_PER_S = 100
"""Limit of pings in a second; a peer that sends more is cut off."""

_BINARY, _CLOSE, _PING = int(Opcode.BINARY), int(Opcode.CLOSE), int(Opcode.PING)
_PONG = int(Opcode.PONG)


class WebSocketFilter(Filter):
    """AMQP over WebSocket on one connection."""

    __slots__ = (
        *("_at", "_control", "_filled", "_has_peer_closed", "_head", "_is_client", "_is_closed", "_left", "_partial"),
        *("_pings", "_pings_since"),
    )

    def __init__(self, *, is_client: bool = False) -> None:
        super().__init__()
        self._is_client = is_client
        self._head = FrameHead(is_masked=not is_client)
        self._partial = b""
        """The beginning of a head."""
        self._left = 0
        """Octets of the present frame that are still to come."""
        self._at = 0
        """Octets of it that have come."""
        self._control = bytearray()
        """The received part of a control frame."""
        self._filled = 0
        """Octets in `room` that have not been passed on."""
        self._is_closed = False
        """Whether our close was sent."""
        self._has_peer_closed = False
        """Whether no more input is expected, or none counts."""
        self._pings = 0
        self._pings_since = 0.0

    # --- called by the transport

    def receive(self, octets: memoryview) -> None:
        """Pass on the content of the frames."""
        if self._has_peer_closed:
            return
        data: memoryview | bytes = octets
        if self._partial:
            data, self._partial = memoryview(self._partial + bytes(octets)), b""
        try:
            self._walk(memoryview(data))
            self._flush()
        except Violation as error:
            self._flush()
            self._violated(error)

    def send(self, octets: Octets) -> None:
        """Write octets as messages."""
        if self._is_closed:
            return
        if len(octets) <= SENT_MAX:
            self.below(self._frame(_BINARY, octets))
            return
        with memoryview(octets) as view:
            for at in range(0, len(view), SENT_MAX):
                self.below(self._frame(_BINARY, view[at : at + SENT_MAX]))

    def close(self) -> None:
        """Tell the peer that nothing more will be sent."""
        self._say_close(close_payload(Status.NORMAL))

    @property
    def is_awaiting_end(self) -> bool:
        """Whether the peer still has to answer our close."""
        return self._is_closed and not self._has_peer_closed

    def end(self) -> None:
        """Stop taking input."""
        self._is_closed = self._has_peer_closed = True
        self._partial = b""

    # --- frames

    def _walk(self, data: memoryview) -> None:
        head = self._head
        at, end = 0, len(data)
        while not self._has_peer_closed:
            if not self._left:
                if at == end:
                    return
                begin = head.read(data, at, end)
                if not begin:
                    self._partial = bytes(data[at : at + HEAD_MAX])
                    return
                at, self._left, self._at = begin, head.size, 0
            size = min(self._left, end - at)
            piece = self._plain(data[at : at + size]) if size else b""
            at += size
            self._at += size
            self._left -= size
            if head.is_control:
                self._control += piece
                if not self._left:
                    self._obey()
            else:
                self._put(piece)
            if self._left:
                return

    def _plain(self, octets: memoryview) -> bytes:
        """Return octets of the present frame without their mask."""
        return bytes(octets) if self._is_client else unmasked(octets, self._head.key, self._at)

    def _frame(self, opcode: int, octets: Octets) -> bytes:
        return frame(opcode, octets, os.urandom(KEY_SIZE) if self._is_client else b"")

    def _put(self, piece: bytes) -> None:
        """Put octets into `room`, which is passed on when it is full or everything is read."""
        if self._is_closed:
            # Octets that the peer has sent before it read our close are dropped.
            return
        with memoryview(piece) as view:
            at = 0
            while at < len(view):
                size = min(len(view) - at, len(self.room) - self._filled)
                self.room[self._filled : self._filled + size] = view[at : at + size]
                self._filled += size
                at += size
                if self._filled == len(self.room):
                    self._flush()

    def _flush(self) -> None:
        if self._filled:
            size, self._filled = self._filled, 0
            self.deliver(size)

    def _obey(self) -> None:
        """Handle a control frame."""
        payload = bytes(self._control)
        self._control.clear()
        assert len(payload) <= CONTROL_MAX, "its head was checked"
        if self._head.opcode == _PING:
            self._count_ping()
            if not self._is_closed:
                self.answer(self._frame(_PONG, payload))
        elif self._head.opcode == _CLOSE:
            # The data before the close is for the engine.
            self._flush()
            answer = answer_to_close(payload)
            self._has_peer_closed = True
            self._say_close(answer)
            self.stack.finish()

    def _count_ping(self) -> None:
        now = time.monotonic()
        if now - self._pings_since >= 1.0:
            self._pings_since, self._pings = now, 0
        self._pings += 1
        if self._pings > PINGS_PER_S:
            raise Violation(Status.POLICY, f"more than {PINGS_PER_S} pings came in a second")

    def _say_close(self, payload: bytes) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.answer(self._frame(_CLOSE, payload))

    def _violated(self, error: Violation) -> None:
        self._has_peer_closed = True
        if self._is_closed:
            # It breaks rules instead of answering our close.
            self.stack.finish()
        else:
            self._say_close(close_payload(error.status, str(error)))
            self.stack.fail(f"WebSocket: {error}")
