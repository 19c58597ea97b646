"""The pulse of an actor: a small file that it writes several times a second, for others on its host to read.

A call through Ray costs some 2 ms of processor time, both ends together; this costs a hundredth of it, and so is
cheap enough to notice within a second that a process stands still.
"""

import contextlib
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
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._write()

    def beat(self) -> None:
        """Show that this process is alive."""
        self._beats += 1
        self._write()

    def close(self) -> None:
        """Leave no pulse behind."""
        os.close(self._file)
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def _write(self) -> None:
        os.pwrite(self._file, _FORM.pack(self._process.pid, self._process.started, self._beats), 0)


def read_sign(path: str) -> Sign | None:
    """Return the last beat of the process whose pulse is at this path; None where there is no pulse."""
    try:
        with open(path, "rb", buffering=0) as file:
            pid, started, beats = _FORM.unpack(file.read(_FORM.size))
    except (OSError, struct.error):
        return None
    return Sign(Process(pid, started), beats)
