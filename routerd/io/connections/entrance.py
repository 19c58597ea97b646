"""Accepts sockets up to the limit of policy, over all workers of the router (10.1)."""

import asyncio
from collections.abc import Callable
from typing import cast

from routerd.core import Gate, host_of
from routerd.io.logs import module_log
from routerd.io.sockets import Transport, peer_name

Make = Callable[[], Transport]
"""Makes the connection of a socket that may stay."""

_policy = module_log("POLICY")


class Entrance:
    """Decides about the accepted sockets of a worker."""

    def __init__(self, gate: Gate, ask: Callable[[], None]) -> None:
        """`ask` makes the worker ask the ledger at the end of the turn."""
        self._gate = gate
        self._ask = ask

    def protocol(self, make: Make) -> asyncio.BaseProtocol:
        """Return the protocol for a socket that was just accepted."""
        held = _Held(make, self._gate)
        may_stay = self._gate.accept(held.resume)
        if may_stay is None:
            self._ask()
            return held
        return make() if may_stay else _Refused(self._gate)


class _Refused(asyncio.Protocol):
    """Ends a socket without an octet."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        _refuse(transport, self._gate)


class _Held(asyncio.Protocol):
    """Holds a socket, and the octets read from it, until it is known whether it may stay."""

    def __init__(self, make: Make, gate: Gate) -> None:
        self._make = make
        self._gate = gate
        self._socket: asyncio.Transport | None = None
        self.is_over = False
        self._may_stay: bool | None = None
        self._octets = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the decision, unless it is there."""
        self._socket = cast(asyncio.Transport, transport)
        if self._may_stay is not None:
            self._go_on(self._socket, self._may_stay)

    def data_received(self, data: bytes) -> None:
        """Keep the octets, and stop reading."""
        self._octets += data
        if self._socket is not None:
            self._socket.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The peer has left."""
        self.is_over = True
        if self._may_stay:
            self._gate.socket_closed()

    def resume(self, may_stay: bool) -> None:
        """Continue with the socket, or end it."""
        self._may_stay = may_stay
        if self.is_over:
            if may_stay:
                self._gate.socket_closed()
        elif self._socket is not None:
            self._go_on(self._socket, may_stay)

    def _go_on(self, transport: asyncio.Transport, may_stay: bool) -> None:
        if not may_stay:
            _refuse(transport, self._gate)
            return
        connection = self._make()
        transport.set_protocol(connection)
        connection.connection_made(transport)
        octets = memoryview(self._octets)
        while octets and not connection.is_over:
            room = connection.get_buffer(len(octets))
            size = min(len(octets), len(room))
            room[:size] = octets[:size]
            connection.buffer_updated(size)
            octets = octets[size:]
        if self._octets and not connection.is_paused:
            transport.resume_reading()


def _refuse(transport: asyncio.BaseTransport, gate: Gate) -> None:
    _policy.info(
        "DENY Connection '%s' based on global connection count. nConnections= %d",
        host_of(peer_name(transport)),
        gate.account.sockets,
    )
    transport.close()
