"""The routers that tests of a system use, and what these logged when a test fails."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.system.proton_client import ProtonClient
from tests.system.routers import FORMS, Form, RunningRouter, address_section, configuration

EVERYTHING = configuration(
    address_section("prefix", "multicast", "multicast"),
    address_section("prefix", "closest", "closest"),
    address_section("prefix", "balanced", "balanced"),
    address_section("prefix", "closed", "unavailable"),
    address_section("pattern", "pattern.*.all", "multicast"),
    address_section("pattern", "pattern.#", "closest"),
    address_section("pattern", "pattern/none/#", "unavailable"),
)
"""For all tests that have no wishes of their own; each uses addresses of its own."""

Start = Callable[..., RunningRouter]
Connect = Callable[..., ProtonClient]

_running: list[tuple[RunningRouter, list[int]]] = []


@pytest.fixture(scope="session", params=FORMS, ids=[form.name for form in FORMS])
def form(request: pytest.FixtureRequest) -> Form:
    """Every form of a router, one after another."""
    found: Form = request.param
    return found


@pytest.fixture(scope="session")
def router(form: Form, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router that all tests share."""
    router = RunningRouter(tmp_path_factory.mktemp(form.name), form, EVERYTHING)
    _running.append((router, [0]))
    yield router
    _running.remove(next(one for one in _running if one[0] is router))
    router.close()


@pytest.fixture
def start(form: Form, tmp_path: Path) -> Iterator[Start]:
    """Start a router of its own for a test: its configuration, and more arguments."""
    started: list[RunningRouter] = []

    def start_one(text: str, *arguments: str) -> RunningRouter:
        folder = tmp_path / f"router-{len(started)}"
        folder.mkdir()
        started.append(RunningRouter(folder, form, text, *arguments))
        _running.append((started[-1], [0]))
        return started[-1]

    yield start_one
    for one in started:
        _running.remove(next(entry for entry in _running if entry[0] is one))
        one.close()


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """An address that no other test uses."""
    return f"test.{request.node.name}".translate(str.maketrans("[]/ ", "...."))


@pytest.fixture
def connect_to() -> Iterator[Connect]:
    """Connect to the port that is given."""
    clients: list[ProtonClient] = []

    def connect_one(port: int, **options: Any) -> ProtonClient:
        clients.append(ProtonClient(port, **{"container_id": f"client-{len(clients)}"} | options))
        return clients[-1]

    yield connect_one
    for client in clients:
        client.close()


@pytest.fixture
def connect(router: RunningRouter, connect_to: Connect) -> Connect:
    """Connect to the router that all tests share."""
    return partial(connect_to, router.port)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]"):  # type: ignore[no-untyped-def]
    """Put what routers have logged since the last report beside the failure."""
    report = yield
    for router, seen in _running:
        log = router.log()
        if report.failed:
            report.sections.append((f"log of the router, {router.form.name}", log[seen[0] :][-20_000:]))
        if report.when == "teardown":
            seen[0] = len(log)
    return report
