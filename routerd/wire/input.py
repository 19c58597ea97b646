"""The input of a connection: received octets are cut into protocol headers and frames (2.2, 2.3).

Frames are read where they were received. Only a frame that continues in the next read is copied into a buffer. So an
idle connection holds no input. Input that comes while a connection waits is kept, up to a limit.
"""

from typing import TYPE_CHECKING, cast

from routerd.wire.connection_config import MIN_MAX_FRAME_SIZE
from routerd.wire.errors import RemoteError, ResourceLimitExceeded
from routerd.wire.frames import HEADER_SIZE
from routerd.wire.states import ConnectionState

if TYPE_CHECKING:
    from routerd.wire.connection import Connection

WORK_MAX = 1000
"""Units of work, of about a microsecond each, before other connections get their turn."""

# A module constant: access to a member of an enum is a Python call in CPython 3.11.
_OVER = ConnectionState.END
# These are C numbers, which are compared without a look-up.
_HEADER_SIZE = HEADER_SIZE
_ALWAYS_ALLOWED = MIN_MAX_FRAME_SIZE
_WORK_MAX = WORK_MAX
HELD_MAX = 1 << 16
"""Octets that a peer may send while its authentication waits for an answer."""


class Input:
    """Gives headers and frames to its connection, and reports violations to it."""

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self.is_header_due = True
        self.is_waiting = False
        self.is_framing_lost = False
        self._partial: bytearray | None = None
        self._held: bytearray | None = None
        self._resume_at = 0

    @property
    def cut_frame(self) -> bytes:
        """The beginning of an incomplete frame or header."""
        return b"" if self._partial is None else bytes(self._partial)

    def take(self, data: bytes | bytearray, start: int, end: int, enough: int) -> int:
        """Take data[start:end], or `enough` octets and the rest of the frame there; return the offset where it stopped.

        It stops earlier once frames have cost `WORK_MAX`, but takes at least one. After a violation it continues with
        the next frame.
        """
        connection = self.connection
        connection.work = 0
        stop = min(end, start + enough)
        while (
            start < stop and connection.work < _WORK_MAX and connection.state is not _OVER and not self.is_waiting
        ):
            try:
                start = self._receive(data, start, end, stop)
            except RemoteError as error:
                start = self._resume_at
                connection.fail(error)
        if connection.state is _OVER:
            return end
        if self.is_waiting and start < end:
            self._hold(data, start, end)
            return end
        return start

    def stop_waiting(self) -> bytearray | None:
        """Return the input that came meanwhile; the caller takes it now."""
        self.is_waiting = False
        held, self._held = self._held, None
        return held

    def drop(self) -> None:
        """Drop an incomplete frame and held input."""
        self._partial = None
        self._held = None

    def _receive(self, data: bytes | bytearray, start: int, end: int, stop: int) -> int:
        if self._partial is not None:
            return self._complete_partial(data, start, end)
        start = self._walk(data, start, end, stop)
        if self.is_waiting or start >= stop or self.connection.work >= _WORK_MAX:
            return start
        if start < end and self.connection.state is not _OVER:
            self._partial = bytearray(memoryview(data)[start:end])
        return end

    def _hold(self, data: bytes | bytearray, start: int, end: int) -> None:
        # A peer may send before its authentication is decided. The octets are read after that.
        if self._held is None:
            self._held = bytearray()
        self._held += memoryview(data)[start:end]
        if len(self._held) > HELD_MAX:
            self._held = None
            self.connection.fail(
                ResourceLimitExceeded(f"more than {HELD_MAX} octets came before it was known from whom")
            )

    def _complete_partial(self, data: bytes | bytearray, start: int, end: int) -> int:
        # Takes no more than the incomplete frame: later frames are read in place.
        partial = cast(bytearray, self._partial)
        self._resume_at = end
        while len(partial) < self._wanted(partial):
            if start == end:
                return end
            stop = min(end, start + self._wanted(partial) - len(partial))
            partial += memoryview(data)[start:stop]
            start = stop
        self._partial = None
        try:
            self._walk(partial, 0, len(partial), len(partial))
        finally:
            self._resume_at = start
        return start

    def _wanted(self, partial: bytearray) -> int:
        # The size of the header or frame at the start of `partial`, as far as it is known.
        if self.is_header_due:
            return HEADER_SIZE
        if len(partial) < 4:
            return 4
        return self._checked_size(int.from_bytes(partial[:4], "big"))

    def _checked_size(self, size: int) -> int:
        limit = self.connection.receive_frame_size()
        if size < 8 or size > limit:
            self.is_framing_lost = True
            raise self.connection.size_error(size, limit)
        return size

    def _walk(self, data: bytes | bytearray, pos: int, end: int, stop: int) -> int:
        connection = self.connection
        relay = connection.relay
        view = data
        while pos < stop and end - pos >= 4 and connection.state is not _OVER and not self.is_waiting:
            self._resume_at = end
            if self.is_header_due:
                if end - pos < _HEADER_SIZE:
                    break
                self._resume_at = pos + _HEADER_SIZE
                connection.receive_header(bytes(data[pos : pos + _HEADER_SIZE]))
                pos += _HEADER_SIZE
                continue
            # In steps: in C the whole expression would be an int, and a large size would be negative.
            size = view[pos] << 8 | view[pos + 1]
            size = size << 16 | view[pos + 2] << 8 | view[pos + 3]
            if size < 8 or size > _ALWAYS_ALLOWED:
                self._checked_size(size)
            if end - pos < size:
                break
            self._resume_at = pos + size
            connection.work += 1
            relay.frame_size = size
            relay.octets_behind = stop - pos - size
            connection.receive_frame(data, pos, pos + size)
            pos += size
            if relay.receiver is not None:
                pos = relay.take(data, pos, end, stop)
            if connection.work >= _WORK_MAX:
                break
        return pos
