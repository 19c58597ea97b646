"""Which host to connect to next, when, and how: over all addresses that its name stands for."""

import errno
import os
import random
import socket
from collections.abc import Sequence

from .settings import Settings
from .url import Host

STABLE_S = 5.0
"""How long a connection has to last for the other hosts to be tried at once when it is lost."""
SPREAD_S = 0.25
"""Within which time clients that lose a host at the same moment go to another."""


class Rotation:
    """Goes round the hosts, from any of them or in their order, and says how long to wait before the next attempt.

    In a round each host is tried once, without a pause. Between rounds there is one, which grows.
    """

    def __init__(self, hosts: Sequence[Host], settings: Settings) -> None:
        self.hosts = hosts
        self.is_round_over = False
        """Whether all hosts were tried in vain by the last step."""
        self._settings = settings
        self._at = 0 if settings.prefer_first_host else random.randrange(len(hosts))
        self._left = self._others()
        self._delay_s: float | None = None

    @property
    def host(self) -> Host:
        """The present host."""
        return self.hosts[self._at]

    @property
    def better_hosts(self) -> Sequence[Host]:
        """The hosts that are to be preferred to this one, the best first."""
        return self.hosts[: self._at] if self._settings.prefer_first_host else ()

    def go_to(self, host: Host) -> None:
        """Go on with a host, and then with the others."""
        self._at = self.hosts.index(host)
        self._left = self._others()
        self.is_round_over = False

    def _others(self) -> list[int]:
        count = len(self.hosts)
        if self._settings.prefer_first_host:
            return [number for number in range(count) if number != self._at]
        return [(self._at + step) % count for step in range(1, count)]

    def step(self, lasted_s: float | None = None) -> float:
        """Go on to the next host; return the seconds to wait before it is tried.

        `lasted_s` is how long the connection was open that was lost; None is an attempt that failed.
        """
        if lasted_s is not None and lasted_s >= STABLE_S:
            self._left = self._others()
        self.is_round_over = not self._left
        if self._left:
            self._at = self._left.pop(0)
            return 0.0 if lasted_s is None else random.uniform(0.0, SPREAD_S)
        self._at = 0 if self._settings.prefer_first_host else (self._at + 1) % len(self.hosts)
        self._left = self._others()
        return self._pause_s()

    def _pause_s(self) -> float:
        settings = self._settings
        if self._delay_s is None:
            self._delay_s = settings.connection_retry_interval
        delay_s = min(self._delay_s, settings.connection_retry_interval_max)
        self._delay_s = min(delay_s * settings.connection_retry_backoff, settings.connection_retry_interval_max)
        # Clients that lost the same host must not all come back in the same moment.
        return delay_s * random.uniform(0.5, 1.0)

    def succeeded(self) -> None:
        """Begin with the shortest delay again."""
        self._delay_s = None


class Dialing:
    """One attempt at a host: its addresses one after another. Only the resolution of its name blocks."""

    def __init__(self, host: Host) -> None:
        self._addresses = socket.getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM)
        self._fault = OSError(errno.EHOSTUNREACH, f"{host.name} has no address")
        self.sock: socket.socket | None = None

    def begin(self) -> None:
        """Try the next address; OSError with the last error if there is none."""
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
        """Return whether the present address has answered; OSError if no other is left."""
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
