"""Streams of octets to a router: a blocking socket. One with TLS is in `tls`, since `ssl` takes its time to import."""

import socket
from dataclasses import dataclass, field
from typing import Protocol

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
