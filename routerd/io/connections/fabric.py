"""A worker's connections to its siblings: Unix sockets on its node, TLS over TCP to other nodes.

The folder of the sockets is closed to other users. A port is open to everybody who reaches the node. So TLS requires a
certificate of this router's authority, and SASL requires its token. Only workers away from the launcher's node have a
port: of two nodes, one at least is away. All this is settled before the router hears of a sibling. From then on, a
fabric connection is a connection like any other.

A worker that connects to a sibling that has not heard of it would be refused. Messages would not reach consumers at the
other worker until it tries again. So a worker accepts nobody before the table has named the siblings, though the socket
is there. It connects to nobody before the table has confirmed that all siblings know of it.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable

from routerd.core import FABRIC, Sibling
from routerd.io.connections.configs import FABRIC_IDLE_S, fabric_config
from routerd.io.connections.fabric_endpoint import FabricEndpoint
from routerd.io.connections.stacks import StackHost
from routerd.io.logs import module_log
from routerd.io.scheduling import PeerTimer, all_is_read
from routerd.io.settings import FabricTls, WorkerConfig
from routerd.io.sockets import FilteredTransport, ListenFailed, Transport, bind, endpoints_of
from routerd.io.tls import TlsFilter
from routerd.wire import Connection

RECONNECT_S = 0.1
FAR_RECONNECT_S = 0.5
OPEN_S = 1.0
"""The time for a sibling to answer the open of a connection; a second connection beside it would confuse both."""
FAR_OPEN_S = 5.0
"""The same on another node, with the TLS handshake; and the time for siblings there to connect to us."""
ANSWER_S = 10.0
"""The time for a connecting peer to authenticate."""
BACKLOG = 128

_log = module_log("SERVER")


class Fabric:
    """The fabric of one worker; in its loop."""

    def __init__(
        self, host: StackHost, config: WorkerConfig, loop: asyncio.AbstractEventLoop, turn_ends: Callable[[], None]
    ) -> None:
        self._host = host
        self._turn_ends = turn_ends
        self._router = host.turn.router
        self._config = config
        self._loop = loop
        keys = config.fabric_keys
        self._tls = FabricTls(keys) if keys is not None and keys.authority else None
        self._bound: list[tuple[socket.socket, Callable[[], Transport]]] = []
        """Sockets that accept nobody yet."""
        self._servers: list[asyncio.Server] = []
        self._is_known = False
        self._starting: set[asyncio.Task[None]] = set()
        self._connecting: dict[int, asyncio.Task[None]] = {}
        self._awaited: dict[int, Sibling] = {}
        """Siblings on other nodes that have to connect to us."""
        self.endpoint = FabricEndpoint(config.node.id, config.fabric_path)

    def listen(self) -> None:
        """Listen for siblings, who wait until the table has named them; raises ListenFailed."""
        if not self.endpoint.path:
            return
        near = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._bound.append((near, self._accept_near))
        near.bind(self.endpoint.path)
        near.listen(BACKLOG)
        node = self._config.node
        if not node.is_away or self._tls is None:
            return
        try:
            (place,) = endpoints_of(node.address, 0)
            far = bind(place, shared=False)
        except (OSError, ValueError) as error:
            near.close()
            raise ListenFailed("fabric", node.address, 0, str(error)) from error
        self._bound.append((far, self._accept_far))
        far.listen(BACKLOG)
        port = far.getsockname()[1]
        self.endpoint = FabricEndpoint(node.id, self.endpoint.path, node.address, port)
        _log.info("Siblings on other nodes reach worker %d at %s:%d", self._config.index, node.address, port)

    def heard(self) -> None:
        """Continue after the table has named the siblings."""
        bound, self._bound = self._bound, []
        for one, accept in bound:
            self._starting.add(task := self._loop.create_task(self._accept_at(one, accept)))
            task.add_done_callback(self._starting.discard)
        self._look()

    def connect(self) -> None:
        """Connect from now on: the table has confirmed that all siblings know of this worker."""
        if not self._is_known:
            self._is_known = True
            self._look()

    def _look(self) -> None:
        """Check that there is a connection to each sibling."""
        if not self._is_known:
            return
        for worker, neighbour in self._router.directory.neighbours.items():
            if neighbour.peer is not None:
                continue
            if self._connects_to(neighbour.sibling):
                if worker not in self._connecting:
                    self._connecting[worker] = self._loop.create_task(self._keep(worker))
            elif not self._is_near(neighbour.sibling) and self._awaited.get(worker) != neighbour.sibling:
                self._awaited[worker] = neighbour.sibling
                PeerTimer(self._loop, FAR_OPEN_S, self._give_up_waiting, neighbour.sibling)

    def leave(self) -> None:
        """End everything."""
        for one, _ in self._bound:
            one.close()
        for server in self._servers:
            server.close()
        for task in (*self._connecting.values(), *self._starting):
            task.cancel()
        if self.endpoint.path:
            with contextlib.suppress(OSError):
                os.unlink(self.endpoint.path)

    async def _accept_at(self, bound: socket.socket, accept: Callable[[], Transport]) -> None:
        bound.setblocking(False)
        if bound.family == socket.AF_UNIX:
            server = await self._loop.create_unix_server(accept, sock=bound, backlog=BACKLOG)
        else:
            server = await self._loop.create_server(accept, sock=bound, backlog=BACKLOG)
        self._servers.append(server)

    # --- connecting

    def _is_near(self, sibling: Sibling) -> bool:
        return self.endpoint.is_near(FabricEndpoint.of(sibling.endpoint))

    def _connects_to(self, sibling: Sibling) -> bool:
        other = FabricEndpoint.of(sibling.endpoint)
        return self.endpoint.connects_to(other, is_higher=self._config.index > sibling.worker)

    async def _keep(self, worker: int) -> None:
        """Keep a connection to a sibling while the table names it and this worker has to connect."""
        transport: Transport | None = None
        sibling: Sibling | None = None
        late_at = 0.0
        try:
            while (neighbour := self._router.directory.neighbours.get(worker)) is not None:
                if not self._connects_to(neighbour.sibling):
                    # It is on another node now, and has to connect to us.
                    break
                now = time.monotonic()
                is_near = self._is_near(neighbour.sibling)
                is_late = sibling != neighbour.sibling or now > late_at
                if transport is not None and is_late and neighbour.peer is not transport.peer:
                    # The sibling is gone, or does not answer.
                    await all_is_read()
                    if neighbour.peer is not transport.peer:
                        transport.abort()
                        transport = None
                if neighbour.peer is None and (transport is None or transport.is_over):
                    sibling = neighbour.sibling
                    late_at = now + (OPEN_S if is_near else FAR_OPEN_S)
                    transport = await self._connected_to(sibling)
                await asyncio.sleep(RECONNECT_S if is_near else FAR_RECONNECT_S)
        finally:
            if transport is not None:
                transport.abort()
            del self._connecting[worker]
        self._look()

    async def _connected_to(self, sibling: Sibling) -> Transport | None:
        endpoint = FabricEndpoint.of(sibling.endpoint)
        try:
            async with asyncio.timeout(FAR_OPEN_S):
                if self.endpoint.is_near(endpoint):
                    _, transport = await self._loop.create_unix_connection(self._to_near, endpoint.path)
                else:
                    _, transport = await self._loop.create_connection(
                        lambda: self._to_far(sibling.worker), endpoint.host, endpoint.port
                    )
        except (OSError, TimeoutError) as error:
            _log.debug("Worker %d cannot be reached: %s", sibling.worker, error)
            self._fail(sibling.worker)
            return None
        return transport

    def _give_up_waiting(self, sibling: Sibling) -> None:
        neighbour = self._router.directory.neighbours.get(sibling.worker)
        if neighbour is not None and neighbour.sibling == sibling and neighbour.peer is None:
            _log.warning("Worker %d, on another node, has not connected in %g s", sibling.worker, FAR_OPEN_S)
            self._fail(sibling.worker)

    def _fail(self, worker: int) -> None:
        self._host.turn.begin()
        self._router.siblings.connect_failed(worker)
        self._turn_ends()

    # --- transports

    def _to_near(self) -> Transport:
        peer = self._router.connections.new_peer(FABRIC)
        return self._opened(Transport(self._host, peer, self._connection(is_client=True)))

    def _to_far(self, worker: int) -> Transport:
        tls = self._tls
        assert tls is not None, "it has keys who knows a far endpoint"
        connection = self._connection(is_client=True, idle_timeout_s=FABRIC_IDLE_S)
        peer = self._router.connections.new_peer(FABRIC)
        filters = [TlsFilter(self._host.handshakes, lambda: tls.connect(worker), is_client=True)]
        return self._opened(FilteredTransport(self._host, peer, connection, filters))

    def _opened(self, transport: Transport) -> Transport:
        transport.connection.open()
        return transport

    def _accept_near(self) -> Transport:
        connection = self._connection(is_client=False)
        return self._checked(Transport(self._host, self._router.connections.new_peer(FABRIC), connection))

    def _accept_far(self) -> Transport:
        tls = self._tls
        assert tls is not None, "there is a port"
        connection = self._connection(is_client=False, idle_timeout_s=FABRIC_IDLE_S)
        filters = [TlsFilter(self._host.handshakes, tls.accept, is_client=False)]
        peer = self._router.connections.new_peer(FABRIC)
        return self._checked(FilteredTransport(self._host, peer, connection, filters))

    def _checked(self, transport: Transport) -> Transport:
        transport.expect_open(ANSWER_S)
        return transport

    def _connection(self, *, is_client: bool, idle_timeout_s: float = 0.0) -> Connection:
        keys = self._config.fabric_keys
        sasl = None if keys is None else keys.client() if is_client else keys.server()
        config = fabric_config(self._config, idle_timeout_s)
        return Connection(config, self._router, is_client=is_client, sasl=sasl)
