"""A scripted peer with exactly-once delivery at a port, for clients with sockets."""

import asyncio
from typing import Self

from client.tests.topic import Topic, TopicPeer


class TopicServer:
    """Listens at a port; several may share a topic, as routers of one network do."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self._transports: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Protocol(self), "127.0.0.1", 0)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None, "it was started"
        self._server.close()
        self.cut()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None, "it was started"
        return f"amqp://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Cut all connections."""
        for transport in list(self._transports):
            transport.abort()

    def flush_all(self) -> None:
        """Write what any connection has for its client: a message of one leads to output of others."""
        for transport in list(self._transports):
            protocol = transport.get_protocol()
            assert isinstance(protocol, _Protocol)
            protocol.flush()


class _Protocol(asyncio.Protocol):
    def __init__(self, server: TopicServer) -> None:
        self._server = server
        self._peer = TopicPeer(server.topic)
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server._transports.add(transport)
        self._peer.connection.start(self._loop.time())

    def data_received(self, data: bytes) -> None:
        self._peer.connection.receive_data(data, self._loop.time())
        self._server.flush_all()

    def connection_lost(self, error: Exception | None) -> None:
        if self._transport is not None:
            self._server._transports.discard(self._transport)
        self._peer.connection.transport_closed()
        self._server.flush_all()

    def flush(self) -> None:
        """Write what there is."""
        octets = bytes(self._peer.connection.data_to_send(self._loop.time()))
        if octets and self._transport is not None:
            self._transport.write(octets)
        if self._peer.connection.is_finished and self._transport is not None:
            self._transport.close()
