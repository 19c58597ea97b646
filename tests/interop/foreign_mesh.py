"""Routers under test for foreign ones to join, and their clients."""

import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.interop.foreign_router import ForeignRouter
from tests.system.routers import IN_PROCESS, RunningRouter, address_section, listener, section

PATIENCE_S = 100
"""For how long foreign routers count as neighbours after a HELLO: they send no more than the tests do."""

Join = Callable[..., ForeignRouter]

_numbers = count(1)


@contextmanager
def running_router(
    router_id: str, *connectors: str, sections: Iterable[str] = (), is_taciturn: bool = False
) -> Iterator[RunningRouter]:
    """Start a router with listeners for clients and for routers; a taciturn one says nothing again and again."""
    intervals = {"helloIntervalSeconds": PATIENCE_S - 1, "raIntervalFluxSeconds": PATIENCE_S} if is_taciturn else {}
    text = "\n".join(
        [
            section("router", mode="interior", id=router_id, helloMaxAgeSeconds=PATIENCE_S, **intervals),
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
def joining(router: RunningRouter) -> Iterator[Join]:
    """Have foreign routers join a router, each with an id of its own, and leave in the end."""
    with ExitStack() as at_exit:

        def join(kind: type[ForeignRouter] = ForeignRouter, **options: Any) -> ForeignRouter:
            foreign = at_exit.enter_context(kind.to(router.port_of("routers"), f"B{next(_numbers)}"))
            return foreign.join(**options)

        yield join


@contextmanager
def listening() -> Iterator[socket.socket]:
    """Listen for a router that connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def connector_to(server: socket.socket, **attributes: object) -> str:
    """Return the section of a connector to where a foreign router listens."""
    plain = {"name": "foreign", "role": "inter-router", "host": "127.0.0.1", "port": server.getsockname()[1]}
    return section("connector", **plain | attributes)
