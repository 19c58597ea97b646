"""The transport to a router: a blocking socket, with TLS around it if that is asked for."""

import os
import socket
from dataclasses import dataclass, field
from typing import Protocol

from routerd.cli.manage.bus import Bus
from routerd.cli.manage.failures import Unreachable

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsOptions:
    """How to trust a router, and how to be trusted, over TLS."""

    certificate: str | None = None
    """The file with our certificate."""
    key: str | None = None
    """The file with its key, if that is not in the same file."""
    trustfile: str | None = None
    """The file with the authorities; without one it is those of the system."""
    password: str | None = field(default=None, repr=False)
    """Of the key; without one OpenSSL asks the terminal for it."""
    is_name_checked: bool = True


class Stream(Protocol):
    """Octets to a router and back."""

    def send(self, data: bytearray) -> None:
        """Send all of this; OSError if the connection is lost."""

    def receive(self, timeout_s: float) -> bytes:
        """Return what has come, nothing at the end; TimeoutError if nothing comes in time."""

    def fileno(self) -> int:
        """Return what `select` can wait for."""

    def close(self) -> None:
        """Let go of the connection."""


class SocketStream:
    """A stream over a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def send(self, data: bytearray) -> None:
        """Send all of this; OSError if the connection is lost."""
        self._socket.sendall(data)

    def receive(self, timeout_s: float) -> bytes:
        """Return what has come, nothing at the end; TimeoutError if nothing comes in time."""
        self._socket.settimeout(timeout_s)
        return self._socket.recv(_CHUNK)

    def fileno(self) -> int:
        """Return what `select` can wait for."""
        return self._socket.fileno()

    def close(self) -> None:
        """Let go of the connection."""
        self._socket.close()


def connect(bus: Bus, tls: TlsOptions, timeout_s: float) -> SocketStream:
    """Return a stream to a router; Unreachable if there is none."""
    try:
        sock = socket.create_connection((bus.host, bus.port), timeout_s)
    except OSError as error:
        raise unreachable(bus, error, timeout_s) from error
    # A request is written in one piece, and no more is coming that it could wait for.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not bus.is_tls:
        return SocketStream(sock)
    # Most connections are without TLS, and need not wait for its import.
    from routerd.cli.manage.tls import secured

    return secured(sock, bus, tls)


def unreachable(bus: Bus, error: OSError, timeout_s: float) -> Unreachable:
    """Return what to tell of a connection that was not made."""
    if isinstance(error, ConnectionRefusedError):
        return Unreachable(
            bus.where, "connection refused", "is a router running, and is this its port? -b HOST:PORT names another"
        )
    if isinstance(error, socket.gaierror):
        return Unreachable(bus.where, f"the host {bus.host!r} is not known", "-b HOST:PORT names another")
    if isinstance(error, TimeoutError):
        return Unreachable(
            bus.where, f"no answer within {timeout_s:g} s", "is a firewall in between? -t SECS waits longer"
        )
    return Unreachable(bus.where, os.strerror(error.errno) if error.errno else str(error))
