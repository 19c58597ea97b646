"""The transport to a router: a blocking socket, with TLS around it if that is asked for."""

import os
import socket

from routerd.cli.manage.bus import Bus
from routerd.cli.manage.failures import Unreachable
from routerd.cli.manage.stream import SocketStream, TlsOptions


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
