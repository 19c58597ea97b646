"""Network namespaces: as many hosts as there are names, on one machine."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000
SELF = Path("/proc/thread-self/ns/net")
NAMED = Path("/run/netns")

_libc = ctypes.CDLL(None, use_errno=True)


def why_not() -> str | None:
    """Return why there can be no namespaces here, if there can't."""
    if shutil.which("ip") is None:
        return "there is no ip command (package iproute2)"
    name = f"mobula-{os.getpid()}-try"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if tried.returncode:
        return f"network namespaces can't be made: {tried.stderr.strip()}"
    ip("netns", "delete", name)
    return None


def ip(*words: str) -> None:
    """Run the command of that name."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Have sockets that are made, and processes that are started, be in a namespace."""
    with SELF.open() as here:
        _enter(NAMED / name)
        try:
            yield
        finally:
            _set(here.fileno())


def _enter(place: Path) -> None:
    with place.open() as there:
        _set(there.fileno())


def _set(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
