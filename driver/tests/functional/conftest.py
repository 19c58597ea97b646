"""What the tests share: a router that all of them use with topics of their own, and why a test cannot be run here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.routers import why_no_router
from tests.functional.meshes import Mesh, OneRouter
from tests.functional.services import ENDINGS, new_topic


@pytest.fixture(scope="session")
def routers_can_start() -> None:
    """Skip, with the reason, where no router can be started."""
    if reason := why_no_router():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def url(routers_can_start: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a router that all tests share."""
    one = OneRouter(tmp_path_factory.mktemp("router"))
    yield one.url
    ENDINGS.wait()
    one.router.close()


@pytest.fixture
def own_router(routers_can_start: None, tmp_path: Path) -> Iterator[OneRouter]:
    """A router that a test may kill."""
    one = OneRouter(tmp_path)
    yield one
    ENDINGS.wait()
    one.router.close()


@pytest.fixture(scope="module")
def shared_mesh(routers_can_start: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Three joined routers."""
    made = Mesh(tmp_path_factory.mktemp("mesh"))
    try:
        made.start()
        yield made
        ENDINGS.wait()
    finally:
        made.close()


@pytest.fixture
def mesh(shared_mesh: Mesh) -> Iterator[Mesh]:
    """Three joined routers; those that a test has killed are started again behind it."""
    yield shared_mesh
    shared_mesh.mend()


@pytest.fixture
def topic() -> str:
    """A topic that nobody else uses."""
    return new_topic()
