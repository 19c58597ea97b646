"""The way back to a host that stands earlier in the transport URL, when it can be connected to again.

A host that accepts sockets may still be hung, so a trial opens an AMQP connection there, in another thread. Once that
has succeeded, the connection moves as soon as it is at rest. At rest means that no call waits for its reply, no message
for its outcome and no request for its acknowledgement. No request may have come for a second, either. Servers keep
their credit until then. Without credit, a router would hold requests for them. It would give these back when the
servers leave.
"""

import contextlib
import logging
import random
import socket
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import proton

from .connection import READ_BYTES, Connection
from .engine import Engine
from .errors import InvalidOption
from .identity import container_name
from .settings import Settings
from .timers import Timer
from .url import Host

_log = logging.getLogger(__name__)

TRIAL_LIMIT_S = 10.0
"""How long a trial at one host may take."""
REST_EVERY_S = 0.1
"""The interval of checks whether the connection is at rest."""
REST_LIMIT_S = 10.0
"""How long it may take to be at rest; after that a trial is too old to rely on."""
QUIET_S = 1.0
"""How long no request may have come: the next one could be on its way when the connection is closed."""


class Bus(Protocol):
    """The owner of the connection's links."""

    @property
    def received_count(self) -> int:
        """How many requests and notifications have come."""

    def is_at_rest(self) -> bool:
        """Return whether no message is being sent, no reply is awaited, and all incoming messages are settled."""


class FailBack:
    """Everything here but the trial is called with the lock of the connection held."""

    def __init__(self, connection: Connection, bus: Bus, settings: Settings) -> None:
        self._connection = connection
        self._bus = bus
        self._settings = settings
        self._interval_s = settings.fail_back_interval
        self._timer: Timer | None = None
        self._visit = 0

    def connected(self) -> None:
        """There is a connection: look for a better host from time to time, if there is one."""
        self._visit += 1
        if self._interval_s > 0 and self._connection.better_hosts:
            self._look_later()

    def disconnected(self) -> None:
        """The connection was lost."""
        self._visit += 1
        if self._timer is not None:
            self._timer.cancel()

    def _look_later(self) -> None:
        # Clients that lost a host at the same moment must not all come back in one.
        self._timer = self._connection.later(self._interval_s * random.uniform(0.5, 1.0), self._look)

    def _look(self) -> None:
        hosts, visit = self._connection.better_hosts, self._visit
        threading.Thread(target=self._try, args=(hosts, visit), name="oslo-amqp1-trial", daemon=True).start()

    def _try(self, hosts: Sequence[Host], visit: int) -> None:
        found = next((host for host in hosts if self._is_opened_by(host)), None)
        self._connection.submit(lambda: self._tried(found, visit))

    def _is_opened_by(self, host: Host) -> bool:
        try:
            properties = self._connection.properties(host)
            # Its own name: peers may take a second container of the same name for the first.
            return Trial(container_name(self._settings) + "/trial", properties).succeeds(host)
        except (OSError, UnicodeError, InvalidOption, proton.ProtonException) as error:
            _log.debug("%s cannot be connected to again yet: %s", host, error)
            return False

    def _tried(self, host: Host | None, visit: int) -> None:
        if visit != self._visit:
            return
        if host is None:
            self._look_later()
        else:
            now_s = time.monotonic()
            self._await_rest(host, now_s + REST_LIMIT_S, self._bus.received_count, now_s)

    def _await_rest(self, host: Host, until_s: float, received_count: int, quiet_since_s: float) -> None:
        now_s = time.monotonic()
        if self._bus.received_count != received_count:
            received_count, quiet_since_s = self._bus.received_count, now_s
        if now_s - quiet_since_s >= QUIET_S and self._bus.is_at_rest():
            self._connection.move_to(host)
        elif now_s < until_s:
            again = partial(self._await_rest, host, until_s, received_count, quiet_since_s)
            self._timer = self._connection.later(REST_EVERY_S, again)
        else:
            self._look()


class Trial:
    """Opens a connection, and closes it."""

    def __init__(self, name: str, properties: dict[str, Any]) -> None:
        self._engine = Engine(name, properties, self)
        self._is_opened: bool | None = None

    def opened(self, product: str | None) -> None:
        """Called by the engine."""
        self._is_opened = True

    def failed(self, reason: str) -> None:
        """Called by the engine."""
        self._is_opened = bool(self._is_opened)

    def succeeds(self, host: Host) -> bool:
        """Return whether a host opens the connection in time."""
        until_s = time.monotonic() + TRIAL_LIMIT_S
        try:
            with socket.create_connection((host.name, host.port), TRIAL_LIMIT_S) as sock:
                self._engine.open()
                while self._is_opened is None and time.monotonic() < until_s:
                    self._write(sock)
                    self._engine.feed(sock.recv(READ_BYTES))
                with contextlib.suppress(OSError):
                    self._engine.close()
                    self._write(sock)
        finally:
            self._engine.destroy()
        return bool(self._is_opened)

    def _write(self, sock: socket.socket) -> None:
        while data := self._engine.output():
            sock.sendall(data)
            self._engine.written(len(data))
        self._engine.act()
