"""The folder of the sockets that the processes of one router talk through.

It is locked as long as its launcher lives, however that ends. So the next launcher knows what has been left behind.
"""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "routerd-"
LONGEST = 80
"""Octets of its name; the name of a socket in it can have 107."""
OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH
MARK = "launcher"
"""Is in each private folder that ends with its launcher, but for the moment before it is locked."""
LOG_SOCKET = "log"
"""Where the actors send what is to be written to standard error or output."""
RAY_FOLDER, SESSION, TOKEN = "ray", "s", "token"
"""The folder of the router's own Ray, and what is in it."""


class RuntimeFolderError(Exception):
    """A folder that the sockets cannot be put into."""


@contextmanager
def runtime_folder(wanted: str | None, *, is_kept: bool) -> Iterator[str]:
    """Yield the folder that is wanted, or a private one, which is removed at the end unless it is to be kept."""
    if wanted is not None:
        folder = _checked(wanted)
        with _locked(folder):
            _remove_leftovers_in(folder)
            yield folder
        return
    # Not below TMPDIR, which may be too long for the name of a socket, unless there is no other place.
    place = "/tmp" if os.access("/tmp", os.W_OK | os.X_OK) else tempfile.gettempdir()
    _remove_leftovers(place)
    made = tempfile.mkdtemp(prefix=PREFIX, dir=place)
    with _locked(made):
        if not is_kept:
            Path(made, MARK).touch(0o600)
        try:
            yield made
        finally:
            if not is_kept:
                shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not _has_locked(descriptor):
            raise RuntimeFolderError(f"runtime directory '{folder}': another router uses it, each needs its own")
        yield
    finally:
        os.close(descriptor)


def _has_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some file systems have no locks.
        return True
    return True


def _remove_leftovers(place: str) -> None:
    """Remove private folders whose launchers were killed, as were those who would have done it instead."""
    for folder in Path(place).glob(f"{PREFIX}*"):
        # It may be another user's, in use, or gone meanwhile.
        with contextlib.suppress(OSError, RuntimeFolderError):
            is_ours = not folder.is_symlink() and folder.stat().st_uid == os.geteuid()
            if is_ours and (folder / MARK).is_file():
                with _locked(str(folder)):
                    shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers_in(folder: str) -> None:
    """Remove what only a launcher puts into its folder: it would be in the way of the next."""
    Path(folder, LOG_SOCKET).unlink(missing_ok=True)
    ray = Path(folder, RAY_FOLDER)
    if ray.is_dir() and not ray.is_symlink():
        names = set(os.listdir(ray))
        # Anything else of this name is not ours to remove.
        if SESSION in names or names <= {TOKEN}:
            shutil.rmtree(ray, ignore_errors=True)


def _checked(folder: str) -> str:
    if len(os.fsencode(folder)) > LONGEST:
        raise RuntimeFolderError(f"runtime directory '{folder}': too long for sockets in it, at most {LONGEST} octets")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError as error:
        raise RuntimeFolderError(f"runtime directory '{folder}': {error.strerror}") from error
    if status.st_uid != os.geteuid() or status.st_mode & OTHERS_CAN_WRITE:
        raise RuntimeFolderError(f"runtime directory '{folder}': it must be ours and writable by nobody else")
    return folder
