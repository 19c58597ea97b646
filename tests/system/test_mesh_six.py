"""Six routers, joined at random: each joins while messages pass, and one leaves and comes back."""

from collections.abc import Iterator
from heapq import heappop, heappush
from random import Random

import pytest

from tests.system.conftest import meshing
from tests.system.mesh import Mesh, To, load_across, wait_for_copies
from tests.system.proton_links import Producer
from tests.system.routers import IN_PROCESS, ONE_ACTOR
from tests.waiting import eventually

ROUTERS = "ABCDEF"
SEED = 5
KINDS = ("closest", "balanced", "multicast")


def random_links(random: Random) -> dict[str, tuple[To, ...]]:
    """Return to which of those before it each router connects: to one at least, most to two."""
    links: dict[str, tuple[To, ...]] = {}
    for at, name in enumerate(ROUTERS):
        others = random.sample(ROUTERS[:at], min(at, random.choice((1, 2, 2))))
        links[name] = tuple(To(other, random.randint(1, 5)) for other in others)
    return links


LINKS = random_links(Random(SEED))


def least_costs(start: str, routers: str) -> dict[str, int]:
    """Return the costs of the best ways from a router to others."""
    costs: dict[str, dict[str, int]] = {name: {} for name in routers}
    for name in routers:
        for link in LINKS[name]:
            if link.router in costs:
                costs[name][link.router] = costs[link.router][name] = link.cost
    found: dict[str, int] = {}
    ahead = [(0, start)]
    while ahead:
        cost, name = heappop(ahead)
        if name not in found:
            found[name] = cost
            for other, more in costs[name].items():
                heappush(ahead, (cost + more, other))
    del found[start]
    return found


def wait_joined(mesh: Mesh, routers: str) -> None:
    """Wait until each of these has the best ways to those that can be reached, and no others."""
    for name in routers:
        expected = least_costs(name, routers)
        eventually(lambda: mesh.reached(name) == expected, f"{name} has the ways {expected}")  # noqa: B023


def check_everybody_reaches_everybody(mesh: Mesh, address: str, routers: str) -> None:
    """Send from every router to consumers at every router, by each distribution."""
    consumers = {name: mesh.connect(name).consumer(f"multicast.{address}") for name in routers}
    for name in routers:
        client = mesh.connect(name)
        producer = client.producer(f"multicast.{address}")
        wait_for_copies(consumers.values(), producer)
        assert producer.send(name).outcome() == "accepted"
        assert {other: one.bodies for other, one in consumers.items()} == {other: [name] for other in routers}
        for one in consumers.values():
            one.received.clear()
            one.waiting.clear()
        for kind in ("closest", "balanced"):
            check_one_gets_it(mesh, f"{kind}.{address}.{name}", name, routers)
        client.close()
    for one in consumers.values():
        one.client.close()


def check_one_gets_it(mesh: Mesh, address: str, at: str, routers: str) -> None:
    consumer = mesh.connect(at).consumer(address)
    for start in routers:
        producer = mesh.connect(start).producer(address)
        assert {one.outcome() for one in producer.send_all([start] * 3)} == {"accepted"}
    assert consumer.bodies == [start for start in routers for _ in range(3)]


@pytest.fixture(
    scope="module",
    params=[IN_PROCESS, pytest.param(ONE_ACTOR, marks=pytest.mark.soak)],
    ids=lambda form: form.name,
)
def six(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """Room for six routers."""
    with meshing(request.param, request) as mesh:
        yield mesh


@pytest.fixture(autouse=True)
def clients_leave(six: Mesh) -> Iterator[None]:
    """Close the connections of all clients."""
    yield
    six.close_clients()


def test_routers_join_one_by_one_while_messages_pass(six: Mesh, address: str) -> None:
    six.add("A")
    six.add("B", *LINKS["B"])
    wait_joined(six, "AB")
    load = load_across(six, address, "AB", "BA")
    load.start()
    for at in range(2, 6):
        six.add(ROUTERS[at], *LINKS[ROUTERS[at]])
        wait_joined(six, ROUTERS[: at + 1])
        consumer = six.connect(ROUTERS[at]).consumer(f"{address}.new.{at}")
        producers: list[Producer] = [six.connect(name).producer(f"{address}.new.{at}") for name in ROUTERS[:at]]
        assert [one.send("one").outcome() for one in producers] == ["accepted"] * at
        assert len(consumer.bodies) == at
    load.wait_for_progress()
    load.stop()
    assert set(load.check()) == {"accepted"}
    assert {party.connections for party in load.parties} == {1}


def test_everybody_reaches_everybody(six: Mesh, address: str) -> None:
    check_everybody_reaches_everybody(six, address, ROUTERS)


def middle() -> str:
    """Return a router that others do not need to reach each other."""
    return next(name for name in "BCDE" if len(least_costs("A", ROUTERS.replace(name, ""))) == 4)


@pytest.mark.parametrize("how", ["kill", "end"])
def test_a_router_leaves_and_comes_back_as_a_new_one(six: Mesh, address: str, how: str) -> None:
    leaving = middle()
    others = ROUTERS.replace(leaving, "")
    address = f"multicast.{address}"
    consumers = {name: six.connect(name).consumer(address) for name in ROUTERS}
    producer = six.connect(others[0]).producer(address)
    wait_for_copies(consumers.values(), producer)
    instance = six.nodes(others[-1])[leaving]["instance"]
    getattr(six, how)(leaving)
    wait_joined(six, others)
    staying = [consumers[name] for name in others]
    wait_for_copies(staying, producer)
    assert producer.send("without").outcome() == "accepted"
    assert [one.bodies for one in staying] == [["without"]] * 5
    six.start(leaving)
    wait_joined(six, ROUTERS)
    assert six.nodes(others[-1])[leaving]["instance"] != instance
    back = six.connect(leaving).consumer(address)
    wait_for_copies([*staying, back], producer)
    assert producer.send("with").outcome() == "accepted"
    assert [one.bodies for one in [*staying, back]] == [["with"]] * 6


def test_nothing_is_left_that_does_not_work(six: Mesh, address: str) -> None:
    check_everybody_reaches_everybody(six, address, ROUTERS)
