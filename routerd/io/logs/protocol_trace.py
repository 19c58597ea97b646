"""Frame traces: the octets of a connection as lines of the log, one for each header or frame (2.5).

    [C1]:FRAME:  <- AMQP
    [C1]:FRAME: 0 <- @open(16) [container-id="client", hostname="router"]
    [C1]:FRAME: 0 -> @transfer(20) [handle=0, delivery-id=7, delivery-tag=b"\\x07"] (10) "\\x00Sw\\xa1\\x05hello"

A tracer sees the octets that the transport reads and writes, and decodes them itself. So the engine neither knows of it
nor pays for it, and frames that the engine would refuse are shown as well. If octets are not AMQP, the beginning is
shown and the rest of that direction is ignored.
"""

from collections.abc import Callable
from typing import NamedTuple

from routerd.io.logs.value_text import composite_code, octets_text, value_text
from routerd.wire import DecodeError, Decoder

PAYLOAD_SHOWN = 64
"""Octets of a payload, or of input that is not AMQP, in a line."""
KEPT_OCTETS = 1 << 16
"""Octets of a frame that are decoded; the rest is only counted."""

_HEADER_SIZE = 8
_AMQP, _SASL = 0, 1
_TRANSFER = 0x14
_PROTOCOLS = {b"AMQP\x00\x01\x00\x00": "AMQP", b"AMQP\x02\x01\x00\x00": "TLS", b"AMQP\x03\x01\x00\x00": "SASL"}


class Piece(NamedTuple):
    """A protocol header, a frame, or the beginning of a long one; or input that is neither."""

    octets: bytes
    size: int

    @classmethod
    def begun(cls, octets: bytes) -> "Piece":
        """Return the piece that begins with these octets, as many as a header has."""
        return cls(octets, _HEADER_SIZE if octets.startswith(b"AMQP") else int.from_bytes(octets[:4], "big"))

    @property
    def is_header(self) -> bool:
        """Whether it is a protocol header. A frame with this beginning would have more than a gigabyte."""
        return self.octets.startswith(b"AMQP")

    @property
    def is_frame(self) -> bool:
        """Whether it begins like a frame."""
        octets = self.octets
        return 8 <= 4 * octets[4] <= self.size and octets[5] in (_AMQP, _SASL) and not self.is_header


class Splitter:
    """Cuts a stream of octets into pieces, in portions of any size."""

    def __init__(self, begun: bytes = b"") -> None:
        self._kept = bytearray(begun)
        self._to_skip = 0
        self._is_lost = False

    def feed(self, octets: memoryview) -> list[Piece]:
        """Return the pieces that these octets complete; nothing follows a piece that is not AMQP."""
        pieces: list[Piece] = []
        at = 0
        while not self._is_lost:
            skipped = min(self._to_skip, len(octets) - at)
            self._to_skip -= skipped
            at = self._take(octets, at + skipped)
            if self._to_skip or len(self._kept) < self._wanted():
                break
            piece = self._complete()
            if self._is_lost:
                piece = Piece(piece.octets + bytes(octets[at : at + PAYLOAD_SHOWN]), piece.size)
            pieces.append(piece)
        return pieces

    def _take(self, octets: memoryview, at: int) -> int:
        # In two steps, since the first octets have the size.
        for _ in range(2):
            stop = max(at, min(len(octets), at + self._wanted() - len(self._kept)))
            self._kept += octets[at:stop]
            at = stop
        return at

    def _wanted(self) -> int:
        if len(self._kept) < _HEADER_SIZE:
            return _HEADER_SIZE
        head = Piece.begun(bytes(self._kept[:_HEADER_SIZE]))
        return min(head.size, KEPT_OCTETS) if head.is_frame else _HEADER_SIZE

    def _complete(self) -> Piece:
        head = Piece.begun(bytes(self._kept[:_HEADER_SIZE]))
        piece = Piece(bytes(self._kept), head.size)
        self._kept.clear()
        if piece.is_frame:
            self._to_skip = piece.size - len(piece.octets)
        self._is_lost = not piece.is_frame and not piece.is_header
        return piece


class FrameTracer:
    """Writes the frames of one connection; `begun` is the received part of a frame."""

    def __init__(self, number: int, write: Callable[[str], None], begun: bytes = b"") -> None:
        self._head = f"[C{number}]:FRAME: "
        self._write = write
        self._incoming = Splitter(begun)
        self._outgoing = Splitter()

    def received(self, octets: memoryview) -> None:
        """Trace octets that were read."""
        self._trace("<-", self._incoming.feed(octets))

    def sent(self, octets: memoryview) -> None:
        """Trace octets that are about to be written."""
        self._trace("->", self._outgoing.feed(octets))

    def _trace(self, arrow: str, pieces: list[Piece]) -> None:
        for piece in pieces:
            if piece.is_header:
                self._write(f"{self._head} {arrow} {_protocol(piece.octets)}")
            elif piece.is_frame:
                channel = int.from_bytes(piece.octets[6:8], "big")
                self._write(f"{self._head}{channel} {arrow} {_frame_text(piece)}")
            else:
                self._write(f"{self._head} {arrow} (no AMQP) {octets_text(piece.octets, PAYLOAD_SHOWN)}")


def _protocol(header: bytes) -> str:
    return _PROTOCOLS.get(header) or f"AMQP (protocol {header[4]}, version {header[5]}.{header[6]}.{header[7]})"


def _frame_text(frame: Piece) -> str:
    octets = frame.octets
    body = 4 * octets[4]
    if body == frame.size:
        return "(EMPTY FRAME)"
    is_sasl = octets[5] == _SASL
    decoder = Decoder(octets, min(body, len(octets)), len(octets))
    try:
        value = decoder.value()
    except DecodeError as error:
        # A SASL frame may contain a password.
        shown = "" if is_sasl else f" {octets_text(octets[body:], PAYLOAD_SHOWN)}"
        return f"(malformed: {error}) ({frame.size - body}){shown}"
    code = composite_code(value)
    if is_sasl and code is None:
        return f"(no SASL frame) ({frame.size - body})"
    rest = frame.size - decoder.pos
    if rest == 0 and code != _TRANSFER:
        return value_text(value)
    shown = "" if is_sasl else f" {octets_text(octets[decoder.pos :], PAYLOAD_SHOWN)}"
    return f"{value_text(value)} ({rest}){shown}"
