"""Lines on their way to a file, a pipe or a terminal; no thread of the router waits for a slow reader.

Lines for which a pipe has no room are kept, up to a limit, and a thread writes them later. Lines beyond the limit are
dropped, and a line in their place says how many they were. A disk takes what it is given.
"""

import contextlib
import os
import select
import stat
import threading

PENDING_MAX_BYTES = 1 << 20
"""Octets that are kept for a slow reader."""
FINISH_WITHIN_S = 1.0
_AT_A_TIME = select.PIPE_BUF
"""Octets that a pipe with room takes without blocking its writer."""


class LineWriter:
    """Writes to one descriptor, which it closes in the end if it `owns` it."""

    def __init__(self, descriptor: int, *, owns: bool = False) -> None:
        self._descriptor = descriptor
        self._owns = owns
        self._changed = threading.Condition()
        self._pending = bytearray()
        self._dropped = 0
        self._is_flushing = False
        self._is_closed = False

    def write(self, octets: bytes) -> None:
        """Write a line, now or soon."""
        with self._changed:
            if self._is_closed:
                return
            if self._is_flushing:
                self._keep(octets)
                return
            rest = self._written_at_once(octets)
            if rest:
                self._is_flushing = True
                self._pending += rest
                threading.Thread(target=self._flush, name="log-write", daemon=True).start()

    def finish(self) -> None:
        """Wait a moment for pending lines."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_flushing, FINISH_WITHIN_S)

    def close(self) -> None:
        """Write pending lines when there is room, and nothing more."""
        with self._changed:
            self._is_closed = True
            if not self._is_flushing:
                self._let_go()

    def _keep(self, octets: bytes) -> None:
        if len(self._pending) > PENDING_MAX_BYTES:
            self._dropped += 1
            return
        self._note_dropped()
        self._pending += octets

    def _note_dropped(self) -> None:
        if self._dropped:
            self._pending += b"... %d lines of the log were dropped here\n" % self._dropped
            self._dropped = 0

    def _written_at_once(self, octets: bytes) -> bytes:
        """Write as much as there is room for; return the rest."""
        try:
            if stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                while octets:
                    octets = octets[os.write(self._descriptor, octets) :]
            while octets and self._has_room(0):
                octets = octets[os.write(self._descriptor, octets[:_AT_A_TIME]) :]
        except BlockingIOError:
            # Another process can have made it non-blocking, and been quicker.
            return octets
        except OSError:
            # If a disk is full or a reader is gone, only lines are lost.
            return b""
        return octets

    def _has_room(self, within_ms: int | None) -> bool:
        writable = select.poll()
        writable.register(self._descriptor, select.POLLOUT)
        return bool(writable.poll(within_ms))

    def _flush(self) -> None:
        """Write pending lines, in a thread that may wait for the reader."""
        while True:
            self._has_room(None)
            with self._changed:
                piece = bytes(self._pending[:_AT_A_TIME])
            try:
                count = os.write(self._descriptor, piece)
            except BlockingIOError:
                continue
            except OSError:
                count = None
            with self._changed:
                if count is None:
                    self._pending.clear()
                    self._dropped = 0
                else:
                    del self._pending[:count]
                if not self._pending:
                    self._note_dropped()
                if not self._pending:
                    self._is_flushing = False
                    if self._is_closed:
                        self._let_go()
                    self._changed.notify_all()
                    return

    def _let_go(self) -> None:
        if self._owns:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
