"""Standard error and output of one process, used by others: Ray would keep theirs for itself.

The process that owns the streams serves a Unix stream socket. Each other process connects and sends lines, with the
number of the stream in front of each. No process waits for the owner. Lines that do not fit into the socket are kept,
up to a limit; lines beyond the limit are dropped and counted. When the owner is gone, each process opens the streams
itself.
"""

import contextlib
import os
import select
import selectors
import socket
import threading
import time

from routerd.io.logs.levels import Level
from routerd.io.logs.outputs import StreamOutput, encoded, write_all

STDOUT, STDERR = 1, 2
PENDING_MAX_BYTES = 1 << 20
"""Octets that a process keeps while the owner of the streams does not read."""
UNFINISHED_MAX_BYTES = 1 << 20
"""Octets that the owner keeps of an incomplete line."""
CHUNK_BYTES = 1 << 16
FINISH_WITHIN_S = 1.0


class LogForwarder:
    """The sending side: one connection, shared by the outputs of a process."""

    def __init__(self, path: str) -> None:
        self._changed = threading.Condition()
        self._pending = bytearray()
        self._dropped = 0
        self._is_flushing = False
        self._socket: socket.socket | None = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError:
            self._lose_owner()

    def send(self, descriptor: int, line: str) -> bool:
        """Send a line, now or soon; return False when the owner is gone."""
        with self._changed:
            if self._socket is None:
                return False
            if len(self._pending) > PENDING_MAX_BYTES:
                self._dropped += 1
                return True
            if self._dropped:
                self._pending += b"%d... %d lines of the log were dropped here\n" % (descriptor, self._dropped)
                self._dropped = 0
            self._pending += b"%d%b" % (descriptor, encoded(line))
            self._send_pending(self._socket)
            if self._pending and not self._is_flushing:
                self._is_flushing = True
                threading.Thread(target=self._flush, args=(self._socket,), name="log-flush", daemon=True).start()
            return self._socket is not None

    def close(self) -> None:
        """Wait a moment for pending lines, then end the connection."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending, FINISH_WITHIN_S)
            self._lose_owner()

    def _send_pending(self, to: socket.socket) -> None:
        try:
            while self._pending:
                del self._pending[: to.send(self._pending, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)]
        except BlockingIOError:
            pass
        except OSError:
            self._lose_owner()

    def _flush(self, to: socket.socket) -> None:
        writable = select.poll()
        writable.register(to, select.POLLOUT)
        while True:
            writable.poll()
            with self._changed:
                if self._socket is not None:
                    self._send_pending(to)
                if self._pending:
                    continue
                self._is_flushing = False
                self._changed.notify_all()
                if self._socket is None:
                    to.close()
                return

    def _lose_owner(self) -> None:
        if self._socket is not None:
            # This wakes a flush that waits for the socket, and closes the socket.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            if not self._is_flushing:
                self._socket.close()
        self._socket = None
        self._pending.clear()


class ForwardedOutput:
    """A stream of the process that owns the streams, or of this process once the owner is gone."""

    def __init__(self, forwarder: LogForwarder, descriptor: int) -> None:
        self._forwarder = forwarder
        self._descriptor = descriptor
        self._own = StreamOutput(descriptor)

    def write(self, line: str, level: Level) -> None:
        """Write a line."""
        if not self._forwarder.send(self._descriptor, line):
            self._own.write(line, level)

    def finish(self) -> None:
        """Do nothing: the forwarder waits for all outputs when it is closed."""
        self._own.finish()

    def close(self) -> None:
        """Do nothing: the connection is for the other outputs."""


class LogReceiver:
    """The side that owns the streams: a thread that writes the lines of the others."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(path)
        self._server.listen(128)
        self._unfinished: dict[socket.socket, bytearray] = {}
        self._selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = socket.socketpair()
        for source in (self._server, self._wake_reader):
            self._selector.register(source, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="log-receiver", daemon=True)

    def start(self) -> None:
        """Begin to accept lines."""
        self._thread.start()

    def close(self) -> None:
        """Write everything that was sent so far, then stop; a stream without a reader is abandoned."""
        if self._thread.is_alive():
            self._wake_writer.send(b"\0")
            self._thread.join(FINISH_WITHIN_S)
        if not self._thread.is_alive():
            self._close_all()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def _run(self) -> None:
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            # After the request to stop, it reads on while there is input.
            ready = self._selector.select(None if deadline is None else 0)
            if deadline is not None and not ready:
                break
            for key, _ in ready:
                if key.fileobj is self._wake_reader:
                    self._selector.unregister(self._wake_reader)
                    deadline = time.monotonic() + FINISH_WITHIN_S
                elif key.fileobj is self._server:
                    self._accept()
                else:
                    assert isinstance(key.fileobj, socket.socket)
                    self._read(key.fileobj)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            sender, _ = self._server.accept()
            self._unfinished[sender] = bytearray()
            self._selector.register(sender, selectors.EVENT_READ)

    def _read(self, sender: socket.socket) -> None:
        try:
            octets = sender.recv(CHUNK_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            octets = b""
        if not octets:
            self._forget(sender)
            return
        unfinished = self._unfinished[sender]
        unfinished += octets
        end = unfinished.rfind(b"\n") + 1
        for line in bytes(unfinished[:end]).split(b"\n")[:-1]:
            with contextlib.suppress(OSError):
                write_all(STDOUT if line.startswith(b"1") else STDERR, line[1:] + b"\n")
        del unfinished[:end]
        if len(unfinished) > UNFINISHED_MAX_BYTES:
            self._forget(sender)

    def _forget(self, sender: socket.socket) -> None:
        self._selector.unregister(sender)
        del self._unfinished[sender]
        sender.close()

    def _close_all(self) -> None:
        self._selector.close()
        for opened in (self._server, self._wake_reader, self._wake_writer, *self._unfinished):
            opened.close()
