"""Three routers on Ray, each with two connection actors, a trunk at one and clients at another if there is one left.

Tests of routers in one process are done again here where something has to pass between actors, too: one or two of each
kind. And the actors die under load: the network does not notice, or is soon whole again.
"""

# What is imported but not used are those tests; pytest finds them here, with the fixtures of this module.
# ruff: noqa: F401

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.system.conftest import joined_in_a_line
from tests.system.load import Load
from tests.system.mesh import TWO_ACTORS, Mesh, Span, load_across, wait_for_copies
from tests.system.routers import RayHead, RunningRouter
from tests.system.test_mesh_credit import (
    test_a_producer_has_credit_while_there_is_a_consumer_anywhere,
    test_a_producer_that_vanishes_leaves_nothing_behind,
)
from tests.system.test_mesh_line import (
    test_a_message_passes_a_router_that_has_nobody_for_it,
    test_connections_and_links_between_routers_are_shown,
    test_consumers_that_come_and_go_everywhere_leave_nothing_behind,
    test_each_router_answers_for_itself_through_the_others,
    test_each_router_shows_the_way_to_the_others,
    test_what_is_configured_through_another_router_holds,
)
from tests.system.test_mesh_messages import test_requests_from_anywhere_get_their_replies_anywhere
from tests.system.test_mesh_outcomes import (
    test_many_producers_and_consumers_lose_double_and_reorder_nothing,
    test_settled_messages_arrive_settled_and_in_their_order,
)
from tests.system.test_mesh_streaming import (
    test_a_consumer_that_stalls_in_a_large_message_stalls_its_own_link_only,
    test_a_large_message_is_copied_to_all_routers,
)
from tests.waiting import eventually

WATCHED_S = 4.0
"""Longer than a neighbour is believed that is not heard."""
NODE = ("id", "instance", "nextHop", "cost", "linkState", "validOrigins", "lastTopoChange")


@pytest.fixture(scope="module")
def shared_line(request: pytest.FixtureRequest, ray_head: RayHead) -> Iterator[Mesh]:
    """The routers A, B and C on one Ray, joined in a line."""
    with joined_in_a_line(TWO_ACTORS, request) as mesh:
        yield mesh


def topology(line: Mesh, victims: str) -> dict[str, list[dict[str, Any]]]:
    """Return what each router says of the network, without the time since which a new engine has known it."""
    found = {name: line.query(name, "router.node", *NODE) for name in "ABC"}
    for name in victims:
        for row in found[name]:
            row["lastTopoChange"] = None
    return found


def kill(router: RunningRouter, *roles: str) -> None:
    """Kill actors, and wait until others are in their places."""
    victims = {role: router.actors()[role] for role in roles}
    for victim in victims.values():
        victim.signal(signal.SIGKILL)
    for role, victim in victims.items():
        eventually(lambda: router.actors()[role] != victim, f"{role} has another process")  # noqa: B023


def watch(load: Load) -> None:
    """See to it that everybody gets on for as long as a mistake takes to be noticed."""
    end = time.monotonic() + WATCHED_S
    while time.monotonic() < end:
        load.wait_for_progress()


@pytest.mark.parametrize("victims", ["B", "ABC"])
def test_nobody_notices_that_a_routing_engine_is_replaced(line: Mesh, address: str, victims: str) -> None:
    before = topology(line, victims)
    logs = {name: len(line.routers[name].log()) for name in "ABC"}
    load = load_across(line, address, "ACBA", "CAAB")
    load.start()
    for name in victims:
        kill(line.routers[name], "engine")
    watch(load)
    load.stop()
    # Nothing was released or modified, and nobody had to connect again.
    assert set(load.check()) == {"accepted"}
    assert {party.connections for party in load.parties} == {1}
    assert topology(line, victims) == before
    for name, start in logs.items():
        said = line.routers[name].log()[start:]
        assert "is no neighbour" not in said
        assert "has been started anew" not in said


def test_a_routing_engine_that_was_replaced_knows_everything_and_learns_the_rest(line: Mesh, address: str) -> None:
    old, new = f"multicast.{address}.old", f"multicast.{address}.new"
    consumers = [line.connect(name).consumer(old) for name in "ABC"]
    producers = [line.connect(name).producer(old) for name in "ABC"]
    wait_for_copies(consumers, *producers)
    for name in "ABC":
        kill(line.routers[name], "engine")
    assert [producer.send("one").outcome() for producer in producers] == ["accepted"] * 3
    assert [consumer.bodies for consumer in consumers] == [["one"] * 3] * 3
    arriving = [line.connect(name).consumer(new) for name in "ABC"]
    wait_for_copies(arriving, *(line.connect(name).producer(new) for name in "ABC"))
    for consumer in consumers:
        consumer.close()
    for producer in producers:
        producer.wait_for_no_credit()


def test_every_actor_of_a_router_in_the_middle_may_die_under_load(line: Mesh, address: str) -> None:
    load = load_across(line, address, "ACAC", "CACA")
    load.start()
    router = line.routers["B"]
    for role in sorted(router.actors()):
        kill(router, role)
        load.wait_for_progress()
    load.stop()
    assert load.check()["accepted"] > 100
    assert {party.connections for party in load.parties} == {1}
    line.wait_joined()


def test_a_router_is_killed_and_comes_back(line: Mesh, address: str) -> None:
    load = load_across(line, address, "ACAC", "CACA")
    load.start()
    line.kill("B")
    for name in "AC":
        eventually(lambda: line.reached(name) == {}, f"{name} is alone")  # noqa: B023
    line.start("B")
    line.wait_joined()
    load.wait_for_progress()
    load.stop()
    assert load.check()["accepted"] > 100
    assert {party.connections for party in load.parties} == {1}
