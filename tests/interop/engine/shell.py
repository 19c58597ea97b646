"""A socket around one connection of the engine: octets and time in, octets out, until the connection is over."""

import contextlib
import select
import socket
import time
from typing import Protocol

from routerd.wire import Connection

READ_SIZE = 1 << 16
LINGER_S = 5.0


class DeadlineMissed(Exception):
    """The connection was not over in time."""


class Player(Protocol):
    """What is done on the connection besides answering its events."""

    def attend(self, now: float, is_flushed: bool) -> float:
        """Do what is due; return when to be asked again. `is_flushed` says that all output has left."""

    def on_transport_lost(self) -> None:
        """The other end closed the socket before the connection was closed."""


class Shell:
    """Runs a connection over a connected socket."""

    def __init__(self, connection: Connection, player: Player, sock: socket.socket) -> None:
        self.connection, self.player, self.sock = connection, player, sock
        self.output = bytearray()
        self.is_readable = True
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def run(self, deadline: float) -> None:
        """Return when the connection is over and all output has left."""
        connection = self.connection
        connection.start(time.monotonic())
        while not connection.is_finished:
            now = time.monotonic()
            if now > deadline:
                raise DeadlineMissed
            connection.tick(now)
            self.send(now)
            again_at = self.player.attend(now, not self.output)
            if connection.is_awake:
                continue
            wake_at = min(again_at, connection.next_deadline(), deadline)
            self.wait(max(0.0, wake_at - time.monotonic()))
        self.finish(deadline)

    def send(self, now: float) -> None:
        self.output += self.connection.data_to_send(now)
        if not self.output:
            return
        try:
            del self.output[: self.sock.send(self.output)]
        except BlockingIOError:
            return
        except OSError:
            # What the other end sent before it went is still to be read.
            self.output.clear()

    def wait(self, timeout: float) -> None:
        readable, _, _ = select.select([self.sock], [self.sock] if self.output else [], [], timeout)
        if not readable:
            return
        octets = self.receive()
        if octets:
            self.connection.receive_data(octets, time.monotonic())
        elif not self.connection.is_finished:
            self.player.on_transport_lost()
            self.connection.transport_closed()

    def receive(self) -> bytes:
        try:
            return self.sock.recv(READ_SIZE)
        except OSError:
            return b""

    def finish(self, deadline: float) -> None:
        """Write what is left and wait for the other end to close, so that nothing is lost on its way there."""
        self.send(time.monotonic())
        deadline = min(deadline, time.monotonic() + LINGER_S)
        with contextlib.suppress(OSError):
            while self.output and time.monotonic() < deadline:
                select.select([], [self.sock], [], 0.1)
                self.send(time.monotonic())
            self.sock.shutdown(socket.SHUT_WR)
            self.sock.settimeout(max(0.1, deadline - time.monotonic()))
            while self.sock.recv(READ_SIZE):
                pass
