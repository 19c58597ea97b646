"""The server's half of SASL, by hand: it offers mechanisms, takes one answer and says yes or no."""

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

HEADER = b"AMQP\x03\x01\x00\x00"
OK, AUTH = 0, 1


def _frame(descriptor: int, fields: bytes, count: int) -> bytes:
    body = b"\x00\x53%c\xc0%c%c" % (descriptor, len(fields) + 1, count) + fields
    return struct.pack(">IBBH", len(body) + 8, 2, 1, 0) + body


@dataclass
class Sasl:
    """Called with each socket; returns whether the client may go on."""

    mechanisms: Sequence[str]
    accepts: bool = True
    headers: list[bytes] = field(default_factory=list)
    answers: list[tuple[str, bytes]] = field(default_factory=list)
    """The mechanism and the first response of each client."""

    def __call__(self, sock: socket.socket) -> bool:
        sock.settimeout(5)
        self.headers.append(_exactly(sock, 8))
        if self.headers[-1] != HEADER:
            return False
        symbols = b"".join(b"%c%b" % (len(one), one.encode()) for one in self.mechanisms)
        array = b"\xe0%c%c\xa3" % (len(symbols) + 2, len(self.mechanisms)) + symbols
        sock.sendall(HEADER + _frame(0x40, array, 1))
        size = struct.unpack(">I", _exactly(sock, 4))[0]
        self.answers.append(_init(_exactly(sock, size - 4)))
        sock.sendall(_frame(0x44, b"\x50%c" % (OK if self.accepts else AUTH), 1))
        return self.accepts


def _exactly(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise ConnectionError("the client has gone")
        data += more
    return data


def _init(frame: bytes) -> tuple[str, bytes]:
    # Channel and type, then the described list with mechanism and response.
    at = frame.index(b"\x00\x53\x41") + 3
    at += 3 if frame[at] == 0xC0 else 9
    assert frame[at] == 0xA3
    end = at + 2 + frame[at + 1]
    mechanism = frame[at + 2 : end].decode()
    if end >= len(frame) or frame[end] != 0xA0:
        return mechanism, b""
    return mechanism, frame[end + 2 : end + 2 + frame[end + 1]]
