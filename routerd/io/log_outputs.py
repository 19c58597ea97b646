"""Where lines go: a stream of the process, a file, or syslog."""

import contextlib
import os
import select
import syslog
from typing import Protocol

from routerd.io.line_writer import LineWriter
from routerd.io.log_levels import Level

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
    """Takes finished lines, one call at a time; one that cannot write loses lines and raises nothing."""

    def write(self, line: str, level: Level) -> None:
        """Write a line, which ends with a newline."""

    def finish(self) -> None:
        """Give what has not been written a moment to leave."""

    def close(self) -> None:
        """Let go of what the output holds."""


def encoded(line: str) -> bytes:
    """Return the octets of a line; half of a surrogate pair, which has none, is written as `\\ud800`."""
    return line.encode(errors="backslashreplace")


def write_all(descriptor: int, octets: bytes) -> None:
    """Write everything, in one call where the system takes it in one."""
    while octets:
        try:
            octets = octets[os.write(descriptor, octets) :]
        except BlockingIOError:
            # Somebody else can have made a pipe or terminal that is shared with us non-blocking.
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
        """Give what its reader has not taken a moment to leave."""
        self._writer.finish()

    def close(self) -> None:
        """Leave the stream to the process."""


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
        """Open the file that has the name now; where that is not possible, go on with the old one."""
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
        """Give what its reader, if it is a pipe, has not taken a moment to leave."""
        self._writer.finish()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


class SyslogOutput:
    """The system's log, as facility daemon."""

    def __init__(self) -> None:
        syslog.openlog("routerd", syslog.LOG_PID, syslog.LOG_DAEMON)

    def write(self, line: str, level: Level) -> None:
        """Hand over a line."""
        syslog.syslog(_PRIORITIES[level], line.rstrip("\n"))

    def finish(self) -> None:
        """There is nothing to wait for."""

    def close(self) -> None:
        """Leave the connection to the next one who logs."""
