"""A socket with WebSocket on it, for lines: AMQP goes in binary messages, and nothing is waited for."""

import base64
import os
import socket

from routerd.cli.load.layered import LayeredSocket
from routerd.io import WebSocketHead, WebSocketOpcode, WebSocketViolation, websocket_frame, websocket_proof

READ_SIZE = 1 << 18
"""Octets of a read, as many as a line reads: their content is no more, and TLS needs the room."""
ANSWER_MAX = 1 << 14
"""Octets of the answer to the handshake."""
KEY_SIZE = 16
MASK_SIZE = 4
_PROTOCOL = "amqp"
_BINARY, _CLOSE = int(WebSocketOpcode.BINARY), int(WebSocketOpcode.CLOSE)
_PING, _PONG = int(WebSocketOpcode.PING), int(WebSocketOpcode.PONG)


class WebSocketSocket(LayeredSocket):
    """The client's end of a WebSocket."""

    def __init__(self, sock: socket.socket, authority: str) -> None:
        """Ask for a WebSocket, and wait for the answer. Raises OSError, after it has closed the socket."""
        super().__init__(sock)
        self._head = WebSocketHead(is_masked=False)
        self._received = memoryview(bytearray(READ_SIZE))
        self._left = b""
        """Octets that came behind the handshake."""
        self._partial = b""
        """The beginning of a head."""
        self._missing = 0
        """Octets of the present frame that are still to come."""
        self._control = bytearray()
        self._waiting: bytes | memoryview = b""
        """What the socket has not taken yet. The line gives its octets again until the rest is sent."""
        self._owed = b""
        """The answer to a ping, which goes before the next message: a frame that is half sent must not be cut."""
        self._is_ended = False
        try:
            self._shake_hands(authority)
        except OSError:
            sock.close()
            raise

    def recv_into(self, buffer: bytearray) -> int:
        """Put the content of received frames into a buffer; 0 is the end. Raises BlockingIOError without content."""
        if self._is_ended:
            return 0
        data, self._left = self._left, b""
        if not data:
            size = self._socket.recv_into(self._received)
            if size == 0:
                self._is_ended = True
                return 0
            data = bytes(self._received[:size])
        try:
            filled = self._walk(self._partial + data, buffer)
        except WebSocketViolation as error:
            raise OSError(f"WebSocket: {error}") from error
        if not filled and not self._is_ended:
            raise BlockingIOError
        return filled

    def send(self, data: bytes | bytearray | memoryview) -> int:
        """Send all as one message. Raises BlockingIOError until the socket has taken it: give the same octets again."""
        if not self._waiting:
            self._waiting = self._owed + websocket_frame(_BINARY, data, os.urandom(MASK_SIZE))
            self._owed = b""
        self._waiting = memoryview(self._waiting)[self._socket.send(self._waiting) :]
        if self._waiting:
            raise BlockingIOError
        return len(data)

    def _walk(self, data: bytes, buffer: bytearray) -> int:
        """Put the content of frames into a buffer; return its size."""
        self._partial = b""
        head, view = self._head, memoryview(data)
        at, filled = 0, 0
        while at < len(view) and not self._is_ended:
            if not self._missing:
                begin = head.read(view, at, len(view))
                if not begin:
                    self._partial = bytes(view[at:])
                    break
                at, self._missing = begin, head.size
            size = min(self._missing, len(view) - at)
            self._missing -= size
            if head.is_control:
                self._control += view[at : at + size]
                if not self._missing:
                    self._obey(bytes(self._control))
                    self._control.clear()
            else:
                buffer[filled : filled + size] = view[at : at + size]
                filled += size
            at += size
        return filled

    def _obey(self, payload: bytes) -> None:
        if self._head.opcode == _CLOSE:
            self._is_ended = True
        elif self._head.opcode == _PING:
            # An answer to the last of several pings is enough (RFC 6455 section 5.5.3).
            self._owed = websocket_frame(_PONG, payload, os.urandom(MASK_SIZE))

    def _shake_hands(self, authority: str) -> None:
        key = base64.b64encode(os.urandom(KEY_SIZE)).decode()
        lines = (
            *("GET / HTTP/1.1", f"Host: {authority}", "Upgrade: websocket", "Connection: Upgrade"),
            *(f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Protocol: {_PROTOCOL}"),
        )
        self._socket.send("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        answer, buffer = b"", bytearray(READ_SIZE)
        while b"\r\n\r\n" not in answer:
            try:
                size = self._socket.recv_into(buffer)
            except BlockingIOError:
                # TLS has taken a record that had no content.
                continue
            answer += buffer[:size]
            if not size or (len(answer) > ANSWER_MAX and b"\r\n\r\n" not in answer):
                raise OSError("the peer does not answer the request for a WebSocket")
        head, _, self._left = answer.partition(b"\r\n\r\n")
        status, *fields = head.decode("latin-1").split("\r\n")
        if status.split(" ")[1:2] != ["101"]:
            raise OSError(f"the peer refuses a WebSocket: {status}")
        found = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        if found.get("sec-websocket-accept") != websocket_proof(key):
            raise OSError("the peer has not read the key of the request for a WebSocket")
