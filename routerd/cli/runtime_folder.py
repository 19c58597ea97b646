"""The folder of the sockets that the processes of one router talk through."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

PREFIX = "routerd-"
LONGEST = 80
"""Octets of its name; the name of a socket in it can have 107."""
OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH


class RuntimeFolderError(Exception):
    """A folder that the sockets cannot be put into."""


@contextmanager
def runtime_folder(wanted: str | None, *, is_kept: bool) -> Iterator[str]:
    """Yield the folder that is wanted, or a private one, which is removed at the end unless it is to be kept."""
    if wanted is not None:
        yield _checked(wanted)
        return
    # Not below TMPDIR, which may be too long for the name of a socket, unless there is no other place.
    made = tempfile.mkdtemp(prefix=PREFIX, dir="/tmp" if os.access("/tmp", os.W_OK | os.X_OK) else None)
    try:
        yield made
    finally:
        if not is_kept:
            shutil.rmtree(made, ignore_errors=True)


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
