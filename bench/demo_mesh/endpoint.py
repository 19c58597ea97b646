"""A connection of the engine to a router, for one thread that has nothing else to do."""

import select
import socket
import time
from typing import Any

from routerd.wire import Connection, ConnectionConfig, Handler, Link, RemoteError, Source, Target

_READ_SIZE = 1 << 16
_CONNECT_S = 2.0


class ConnectionLost(Exception):
    """There is no connection, or no more."""


class Endpoint(Handler):
    """Connects, and begins a session; who builds on it attaches in `on_opened`."""

    def __init__(self, port: int, name: str) -> None:
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), _CONNECT_S)
        except OSError as error:
            raise ConnectionLost(str(error)) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._is_lost = False
        self._name = name
        self.connection = Connection(ConnectionConfig(container_id=name), self, is_client=True)
        self.connection.start(time.monotonic())
        self.connection.open()
        self.session = self.connection.session()
        self.session.begin()

    def sender(self, address: str | None) -> Any:
        """Return a new sender for an address, or one whose messages say where they go."""
        sender = self.session.sender(f"{self._name}-to-{address}")
        sender.attach(source=Source(), target=Target(address=address))
        return sender

    def receiver(self, source: Source, credit: int) -> Any:
        """Return a new receiver with credit."""
        receiver = self.session.receiver(f"{self._name}-from-{source.address}")
        receiver.attach(source=source, target=Target())
        receiver.grant(credit)
        return receiver

    def turn(self, timeout_s: float) -> None:
        """Send what there is to send, and take what comes within a time; ConnectionLost when that is over."""
        self._flush()
        readable, _, _ = select.select([self._socket], [], [], timeout_s)
        if readable:
            try:
                octets = self._socket.recv(_READ_SIZE)
            except OSError:
                octets = b""
            if not octets:
                self._lose()
            self.connection.receive_data(octets, time.monotonic())
        self.connection.tick(time.monotonic())
        self._flush()
        if self._is_lost or self.connection.is_finished:
            self._lose()

    def close(self) -> None:
        """Take leave."""
        if not self.connection.is_finished:
            self.connection.close()
            self._flush()
        self._socket.close()

    def abandon(self) -> None:
        """Close without a word."""
        self._socket.close()

    def on_violation(self, connection: Connection, error: RemoteError) -> None:
        """Give the connection up: it is not to be relied on."""
        self._is_lost = True

    def on_link_detached(self, link: Link, closed: bool, error: object) -> None:
        """A link that a router ends is attached again on another connection."""
        self._is_lost = True

    def _flush(self) -> None:
        octets = self.connection.data_to_send(time.monotonic())
        if octets:
            try:
                self._socket.sendall(octets)
            except OSError:
                self._lose()

    def _lose(self) -> None:
        self._is_lost = True
        raise ConnectionLost
