"""Ports for programs that must be told a port before they listen: routers of a mesh, brokers, Ray."""

from __future__ import annotations

import itertools
import os
import socket
from pathlib import Path

# Ray gives its workers the ports below these.
_FIRST = 20_000
# Linux begins its own choice here, for connections too: a port of these can be taken before it is listened on.
_USUAL_END = 32_768
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
# Processes that choose at a time start far from each other.
_APART = 64
_numbers = itertools.count(os.getpid() * _APART)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on, that no connection is given, and that this process did not return lately."""
    end = _end()
    found: list[int] = []
    for number in itertools.islice(_numbers, end - _FIRST):
        port = _FIRST + number % (end - _FIRST)
        if _is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    raise OSError(f"{count} ports from {_FIRST} to {end - 1} are wanted, and {len(found)} are free")


def free_port() -> int:
    """Return one such port."""
    [port] = free_ports(1)
    return port


def _end() -> int:
    try:
        first_for_connections = int(_RANGE.read_text().split()[0])
    except OSError:
        return _USUAL_END
    # A host that gives connections nearly all ports leaves no better choice.
    return first_for_connections if first_for_connections > _FIRST + _APART else _USUAL_END


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("", port)).close()
    except OSError:
        return False
    return True
