"""Limits of policy hold for a router as a whole, wherever its connections are and whatever of it dies."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.system.conftest import running
from tests.system.guest import Guest, refused
from tests.system.management_client import ManagementClient
from tests.system.routers import Form, RayHead, RunningRouter, configuration, listener, section
from tests.waiting import eventually

DENIED = ("amqp:resource-limit-exceeded", "connection disallowed by local policy")
TWO_ACTORS = Form("ray-2", 2)
EVERYTHING = {"users": "*", "remoteHosts": "*", "sources": "*", "targets": "*", "allowDynamicSource": True}
GROUPS = json.dumps({"g": EVERYTHING})
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
LIMIT = 5
ALL_LIMIT = 12


@pytest.fixture(scope="module")
def router(ray_head: RayHead, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router whose connections are shared by two actors."""
    text = configuration(
        section("policy", enableVhostPolicy="yes", maxConnections=ALL_LIMIT),
        section("vhost", hostname="few", maxConnections=LIMIT, groups=GROUPS),
        section("vhost", hostname="$default", groups=GROUPS),
        # These clients do nothing while nobody asks them to.
        listener(idleTimeoutSeconds=0),
    )
    with running(TWO_ACTORS, tmp_path_factory.mktemp("router"), text, "--address", ray_head.address) as router:
        yield router


@pytest.fixture
def guests(router: RunningRouter) -> Iterator[list[Guest]]:
    """Connections that end with the test."""
    found: list[Guest] = []
    yield found
    for guest in found:
        guest.close()
    eventually(lambda: connections(router) == 1, "all have gone")


def connections(router: RunningRouter) -> int:
    """Return how many connections there are, that of the one who asks among them."""
    management = ManagementClient(router.port)
    try:
        [policy] = management.query("policy")
        return int(policy["connectionsCurrent"])
    finally:
        management.close()


def fill(router: RunningRouter, guests: list[Guest], vhost: str = "few") -> None:
    """Connect as often as one may."""
    while len(guests) < LIMIT:
        guests.append(Guest(router.port, vhost))


def fill_all(router: RunningRouter, guests: list[Guest]) -> None:
    """Connect as often as one may, until both actors have some: it is the system that shares connections out."""
    fill(router, guests)
    while len(actors_of(router)) < TWO_ACTORS.actors:
        guests.pop(0).close()
        fill(router, guests)


def actors_of(router: RunningRouter) -> set[int]:
    """Return the workers that have connections of the vhost."""
    management = ManagementClient(router.port)
    try:
        rows = management.query("org.mobula.connectionActor")
        return {int(row["worker"]) for row in rows if row["connectionCount"]}
    finally:
        management.close()


def test_as_many_as_may_be_are_let_in_over_all_actors(router: RunningRouter, guests: list[Guest]) -> None:
    fill_all(router, guests)
    for _ in range(3):
        fill(router, guests)
        assert refused(router.port, "few") == DENIED
        assert refused(router.port, "few") == DENIED
        guests.pop().close()
    management = ManagementClient(router.port)
    [stats] = [row for row in management.query("vhostStats") if row["hostname"] == "few"]
    management.close()
    assert (stats["connectionsCurrent"], stats["connectionsDenied"]) == (LIMIT - 1, 6)
    assert len(stats["perUserState"]["anonymous"]) == LIMIT - 1


def test_as_many_sockets_as_may_be_are_accepted_over_all_actors(router: RunningRouter) -> None:
    held = [_accepted(router) for _ in range(ALL_LIMIT)]
    try:
        with socket.create_connection(("127.0.0.1", router.port), timeout=20) as one_more:
            assert one_more.recv(1) == b""
        eventually(
            lambda: "POLICY (info) DENY Connection '127.0.0.1' based on global connection count" in router.log(), "told"
        )
        held.pop().close()
        eventually(lambda: _is_accepted(router), "there is room again")
    finally:
        for one in held:
            one.close()
    eventually(lambda: connections(router) == 1, "all have gone")


def _accepted(router: RunningRouter) -> socket.socket:
    """Return a socket that has been accepted: its header was answered."""
    one = socket.create_connection(("127.0.0.1", router.port), timeout=20)
    one.sendall(SASL_HEADER)
    assert one.recv(8) == SASL_HEADER
    return one


def _is_accepted(router: RunningRouter) -> bool:
    """Whether a socket is accepted."""
    with socket.create_connection(("127.0.0.1", router.port), timeout=20) as one:
        with suppress(ConnectionError):
            one.sendall(SASL_HEADER)
            return one.recv(8) == SASL_HEADER
        return False


def _kill(router: RunningRouter, role: str) -> None:
    before = router.actors()[role]
    os.kill(before.pid, signal.SIGKILL)
    eventually(lambda: role in router.actors() and router.actors()[role] != before, f"{role} is there again")


def test_the_ledger_is_made_anew_when_its_actor_dies(router: RunningRouter, guests: list[Guest]) -> None:
    fill(router, guests)
    _kill(router, "table")
    assert refused(router.port, "few") == DENIED
    guests.pop().close()
    fill(router, guests)
    assert refused(router.port, "few") == DENIED


def test_the_connections_of_an_actor_that_dies_count_no_more(router: RunningRouter, guests: list[Guest]) -> None:
    fill(router, guests)
    _kill(router, "connection.1")

    def fills_again() -> bool:
        count = 0
        while refused(router.port, "few") is None and count < LIMIT:
            count += 1
        return count == LIMIT

    for guest in guests:
        guest.close()
    eventually(fills_again, "there is room again")
