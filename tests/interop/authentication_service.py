"""An authentication service in a thread of its own: an AMQP server whose open says who has just logged in."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from routerd.io.auth.users import nonce
from routerd.wire import Connection, ConnectionConfig, Handler, Open, Symbol
from routerd.wire.sasl import (
    AnonymousServer,
    PlainServer,
    SaslServer,
    ScramCredentials,
    ScramDecoys,
    ScramServer,
)

SALT = b"0123456789abcdef"
DECOYS = ScramDecoys(b"k" * 32)


def mechanisms(users: Mapping[str, str]) -> list[Any]:
    """Return what a service offers that has these users."""
    stored = {
        name: ScramCredentials.derive("SCRAM-SHA-256", password, salt=SALT) for name, password in users.items()
    }
    return [
        ScramServer("SCRAM-SHA-256", stored.get, DECOYS, nonce, proof_in_outcome=False),
        PlainServer(lambda name, password: users.get(name) == password),
        AnonymousServer(),
    ]


class _Served(Handler, asyncio.Protocol):
    def __init__(self, service: "AuthenticationService") -> None:
        self._service = service
        self._socket: Any = None
        self.connection = Connection(
            ConnectionConfig(container_id="service"), self, is_client=False, sasl=SaslServer(service.mechanisms)
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = transport
        self._service.connections += 1
        self.connection.start(0.0)

    def data_received(self, data: bytes) -> None:
        if self._service.is_silent:
            return
        self.connection.receive_data(data, 0.0)
        self._socket.write(bytes(self.connection.data_to_send(0.0)))
        if self.connection.is_finished:
            self._socket.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._service.ended += 1

    def on_authenticated(self, connection: Connection) -> None:
        sasl: Any = connection.sasl
        self._service.realms.append(sasl.hostname)

    def on_opened(self, connection: Connection, performative: Open) -> None:
        sasl: Any = connection.sasl
        self._service.opens.append(performative)
        properties = self._service.properties(sasl.identity)
        connection.open(
            replace(
                connection.config,
                properties={Symbol(key): value for key, value in properties.items()},
                offered_capabilities=self._service.capabilities,
            )
        )


class AuthenticationService:
    """Listens from its start to its end."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self.mechanisms = mechanisms(users)
        self.properties: Callable[[str], dict[str, Any]] = lambda name: {"authenticated-identity": {"sub": name}}
        """What its open says of who has logged in."""
        self.capabilities: tuple[str, ...] = ("ADDRESS-AUTHZ",)
        """What its open offers."""
        self.is_silent = False
        """Whether it accepts connections and says nothing."""
        self.connections = 0
        self.ended = 0
        self.realms: list[str | None] = []
        self.opens: list[Open] = []
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            self._loop.create_server(lambda: _Served(self), "127.0.0.1", 0)
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def close(self) -> None:
        """End, if that has not been done."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()
