"""Actors are killed or stand still under load: no promise to a client is broken, and the router is soon whole again."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.conftest import Connect, running
from tests.system.load import Load
from tests.system.management_client import NODE, ManagementClient
from tests.system.processes import family_of
from tests.system.routers import ONE_ACTOR, THREE_ACTORS, RunningRouter, configuration
from tests.waiting import eventually

KINDS = ("table", "engine", "management", "connection")
SIGNALS = [signal.SIGKILL, signal.SIGSTOP]
ROUNDS = 10
WITHOUT_HEAD_S = 3.0


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router on a Ray of its own."""
    with running(THREE_ACTORS, tmp_path_factory.mktemp("router"), configuration()) as router:
        yield router


def test_no_request_to_management_is_lost_while_its_actor_starts_and_dies(router: RunningRouter) -> None:
    with ManagementClient(router.port) as management:
        # The router is ready before this actor is.
        assert management.ask(NODE | {"operation": "GET-MGMT-NODES"}).status == 200
        for _ in range(2):
            victim = router.actors()["management"]
            victim.signal(signal.SIGKILL)
            told = set[int]()
            while router.actors().get("management") in (None, victim):
                told.add(management.ask(NODE | {"operation": "GET-OPERATIONS"}).status)
            told.add(management.ask(NODE | {"operation": "GET-OPERATIONS"}).status)
            assert told <= {200, 503}


def check_a_death(router: RunningRouter, load: Load, role: str, number: signal.Signals) -> None:
    """End an actor, or stop it; expect that it is replaced and that everybody gets on."""
    victim = router.actors()[role]
    victim.signal(number)
    eventually(lambda: router.actors()[role] != victim, f"{role} has another process")
    load.wait_for_progress()
    assert not victim.is_running


def check_deaths(router: RunningRouter, address: str, number: signal.Signals, rounds: int) -> None:
    """End every actor in turn, so many times."""
    load = Load(router.port, address)
    load.start()
    eventually(lambda: {role.partition(".")[0] for role in router.actors()} == set(KINDS), "all actors run")
    roles = sorted(router.actors())
    for _ in range(rounds):
        for role in roles:
            check_a_death(router, load, role, number)
    load.stop()
    outcomes = load.check()
    assert outcomes["accepted"] > 100


@pytest.mark.parametrize("number", SIGNALS, ids=[number.name for number in SIGNALS])
def test_every_actor_may_die_under_load(router: RunningRouter, address: str, number: signal.Signals) -> None:
    check_deaths(router, address, number, 1)


@pytest.mark.soak
@pytest.mark.parametrize("number", SIGNALS, ids=[number.name for number in SIGNALS])
def test_every_actor_may_die_many_times_under_load(router: RunningRouter, address: str, number: signal.Signals) -> None:
    check_deaths(router, address, number, ROUNDS)


def test_forwarding_goes_on_without_the_head_of_ray(router: RunningRouter, connect_to: Connect, address: str) -> None:
    load = Load(router.port, address)
    load.start()
    end = time.monotonic() + WITHOUT_HEAD_S
    while time.monotonic() < end:
        # The launcher starts it again.
        for head in (one for one in family_of(router.launcher.pid) if "gcs_server" in one.title):
            head.signal(signal.SIGKILL)
        load.wait_for_progress()
    consumer = connect_to(router.port).consumer(f"{address}.new")
    assert connect_to(router.port).producer(f"{address}.new").send("one").outcome() == "accepted"
    assert consumer.bodies == ["one"]
    load.stop()
    assert set(load.check()) == {"accepted"}
    assert {party.connections for party in load.parties} == {1}
    assert router.end() == 0


def test_a_single_actor_that_serves_clients_may_die_under_load(tmp_path: Path, address: str) -> None:
    # Nobody else serves them until it is replaced.
    with running(ONE_ACTOR, tmp_path, configuration()) as router:
        check_deaths(router, address, signal.SIGKILL, 1)
