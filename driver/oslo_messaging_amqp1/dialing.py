"""Which host to connect to next, when, and how: over all addresses that its name stands for."""

import errno
import os
import random
import socket
from collections.abc import Sequence

from .settings import Settings
from .url import Host


class Rotation:
    """Goes round the hosts from any of them, and says how long to wait before the next attempt."""

    def __init__(self, hosts: Sequence[Host], settings: Settings) -> None:
        self.hosts = hosts
        self._at = random.randrange(len(hosts))
        self._settings = settings
        self._delay_s: float | None = None

    @property
    def host(self) -> Host:
        """The host whose turn it is."""
        return self.hosts[self._at]

    def step(self) -> float:
        """Go on to the next host; return the seconds to wait before it is tried."""
        self._at = (self._at + 1) % len(self.hosts)
        settings = self._settings
        if self._delay_s is None:
            self._delay_s = settings.connection_retry_interval
        delay_s = min(self._delay_s, settings.connection_retry_interval_max)
        self._delay_s = min(delay_s * settings.connection_retry_backoff, settings.connection_retry_interval_max)
        return delay_s

    def succeeded(self) -> None:
        """Begin with the shortest delay again."""
        self._delay_s = None


class Dialing:
    """One attempt at a host: its addresses one after another, without blocking but for the resolution of its name."""

    def __init__(self, host: Host) -> None:
        self._addresses = socket.getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM)
        self._fault = OSError(errno.EHOSTUNREACH, f"{host.name} has no address")
        self.sock: socket.socket | None = None

    def begin(self) -> None:
        """Try the next address; OSError with what went wrong last when there is none."""
        while self._addresses:
            family, kind, protocol, _, address = self._addresses.pop(0)
            try:
                self.sock = socket.socket(family, kind, protocol)
                self.sock.setblocking(False)
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                code = self.sock.connect_ex(address)
            except OSError as error:
                self._failed(error)
                continue
            if code in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
                return
            self._failed(OSError(code, os.strerror(code)))
        raise self._fault

    def is_connected(self) -> bool:
        """Return whether the address that is tried answered; OSError if none is left that could."""
        assert self.sock is not None
        code = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code == 0:
            return True
        self.next_address(OSError(code, os.strerror(code)))
        return False

    def next_address(self, fault: OSError) -> None:
        """Give up the address that is tried and begin with the next."""
        self._failed(fault)
        self.begin()

    def _failed(self, fault: OSError) -> None:
        self._fault = fault
        if self.sock is not None:
            self.sock.close()
            self.sock = None
