"""Fixtures that start peers and routers, and end them whatever happens."""

from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from tests.interop.foreign_mesh import Join, joining, running_router
from tests.interop.peer_process import PeerProcess, absence, absence_of_sasl
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter


class StartPeer(Protocol):
    def __call__(self, kind: str, role: str, scenario: str, **options: Any) -> PeerProcess: ...


@pytest.fixture
def start_peer() -> Iterator[StartPeer]:
    """Start a peer with options (see peers/proton_peer.py), or skip the test when it is not installed."""
    running: list[PeerProcess] = []

    def start(kind: str, role: str, scenario: str, **options: Any) -> PeerProcess:
        mechanisms = [*options.get("mechanisms", []), *filter(None, [options.get("mechanism")])]
        for reason in (absence(kind), *(absence_of_sasl(kind, role, mechanism) for mechanism in mechanisms)):
            if reason:
                pytest.skip(reason)
        running.append(PeerProcess(kind, role, scenario, options))
        return running[-1]

    yield start
    for peer in running:
        peer.end()


@pytest.fixture(scope="module")
def router() -> Iterator[RunningRouter]:
    """A router that routers of others may join, for all tests of a module; some modules have another."""
    with running_router("A") as router:
        yield router


@pytest.fixture
def join(router: RunningRouter) -> Iterator[Join]:
    """Have a foreign router connect, with an id of its own."""
    with joining(router) as join:
        yield join


@pytest.fixture
def client(router: RunningRouter) -> Iterator[ProtonClient]:
    """A client of the router."""
    with ProtonClient(router.port) as client:
        yield client
