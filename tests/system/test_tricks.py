"""Routers do the same without the platform tricks that docs/tricks.md names.

A router of each form is started with all of them off, and is asked for what matters most.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.own_ray import QUIET_TIMERS
from routerd.io.scheduling.processor_share import SLICE_NS, slice_ns
from routerd.io.scheduling.tricks import OFF, VARIABLE
from tests.system.conftest import Connect, Manage, running
from tests.system.launched import eventually
from tests.system.management_client import PREFIX
from tests.system.processes import family_of
from tests.system.routers import IN_PROCESS, Form, RunningRouter, configuration, section

RAY = Form("ray-2", 2)
MESSAGES = 500
AGENTS = {"dashboard/agent.py", "runtime_env/agent/main.py"}
OUTCOMES = ("accepted", "released", "rejected", "modified")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the routers write."""
    return tmp_path_factory.mktemp("plain")


def started(form: Form, folder: Path) -> Iterator[RunningRouter]:
    home = folder / form.name
    home.mkdir()
    text = configuration(section("record", level="all", directory=home / "records", rotateSeconds=1))
    with running(form, home, text, "--no-tricks") as router:
        yield router


@pytest.fixture(scope="module")
def in_process(folder: Path) -> Iterator[RunningRouter]:
    """A router of one process."""
    yield from started(IN_PROCESS, folder)


@pytest.fixture(scope="module")
def on_ray(folder: Path) -> Iterator[RunningRouter]:
    """A router on an embedded Ray."""
    yield from started(RAY, folder)


@pytest.fixture(scope="module", params=[IN_PROCESS, RAY], ids=["in-process", "ray-2"])
def plain_router(request: pytest.FixtureRequest) -> RunningRouter:
    """Each of them."""
    name = "on_ray" if request.param is RAY else "in_process"
    found: RunningRouter = request.getfixturevalue(name)
    return found


def test_messages_arrive_in_their_order(plain_router: RunningRouter, connect_to: Connect) -> None:
    consumer = connect_to(plain_router.port).consumer("in.order")
    sent = connect_to(plain_router.port).producer("in.order").send_all(range(MESSAGES))
    assert consumer.wait_for(MESSAGES) == list(range(MESSAGES))
    assert {one.outcome() for one in sent} == {"accepted"}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_outcomes_go_back(plain_router: RunningRouter, connect_to: Connect, outcome: str) -> None:
    connect_to(plain_router.port).consumer(outcome, outcome=outcome)
    assert connect_to(plain_router.port).producer(outcome).send("one").outcome() == outcome


def test_a_large_message_passes(plain_router: RunningRouter, connect_to: Connect) -> None:
    consumer = connect_to(plain_router.port).consumer("large")
    body = bytes(range(256)) * 20_000
    connect_to(plain_router.port).producer("large").send(body)
    assert consumer.take().body == body


def test_management_answers(plain_router: RunningRouter, manage_at: Manage, connect_to: Connect) -> None:
    connect_to(plain_router.port, container_id="asked.for").consumer("managed")
    manage = manage_at(plain_router.port)
    eventually(
        lambda: any(row["container"] == "asked.for" for row in manage.query(f"{PREFIX}connection")), "it is shown"
    )


def test_decisions_are_recorded(plain_router: RunningRouter, connect_to: Connect, manage_at: Manage) -> None:
    consumer = connect_to(plain_router.port).consumer("recorded")
    connect_to(plain_router.port).producer("recorded").send("one")
    consumer.wait_for(1)
    manage = manage_at(plain_router.port)

    def is_recorded() -> bool:
        [row] = manage.query("org.mobula.record")
        return bool(row["status"] == "recording" and row["rowsWritten"])

    eventually(is_recorded, "rows are in files")


def test_an_actor_that_dies_is_replaced(on_ray: RunningRouter, connect_to: Connect) -> None:
    for role in ("management", "connection.0"):
        before = on_ray.actors()[role]
        before.signal(9)
        eventually(lambda role=role, before=before: on_ray.actors().get(role) not in (None, before), f"{role} is back")
    consumer = connect_to(on_ray.port).consumer("afterwards")
    eventually(
        lambda: connect_to(on_ray.port).producer("afterwards").send("one").outcome() == "accepted", "messages pass"
    )
    consumer.wait_for(1)


def test_no_process_uses_them(on_ray: RunningRouter) -> None:
    family = family_of(on_ray.launcher.pid)
    titles = " ".join(one.title for one in family)
    assert {agent for agent in AGENTS if agent in titles} == AGENTS
    assert not any(QUIET_TIMERS.name in Path(f"/proc/{one.pid}/maps").read_text() for one in family)
    management = on_ray.actors()["management"].pid
    assert slice_ns(management) != SLICE_NS


def test_the_processes_of_a_router_are_told(on_ray: RunningRouter) -> None:
    told = f"{VARIABLE}={OFF}".encode()
    workers = on_ray.serving()
    assert [told in Path(f"/proc/{one.pid}/environ").read_bytes().split(b"\0") for one in workers] == [True, True]
