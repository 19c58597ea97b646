"""The first thing that a worker process of our own Ray runs: it becomes a `lean_worker` without delay.

Ray's script for this place imports all of Ray to find out whether the worker needs a special environment. Then it
replaces the process by another, which imports all of Ray again. Our actors need no environment. Without that detour, an
actor that died is back in two thirds of the time. This file imports nothing of ours, since it is run by its file name.

If there is no room for its log, a worker of Ray ends at once, and Ray starts the next. Here the worker waits for room.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable

_ENVIRONMENT = "--serialized-runtime-env-context"
_LANGUAGE = "--language"
_FOLDER = "--temp-dir="
_LEAN_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lean_worker.py")
_PR_SET_PDEATHSIG = 1
AGAIN_S = 1.0
NEEDED_BYTES = 1 << 20
"""A worker of Ray that cannot write its log ends at once, and Ray starts the next."""
NEEDED_FILES = 16
_KIB = 1 << 10


def command(arguments: list[str]) -> list[str]:
    """Return the arguments for the interpreter that is to be the worker."""
    if any(argument.startswith(_ENVIRONMENT) for argument in arguments):
        from ray._private.workers import setup_worker

        return [setup_worker.__file__, *arguments]
    return [_LEAN_WORKER, *(argument for argument in arguments if not argument.startswith(_LANGUAGE))]


def shortage_in(folder: str, needed_bytes: int = NEEDED_BYTES) -> str | None:
    """Return what a folder lacks, or None where there is enough."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    free = found.f_bavail * found.f_frsize
    if free < needed_bytes:
        return f"the file system of {folder} has {free // _KIB} KiB free, {needed_bytes // _KIB} KiB are needed"
    # A file system that counts no files says that there are none at all.
    if found.f_files and found.f_favail < NEEDED_FILES:
        return f"the file system of {folder} can have {found.f_favail} more files, {NEEDED_FILES} are needed"
    return None


def shortage_of(folders: Iterable[str]) -> str | None:
    """Return what one of these folders lacks, or None where there is enough in all."""
    return next(filter(None, map(shortage_in, folders)), None)


def wait_for_room(arguments: list[str]) -> None:
    """Return once there is room in the folder that the arguments name. Ray gives up after a minute, and tries again."""
    folder = next((argument.removeprefix(_FOLDER) for argument in arguments if argument.startswith(_FOLDER)), None)
    while folder is not None and shortage_in(folder) is not None:
        time.sleep(AGAIN_S)


if __name__ == "__main__":
    # The worker ends with Ray's server, which ends with the launcher. Otherwise they would notice the loss seconds
    # later, and the ports of the router would be taken until then.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        # It has ended before we asked to be told.
        sys.exit(1)
    wait_for_room(sys.argv[1:])
    os.execv(sys.executable, [sys.executable, *command(sys.argv[1:])])
