"""Health of routers in each form: what load balancers and orchestrators ask is answered as it is."""

import http.client
import signal
from collections.abc import Iterator

import pytest

from tests.system.conftest import Start, in_forms
from tests.system.routers import FORMS, THREE_ACTORS, RunningRouter, configuration, listener
from tests.system.web_client import Browser, close_all
from tests.waiting import eventually

CONNECTIONS = 12
"""Among which those to several workers are, wherever the kernel puts each."""
WEB = configuration(listener("web", http="yes"))
OK = (200, b"OK\n")


@pytest.fixture(autouse=True)
def _closes_all() -> Iterator[None]:
    """Close what a test has opened."""
    yield
    close_all()


def answers(router: RunningRouter, path: str) -> list[tuple[int, bytes]]:
    """Return what workers answer; one that has just died answers nothing."""
    found = []
    for _ in range(CONNECTIONS):
        try:
            found.append(Browser(router.port).ask(path)[:2])
        except (OSError, http.client.HTTPException):
            found.append((0, b""))
    return found


@in_forms(*FORMS)
def test_a_router_that_is_operational_has_started_and_is_ready(start: Start) -> None:
    router = start(WEB)
    # It says so when all of its workers have joined: from then on, each that is asked has started.
    assert set(answers(router, "/startupz")) == {OK}
    assert set(answers(router, "/livez")) == {OK}
    # Workers connect to each other a moment later.
    eventually(lambda: set(answers(router, "/readyz")) == {OK}, "it is ready")


@in_forms(THREE_ACTORS)
def test_a_router_is_not_ready_without_one_of_its_actors(start: Start) -> None:
    router = start(WEB)
    eventually(lambda: set(answers(router, "/readyz")) == {OK}, "it is ready")
    victim = router.actors()["connection.1"]
    victim.signal(signal.SIGKILL)
    missing = (503, b"1 of 2 other connection actors are joined to this one.\n")
    eventually(lambda: missing in answers(router, "/readyz"), "others say who is missing")
    # They are alive, all the same.
    assert OK in answers(router, "/livez")
    eventually(lambda: set(answers(router, "/readyz")) == {OK}, "it is ready again")
    assert router.actors()["connection.1"] != victim
    assert set(answers(router, "/startupz")) == {OK}
