"""The routers that tests of a system use, and what these logged when a test fails."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.system.management_client import ManagementClient
from tests.system.mesh import Mesh, Span
from tests.system.proton_client import ProtonClient
from tests.system.routers import (
    FORMS,
    IN_PROCESS,
    Form,
    RayHead,
    RunningRouter,
    address_section,
    configuration,
    section,
)

EVERYTHING = configuration(
    address_section("prefix", "multicast", "multicast"),
    address_section("prefix", "closest", "closest"),
    address_section("prefix", "balanced", "balanced"),
    address_section("prefix", "closed", "unavailable"),
    address_section("pattern", "pattern.*.all", "multicast"),
    address_section("pattern", "pattern/none/#", "unavailable"),
    section("address", prefix="spare", enableFallback="yes"),
    section("binding", exchangeName="e", bindingKey="a/+", nextHopAddress="exchanged.one"),
    section("exchange", name="e", address="exchanged", matchMethod="mqtt"),
)
"""For all tests that have no wishes of their own; each uses addresses of its own."""

LOG_MAX = 4_000
Start = Callable[..., RunningRouter]
Connect = Callable[..., ProtonClient]
Manage = Callable[..., ManagementClient]

_logs: dict[RunningRouter, int] = {}
"""Routers that run, and how much of their logs has been reported or was of no interest."""


@contextmanager
def running(form: Form, folder: Path, text: str, *arguments: str) -> Iterator[RunningRouter]:
    """Start a router, and see to its end."""
    router = RunningRouter(folder, form, text, *arguments)
    _logs[router] = 0
    try:
        yield router
    finally:
        del _logs[router]
        router.close()


@pytest.fixture(scope="session", params=FORMS, ids=[form.name for form in FORMS])
def form(request: pytest.FixtureRequest) -> Form:
    """The form of a router: in one process, and as several actors, between which messages have to pass."""
    found: Form = request.param
    return found


def in_forms(*forms: Form) -> pytest.MarkDecorator:
    """Have a test run with routers of these forms and no others."""
    return pytest.mark.parametrize("form", forms, indirect=True, ids=[form.name for form in forms], scope="session")


in_process = in_forms(IN_PROCESS)
"""For what does not depend on the form: nothing of it passes between actors."""


@pytest.fixture(scope="session")
def router(form: Form, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router that all tests share."""
    with running(form, tmp_path_factory.mktemp("router"), EVERYTHING) as router:
        yield router


@pytest.fixture(scope="session")
def ray_head() -> Iterator[RayHead]:
    """A Ray that routers of their own join, which takes less time than a Ray of their own."""
    head = RayHead()
    yield head
    head.close()


@pytest.fixture(scope="session")
def place(form: Form, request: pytest.FixtureRequest) -> tuple[str, ...]:
    """What the command line says of where a router of its own runs."""
    return ("--address", request.getfixturevalue("ray_head").address) if form.actors else ()


@pytest.fixture
def start(form: Form, place: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a router of its own for a test: its configuration, and more arguments."""
    with ExitStack() as at_exit:

        def start_one(text: str, *arguments: str) -> RunningRouter:
            return at_exit.enter_context(running(form, tmp_path_factory.mktemp("router"), text, *place, *arguments))

        yield start_one


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


@pytest.fixture
def manage_at() -> Iterator[Manage]:
    """Connect to the management at a port."""
    clients: list[ManagementClient] = []

    def connect_one(port: int, address: str = "$management") -> ManagementClient:
        clients.append(ManagementClient(port, address))
        return clients[-1]

    yield connect_one
    for client in clients:
        client.close()


@pytest.fixture
def manage(router: RunningRouter, manage_at: Manage) -> ManagementClient:
    """The management of the router that all tests share."""
    return manage_at(router.port)


@contextmanager
def meshing(form: Form, request: pytest.FixtureRequest, **options: Any) -> Iterator[Mesh]:
    """Let routers be started that are joined, and see to their end."""
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    where = ("--address", request.getfixturevalue("ray_head").address) if form.actors else ()
    mesh = Mesh(form, lambda text: running(form, factory.mktemp("router"), text, *where), **options)
    try:
        yield mesh
    finally:
        mesh.close()


@contextmanager
def joined_in_a_line(form: Form, request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """Start the routers A, B and C, each joined with the one before."""
    with meshing(form, request) as mesh:
        mesh.add("A")
        mesh.add("B", "A")
        mesh.add("C", "B")
        mesh.wait_joined()
        yield mesh


@pytest.fixture(scope="session")
def shared_line(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """The line of routers, in one process each, that all tests share."""
    with joined_in_a_line(IN_PROCESS, request) as mesh:
        yield mesh


@pytest.fixture
def line(shared_line: Mesh) -> Iterator[Mesh]:
    """The routers A, B and C, joined in a line; clients of the test are closed after it."""
    yield shared_line
    shared_line.close_clients()


@pytest.fixture
def span(line: Mesh) -> Span:
    """Two routers of a network with another between."""
    return Span(line, "A", "C")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]"):  # type: ignore[no-untyped-def]
    """Put what routers have logged since the last report beside the failure."""
    report = yield
    for router, seen in _logs.items():
        log = router.log()
        if report.failed:
            report.sections.append((f"log of the router, {router.form.name}", log[seen:][-LOG_MAX:]))
        if report.when == "teardown":
            _logs[router] = len(log)
    return report
