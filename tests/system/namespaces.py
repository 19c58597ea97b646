"""Network namespaces: hosts of their own for routers, with a cable between that can be pulled."""

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
    name = f"mesh-{os.getpid()}-try"
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


class Cable:
    """Two namespaces, and the one connection between them."""

    ADDRESSES = ("10.213.0.1", "10.213.0.2")

    def __init__(self) -> None:
        self.names = tuple(f"mesh-{os.getpid()}-{end}" for end in "ab")
        for name in self.names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", self.names[0], "link", "add", "end", "type", "veth", "peer", "name", "end", "netns", self.names[1])
        for name, address in zip(self.names, self.ADDRESSES, strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "end")
        self.plug()

    def pull(self) -> None:
        """Part the two, without a word to either."""
        ip("-n", self.names[0], "link", "set", "end", "down")

    def plug(self) -> None:
        """Join them."""
        for name in self.names:
            ip("-n", name, "link", "set", "end", "up")

    def close(self) -> None:
        """Remove the namespaces."""
        for name in self.names:
            ip("netns", "delete", name)
