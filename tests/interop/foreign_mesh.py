"""Routers under test for foreign ones to join, and their clients."""

import socket
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.system.routers import IN_PROCESS, RunningRouter, address_section, listener, section

PATIENCE_S = 100
"""For how long foreign routers count as neighbours after a HELLO: only a test that wants to is in a hurry."""


@contextmanager
def running_router(router_id: str, *connectors: str, sections: Iterable[str] = ()) -> Iterator[RunningRouter]:
    """Start a router with listeners for clients and for routers."""
    text = "\n".join(
        [
            section("router", mode="interior", id=router_id, helloMaxAgeSeconds=PATIENCE_S),
            section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
            listener("clients"),
            listener("routers", role="inter-router"),
            *connectors,
            *(address_section("prefix", kind, kind) for kind in ("multicast", "closest", "balanced")),
            *sections,
            "",
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        router = RunningRouter(Path(folder), IN_PROCESS, text)
        try:
            yield router
        finally:
            router.close()


@contextmanager
def listening() -> Iterator[socket.socket]:
    """Listen for a router that connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def connector_to(server: socket.socket, **attributes: object) -> str:
    """Return the section of a connector to where a foreign router listens."""
    plain = {"name": "foreign", "role": "inter-router", "host": "127.0.0.1", "port": server.getsockname()[1]}
    return section("connector", **plain | attributes)
