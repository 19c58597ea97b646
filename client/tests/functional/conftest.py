"""A router that all tests of this folder share, each with addresses of its own."""

from collections.abc import Iterator

import pytest
from client.tests.routers import RunningRouter, started, url_of


@pytest.fixture(scope="session")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router that no test ends."""
    running = started(tmp_path_factory.mktemp("router"))
    yield running
    running.close()


@pytest.fixture(scope="session")
def url(router: RunningRouter) -> str:
    """The URL of the shared router."""
    return url_of(router)


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """An address that no other test uses."""
    return f"test.{request.node.name}".translate(str.maketrans("[]/ ", "....")).strip(".")
