"""The sockets on which processes listen, as /proc shows them."""

import os
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.system.processes import PROC, Process

LISTENS = "0A"
ACCEPTS_CONNECTIONS = 0x10000
WORD = 8
"""Hexadecimal digits of 32 bits, in which /proc writes addresses as the host has them."""


@dataclass(frozen=True, slots=True)
class TcpSocket:
    """One on which a process accepts connections."""

    host: str
    port: int
    owner: str
    """The command line of the process."""


def tcp_sockets(processes: Iterable[Process]) -> list[TcpSocket]:
    """Return the TCP sockets on which these processes listen."""
    owners = _owners(processes)
    found = []
    for table in ("tcp", "tcp6"):
        for fields in _rows(PROC / "net" / table):
            if fields[3] == LISTENS and fields[9] in owners:
                address, _, port = fields[1].partition(":")
                found.append(TcpSocket(_host(address), int(port, 16), owners[fields[9]]))
    return found


def unix_sockets(processes: Iterable[Process]) -> list[Path]:
    """Return the Unix sockets on which these processes listen."""
    owners = _owners(processes)
    return [
        Path(fields[7])
        for fields in _rows(PROC / "net" / "unix")
        if len(fields) > 7 and int(fields[3], 16) & ACCEPTS_CONNECTIONS and fields[6] in owners
    ]


def _rows(table: Path) -> list[list[str]]:
    return [line.split() for line in table.read_text().splitlines()[1:]]


def _owners(processes: Iterable[Process]) -> dict[str, str]:
    """Return the command lines of processes by the numbers of their sockets."""
    owners = {}
    for process in processes:
        with suppress(OSError):
            for name in os.listdir(PROC / str(process.pid) / "fd"):
                with suppress(OSError):
                    target = os.readlink(PROC / str(process.pid) / "fd" / name)
                    if target.startswith("socket:["):
                        owners[target.removeprefix("socket:[").removesuffix("]")] = process.title
    return owners


def _host(digits: str) -> str:
    words = [int(digits[at : at + WORD], 16) for at in range(0, len(digits), WORD)]
    octets = struct.pack(f"={len(words)}I", *words)
    text = socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, octets)
    return text.removeprefix("::ffff:")
