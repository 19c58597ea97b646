"""Leaving the terminal: the router runs in another process; the command ends once it is ready or has failed (2.2)."""

import contextlib
import os
import pwd
import sys
from importlib import import_module
from pathlib import Path

UMASK = 0o022
"""The reference has 0, which leaves files that everybody can write."""
LATE_MODULES = ("encodings.idna", "scramp.utils")
"""They are imported when they are first needed, and another user may not be able to read them then."""
READY = b"\0"
"""What the daemon tells the command that started it; anything else is why it failed."""


class DaemonError(Exception):
    """Why there can be no daemon."""


class PidFile:
    """A file that names the process, as long as that runs."""

    def __init__(self, path: str) -> None:
        self._path = Path(os.path.abspath(path))

    def write(self) -> None:
        """Write the number of this process."""
        try:
            self._path.write_text(f"{os.getpid()}\n")
        except OSError as error:
            raise DaemonError(f"Cannot write pid file '{self._path}': {error.strerror}") from error

    def remove(self) -> None:
        """Remove the file, or empty it where that is not allowed, unless another process has written it since."""
        with contextlib.suppress(OSError):
            if self._path.read_text() != f"{os.getpid()}\n":
                return
            try:
                self._path.unlink()
            except PermissionError:
                self._path.write_text("")


class Parent:
    """The command that waits for the daemon's word."""

    def __init__(self, pipe: int | None = None) -> None:
        self._pipe = pipe

    def tell_ready(self) -> None:
        """Let the command end with status 0."""
        self._tell(READY)

    def tell_failed(self, reason: str) -> None:
        """Let the command print the reason, where there is one, and end with status 1."""
        self._tell(reason.encode())

    def _tell(self, octets: bytes) -> None:
        if self._pipe is not None:
            # Nobody is obliged to wait for us.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._pipe, octets)
            os.close(self._pipe)
            self._pipe = None


def become_daemon() -> Parent:
    """Go on as a daemon; the process that called never returns, but ends as the daemon says.

    To be called before any thread is started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        _wait(reader)
    os.close(reader)
    os.setsid()
    # Not the leader of its session, the daemon can never get a terminal again.
    if os.fork():
        os._exit(0)
    os.umask(UMASK)
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
    return Parent(writer)


def _wait(reader: int) -> None:
    octets = b""
    while more := os.read(reader, 4096):
        octets += more
    if octets == READY:
        os._exit(0)
    reason = octets.decode(errors="replace") or "the daemon ended before it was ready"
    os.write(2, f"{sys.argv[0]}: {reason}\n".encode())
    os._exit(1)


def become_user(name: str) -> None:
    """Go on as another user, with that user's groups."""
    for module in LATE_MODULES:
        import_module(module)
    try:
        user = pwd.getpwnam(name)
        os.initgroups(name, user.pw_gid)
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    except KeyError:
        raise DaemonError(f"There is no user '{name}'") from None
    except OSError as error:
        raise DaemonError(f"Cannot become user '{name}': {error.strerror}") from error
    os.environ.update(HOME=user.pw_dir, USER=name, LOGNAME=name)
