"""Routers that are joined where they should not be: a line in the log says so, and nobody else notices."""

import re
import time
from collections.abc import Iterator

import pytest

from tests.system.conftest import meshing
from tests.system.mesh import Mesh
from tests.system.proton_links import Consumer, Producer
from tests.system.routers import IN_PROCESS, section
from tests.waiting import eventually


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """A and B, joined."""
    with meshing(IN_PROCESS, request, raIntervalSeconds=1, raIntervalFluxSeconds=1) as mesh:
        mesh.add("A")
        mesh.add("B", "A")
        mesh.wait_joined()
        yield mesh


@pytest.fixture(scope="module")
def beside(pair: Mesh) -> tuple[Producer, Consumer]:
    """Those that go on, whatever others do."""
    consumer = pair.connect("B").consumer("beside")
    return pair.connect("A").producer("beside"), consumer


@pytest.fixture(autouse=True)
def everything_goes_on(pair: Mesh, beside: tuple[Producer, Consumer], address: str) -> Iterator[None]:
    """Hold that both routers work, and reach nobody else, when a test is over."""
    yield
    pair.wait_joined()
    producer, consumer = beside
    assert producer.send(address).outcome() == "accepted"
    assert consumer.bodies[-1] == address
    assert producer.client.is_open
    assert consumer.client.is_open


def wait_logged(mesh: Mesh, name: str, pattern: str) -> None:
    router = mesh.routers[name]
    eventually(lambda: re.search(pattern, router.log()), f"{pattern} is logged")


def test_a_router_with_the_same_id_is_noticed_and_both_go_on(pair: Mesh, request: pytest.FixtureRequest) -> None:
    connector = section("connector", name="A", role="inter-router", host="127.0.0.1", port=pair.port("A", "routers"))
    started = pair.nodes("A")["A"]["instance"]
    eventually(lambda: int(time.time()) > started, "routers that start now can be told from those that run")
    with meshing(IN_PROCESS, request) as other:
        other.add("A", sections=[connector])
        for mesh in (pair, other):
            wait_logged(mesh, "A", r"\(warning\) another router has the id A")
        consumer = other.connect("A").consumer("local")
        assert other.connect("A").producer("local").send("one").outcome() == "accepted"
        assert consumer.bodies == ["one"]
        assert other.reached("A") == {}
        assert pair.reached("A") == {"B": 1}


def test_a_router_at_the_port_for_clients_learns_that_it_is_wrong_there(
    pair: Mesh, request: pytest.FixtureRequest
) -> None:
    connector = section("connector", name="A", role="inter-router", host="127.0.0.1", port=pair.port("A"))
    with meshing(IN_PROCESS, request) as other:
        other.add("C", sections=[connector])
        wait_logged(other, "C", "qd:forbidden")
        assert other.reached("C") == {}
        assert other.end("C") == 0
