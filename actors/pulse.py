"""The pulse of an actor: a small file that it writes several times a second, for others on its host to read.

A call through Ray costs some 2 ms of processor time, both ends together. A pulse costs nearly nothing, since both ends
have the file in their memory. So a process that stands still is noticed within a second.
"""

import contextlib
import mmap
import os
import struct
from dataclasses import dataclass

from actors.processes import Process, condition

_FORM = struct.Struct("<QQQ")


@dataclass(frozen=True, slots=True)
class Sign:
    """The last beat of a process."""

    process: Process
    beats: int


class Pulse:
    """The pulse of this process."""

    def __init__(self, path: str) -> None:
        self.path = path
        own = condition(os.getpid())
        assert own is not None, "this process exists"
        self._process = own.process
        self._beats = 0
        # Not truncated: whoever reads must find a whole entry at any time.
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(file, self._entry(), 0)
            self._memory = mmap.mmap(file, _FORM.size)
        finally:
            os.close(file)

    def beat(self) -> None:
        """Show that this process is alive."""
        self._beats += 1
        self._memory[:] = self._entry()

    def close(self) -> None:
        """Leave no pulse behind."""
        self._memory.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def _entry(self) -> bytes:
        return _FORM.pack(self._process.pid, self._process.started, self._beats)


class PulseReader:
    """Looks at a pulse again and again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._memory: mmap.mmap | None = None
        self._last: Sign | None = None

    def read(self) -> Sign | None:
        """Return the last beat of the process whose pulse it is; None where there is no pulse."""
        sign = _sign_in(self._memory)
        if sign is None or sign == self._last:
            # It may be another file by now.
            self._open()
            sign = _sign_in(self._memory)
        self._last = sign
        return sign

    def close(self) -> None:
        """Look no more."""
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()

    def _open(self) -> None:
        self.close()
        with contextlib.suppress(OSError, ValueError), open(self._path, "rb", buffering=0) as file:
            self._memory = mmap.mmap(file.fileno(), _FORM.size, access=mmap.ACCESS_READ)


def read_sign(path: str) -> Sign | None:
    """Return the last beat of the process whose pulse is at this path; None where there is no pulse."""
    reader = PulseReader(path)
    try:
        return reader.read()
    finally:
        reader.close()


def _sign_in(memory: mmap.mmap | None) -> Sign | None:
    if memory is None:
        return None
    pid, started, beats = _FORM.unpack(memory)
    return Sign(Process(pid, started), beats)
