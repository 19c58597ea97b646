"""The outputs of the log: a stream of the process, a file, or syslog."""

import contextlib
import os
import select
import syslog
import threading
from collections import deque
from typing import Protocol

from routerd.io.logs.levels import Level
from routerd.io.logs.line_writer import FINISH_WITHIN_S, LineWriter

SYSLOG_PENDING_MAX = 1000
"""Lines that are kept while the system's log takes none."""
_PRIORITIES = {
    Level.TRACE: syslog.LOG_DEBUG,
    Level.DEBUG: syslog.LOG_DEBUG,
    Level.INFO: syslog.LOG_INFO,
    Level.NOTICE: syslog.LOG_NOTICE,
    Level.WARNING: syslog.LOG_WARNING,
    Level.ERROR: syslog.LOG_ERR,
    Level.CRITICAL: syslog.LOG_CRIT,
}


class LogFileError(Exception):
    """A file for the log that cannot be opened."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"Failed to open log file '{self.path}': {self.reason}"


class LogOutput(Protocol):
    """Takes complete lines, one call at a time. An output that cannot write loses lines, and raises nothing."""

    def write(self, line: str, level: Level) -> None:
        """Write a line, which ends with a newline."""

    def finish(self) -> None:
        """Wait a moment for unwritten lines."""

    def close(self) -> None:
        """Release the resources of the output."""


def encoded(line: str) -> bytes:
    """Return the octets of a line; half of a surrogate pair has none, and is written as `\ud800`."""
    return line.encode(errors="backslashreplace")


def write_all(descriptor: int, octets: bytes) -> None:
    """Write everything, in one call if the system takes it at once."""
    while octets:
        try:
            octets = octets[os.write(descriptor, octets) :]
        except BlockingIOError:
            # Another process can have made a shared pipe or terminal non-blocking.
            writable = select.poll()
            writable.register(descriptor, select.POLLOUT)
            writable.poll()


class StreamOutput:
    """Standard output or standard error."""

    def __init__(self, descriptor: int) -> None:
        self._writer = LineWriter(descriptor)

    def write(self, line: str, level: Level) -> None:
        """Write a line."""
        self._writer.write(encoded(line))

    def finish(self) -> None:
        """Wait a moment until its reader has taken the lines."""
        self._writer.finish()

    def close(self) -> None:
        """Do nothing: the stream belongs to the process."""


class FileOutput:
    """A file that lines are appended to, each by one call, so that several processes can share it.

    When the file has been renamed or deleted, as a rotation does, the next line begins a new one of its name.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._open()
        except OSError as error:
            raise LogFileError(path, error.strerror or str(error)) from error

    def _open(self) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._identity = self._identity_of(os.fstat(descriptor))
        self._writer = LineWriter(descriptor, owns=True)

    @staticmethod
    def _identity_of(status: os.stat_result) -> tuple[int, int]:
        return status.st_dev, status.st_ino

    def write(self, line: str, level: Level) -> None:
        """Append a line."""
        self.follow()
        self._writer.write(encoded(line))

    def follow(self) -> None:
        """Open the file that has the name now; if that is impossible, continue with the old one."""
        old = self._writer
        try:
            if self._identity_of(os.stat(self._path)) == self._identity:
                return
        except OSError:
            pass
        with contextlib.suppress(OSError):
            self._open()
            old.close()

    def finish(self) -> None:
        """Wait a moment until its reader has taken the lines, if it is a pipe."""
        self._writer.finish()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


class SyslogOutput:
    """The system's log, with facility daemon. A thread hands over the lines, as the system may be slow."""

    def __init__(self) -> None:
        syslog.openlog("routerd", syslog.LOG_PID, syslog.LOG_DAEMON)
        self._changed = threading.Condition()
        self._pending: deque[tuple[int, str]] = deque()
        self._dropped = 0
        self._is_flushing = False

    def write(self, line: str, level: Level) -> None:
        """Hand over a line."""
        with self._changed:
            if len(self._pending) >= SYSLOG_PENDING_MAX:
                self._dropped += 1
                return
            self._pending.append((_PRIORITIES[level], line.rstrip("\n")))
            if not self._is_flushing:
                self._is_flushing = True
                threading.Thread(target=self._flush, name="log-syslog", daemon=True).start()

    def _flush(self) -> None:
        while True:
            with self._changed:
                if not self._pending and self._dropped:
                    text = f"... {self._dropped} lines of the log were dropped here"
                    self._pending.append((syslog.LOG_WARNING, text))
                    self._dropped = 0
                if not self._pending:
                    self._is_flushing = False
                    self._changed.notify_all()
                    return
                priority, text = self._pending.popleft()
            syslog.syslog(priority, text)

    def finish(self) -> None:
        """Wait a moment until the system has taken the lines."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_flushing, FINISH_WITHIN_S)

    def close(self) -> None:
        """Do nothing: the connection is for later lines."""
