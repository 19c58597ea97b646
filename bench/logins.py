"""Logins: how soon many clients that were all cut off are back, each by an exchange of SASL."""

import argparse
import asyncio
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import uvloop

from bench.report import Row
from bench.router import allow_many_files
from bench.router_process import RouterProcess
from routerd.config import editing
from routerd.wire import Connection, ConnectionConfig, Error, Handler, Open
from routerd.wire.sasl import AnonymousClient, ClientMechanismFactory, PlainClient, SaslClient, ScramClient

CLIENTS = 2000
BACK_WITHIN_S = 10.0
ATTEMPTS_AT_ONCE = 200
"""Connections that are begun ahead of the answers of others: more would only wait in the kernel."""
GIVE_UP_S = 60.0
USER, PASSWORD = "bench", "a password that is neither short nor long"
CONFIGURATION = """\
router {
    mode: standalone
    id: Bench
}
listener {
    name: shared
    host: 127.0.0.1
    port: 0
}
log {
    module: DEFAULT
    enable: notice+
}
"""


class ClientsFailed(Exception):
    """Not all clients were let in; the message says how many were."""


class _Client(Handler, asyncio.Protocol):
    """One connection, opened by one exchange."""

    def __init__(self, number: int, mechanism: ClientMechanismFactory) -> None:
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._socket: asyncio.Transport | None = None
        self._connection = Connection(
            ConnectionConfig(container_id=f"client-{number}"),
            self,
            is_client=True,
            sasl=SaslClient([mechanism], hostname="localhost"),
        )
        self._connection.open()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._socket = cast(asyncio.Transport, transport)
        self._connection.start(0.0)
        self._write()

    def data_received(self, data: bytes) -> None:
        """Take what the router says."""
        self._connection.receive_data(data, 0.0)
        self._write()

    def connection_lost(self, exc: Exception | None) -> None:
        """The router has cut it."""
        if not self.opened.done():
            self.opened.set_exception(ClientsFailed("the router refused a client"))

    def on_opened(self, connection: Connection, performative: Open) -> None:
        """It is let in."""
        self.opened.set_result(None)

    def on_closed(self, connection: Connection, error: Error | None) -> None:
        """It was refused."""
        self.connection_lost(None)

    def leave(self) -> None:
        """Go without a word."""
        if self._socket is not None:
            self._socket.abort()

    def _write(self) -> None:
        octets = self._connection.data_to_send(0.0)
        if octets and self._socket is not None:
            self._socket.write(octets)


def scram() -> ClientMechanismFactory:
    """Return a client's SCRAM-SHA-256, which derives its keys for every connection."""
    return ScramClient("SCRAM-SHA-256", USER, PASSWORD, lambda: secrets.token_urlsafe(18))


CASES: dict[str, Callable[[], ClientMechanismFactory]] = {
    "scram": scram,
    "plain": lambda: PlainClient(USER, PASSWORD),
    "anonymous": AnonymousClient,
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench logins", description=__doc__)
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="how many there are [%(default)s]")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    with tempfile.TemporaryDirectory() as folder, allow_many_files():
        file = Path(folder, "users")
        with editing(str(file)) as users:
            users.put(USER, PASSWORD)
        form = ("--in-process", "--user-file", str(file))
        with RouterProcess(*form, configuration=CONFIGURATION) as router:
            return [_row(router, case, options.clients) for case in options.case or CASES]


def _row(router: RouterProcess, case: str, clients: int) -> Row:
    host, _, port = router.place.rpartition(":")
    seconds = uvloop.run(back_after_s(host, int(port), clients, CASES[case]))
    return Row(f"{clients} clients are back, {case}", seconds, "s", BACK_WITHIN_S, at_most=True)


async def back_after_s(host: str, port: int, count: int, mechanism: Callable[[], ClientMechanismFactory]) -> float:
    """Connect `count` clients, cut them all off, and return how long it takes until all are connected again."""
    clients = await _connect(host, port, count, mechanism)
    for client in clients:
        client.leave()
    begun = time.monotonic()
    clients = await _connect(host, port, count, mechanism)
    seconds = time.monotonic() - begun
    for client in clients:
        client.leave()
    return seconds


async def _connect(host: str, port: int, count: int, mechanism: Callable[[], ClientMechanismFactory]) -> list[_Client]:
    ahead = asyncio.Semaphore(ATTEMPTS_AT_ONCE)
    loop = asyncio.get_running_loop()

    async def connect(number: int) -> _Client:
        async with ahead:
            _, client = await loop.create_connection(lambda: _Client(number, mechanism()), host, port)
            await client.opened
            return client

    attempts: list[Any] = [connect(number) for number in range(count)]
    async with asyncio.timeout(GIVE_UP_S):
        clients: list[_Client] = await asyncio.gather(*attempts)
        return clients
