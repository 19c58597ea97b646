"""A socket of asyncio around an endpoint: octets in, octets out, and one timer."""

import asyncio
from typing import cast

from mobula_client.errors import ConnectionFailed, PeerClosed
from mobula_client.links import Endpoint


class Transport(asyncio.Protocol):
    """Carries one connection.

    `ready` is done when the peer has opened, `over` when the connection is over, `gone` when the socket is closed too.
    """

    endpoint: Endpoint

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.ready: asyncio.Future[None] = loop.create_future()
        self.over: asyncio.Future[ConnectionFailed | None] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_flush_due = False

    # --- for the client

    def flush_soon(self) -> None:
        """Write what there is in this turn of the loop, all of it together."""
        if not self._is_flush_due:
            self._is_flush_due = True
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Close in order."""
        self.endpoint.close()
        self.flush_soon()

    async def abort(self) -> None:
        """Cut the connection, and wait until the socket is closed."""
        if self._transport is not None:
            self._transport.abort()
            await asyncio.shield(self.gone)

    # --- asyncio's events

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.endpoint.start(self._loop.time())
        self.flush_soon()

    def data_received(self, data: bytes) -> None:
        self.endpoint.receive(data, self._loop.time())
        self._flush()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self.endpoint.transport_closed(str(error) if error is not None else "the peer closed the socket")
        self._stop_timer()
        if not self.gone.done():
            self.gone.set_result(None)

    def pause_writing(self) -> None:
        self.endpoint.set_blocked(True)

    def resume_writing(self) -> None:
        self.endpoint.set_blocked(False)
        self.flush_soon()

    # --- the endpoint's

    def on_output(self) -> None:
        self.flush_soon()

    def on_ready(self) -> None:
        if not self.ready.done():
            self.ready.set_result(None)

    def on_over(self, reason: ConnectionFailed | None) -> None:
        if not self.ready.done():
            self.ready.set_exception(reason or PeerClosed("amqp:connection:forced", "it was closed before it opened"))
        if not self.over.done():
            self.over.set_result(reason)

    # --- inside

    def _flush(self) -> None:
        self._is_flush_due = False
        transport = self._transport
        if transport is None:
            return
        octets = self.endpoint.take_output(self._loop.time())
        if octets and not transport.is_closing():
            transport.write(bytes(octets))
        if self.endpoint.is_over:
            self._stop_timer()
            transport.close()
        else:
            self._set_timer()

    def _set_timer(self) -> None:
        deadline = self.endpoint.next_deadline()
        if self._timer is not None:
            if self._timer.when() == deadline:
                return
            self._timer.cancel()
            self._timer = None
        if deadline != float("inf"):
            self._timer = self._loop.call_at(deadline, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.endpoint.tick(self._loop.time())
        self._flush()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


