"""Four routers with two ways to the one opposite: under load a trunk is cut, a router dies, a partition heals.

A is joined to B and C, and so is D. The way over B is cheaper.
"""

from collections.abc import Iterator

import pytest

from tests.system.conftest import meshing
from tests.system.load import Load
from tests.system.mesh import Mesh, To, load_across
from tests.system.proton_links import Producer
from tests.system.routers import IN_PROCESS, ONE_ACTOR
from tests.system.test_large_messages import CHUNK, MIB, Checksum, checksum_of, large
from tests.waiting import eventually

SIZE = 5 * MIB
COST = 3
"""Of the trunks of C; those of B cost 1."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(IN_PROCESS, id="in-process"),
        pytest.param(ONE_ACTOR, id="ray", marks=pytest.mark.soak),
    ],
)
def joined(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """A, B, C and D, with proxies between."""
    with meshing(request.param, request, idle_timeout_s=4) as mesh:
        mesh.add("A")
        mesh.add("B", To("A", is_proxied=True))
        mesh.add("C", To("A", COST, is_proxied=True))
        mesh.add("D", To("B", is_proxied=True), To("C", COST, is_proxied=True))
        yield mesh


@pytest.fixture
def diamond(joined: Mesh) -> Iterator[Mesh]:
    """The four routers, all of them joined."""
    wait_whole(joined)
    yield joined
    joined.close_clients()


def wait_whole(mesh: Mesh) -> None:
    """Wait until all four are joined by the ways that are best."""
    for proxy in mesh.proxies.values():
        proxy.heal()
    for name in "ABCD":
        eventually(lambda: is_best(mesh, name), f"{name} has the best ways to all")  # noqa: B023


def is_best(mesh: Mesh, name: str) -> bool:
    best = {"AB": 1, "BD": 1, "AC": COST, "CD": COST, "AD": 2, "BC": 1 + COST}
    nodes = mesh.nodes(name)
    reached = {router: row["cost"] for router, row in nodes.items() if router != name}
    expected = {other: best["".join(sorted(name + other))] for other in "ABCD" if other != name}
    neighbours = {router: sorted(row["linkState"]) for router, row in nodes.items()}
    return reached == expected and neighbours == {"A": ["B", "C"], "B": ["A", "D"], "C": ["A", "D"], "D": ["B", "C"]}


def send_until_accepted(producer: Producer, body: str) -> None:
    """Send again what nobody got, since a consumer that has left was not yet known to have done so."""
    while (outcome := producer.send(body).outcome()) != "accepted":
        assert outcome == "released"


def started(load: Load) -> Load:
    load.start()
    return load


def check(load: Load, *, is_connected: bool = True) -> None:
    """End, and hold that no promise was broken."""
    load.stop()
    found = load.check()
    assert found["accepted"] > 50
    if is_connected:
        assert {party.connections for party in load.parties} == {1}


@pytest.mark.parametrize("kind", ["balanced", "multicast"])
def test_messages_take_the_other_way_when_a_trunk_is_cut(diamond: Mesh, address: str, kind: str) -> None:
    load = started(load_across(diamond, f"{kind}.{address}", "AADD", "DDAA"))
    for trunk in ("AB", "BD"):
        diamond.proxy(*trunk).refuse()
        load.wait_for_progress()
        wait_whole(diamond)
        load.wait_for_progress()
    check(load)


def test_a_large_message_that_is_on_its_way_goes_on_or_is_given_up_with_its_trunk(diamond: Mesh, address: str) -> None:
    arrived = Checksum()
    receiving = diamond.connect("D")
    consumer = receiving.consumer(address, sink=arrived)
    producer = diamond.connect("A").producer(address)
    begun, chunks = producer.begin(), large(SIZE)
    for _ in range(4):
        begun.write(next(chunks))
    receiving.wait_until(lambda: arrived.octets > len(CHUNK), "some of it is here")
    diamond.proxy("A", "C").cut()
    begun.write_all(chunks)
    assert begun.sent.outcome() == "accepted"
    assert (arrived.octets, arrived.value) == (checksum_of(SIZE).octets, checksum_of(SIZE).value)
    begun, chunks = producer.begin(), large(SIZE)
    for _ in range(4):
        begun.write(next(chunks))
    receiving.wait_until(lambda: arrived.octets > SIZE + len(CHUNK), "some of it is here")
    diamond.proxy("B", "D").refuse()
    receiving.wait_until(lambda: consumer.aborted == 1, "it is given up")
    begun.write_all(chunks)
    assert begun.sent.outcome() == "modified"
    # Until all know of the other way, what is sent is released.
    while (outcome := producer.stream(large(SIZE)).outcome()) != "accepted":
        assert outcome == "released"
    assert len(consumer.received) == 2


def test_messages_take_the_other_way_when_a_router_dies(diamond: Mesh, address: str) -> None:
    load = started(load_across(diamond, address, "AADD", "DDAA"))
    diamond.kill("B")
    load.wait_for_progress()
    assert "B" not in diamond.reached("A").keys() | diamond.reached("D").keys()
    diamond.start("B")
    wait_whole(diamond)
    load.wait_for_progress()
    check(load)


def test_a_router_that_ends_in_order_is_left_out_at_once(diamond: Mesh, address: str) -> None:
    load = started(load_across(diamond, address, "AADD", "DDAA"))
    assert diamond.end("B") == 0
    load.wait_for_progress()
    diamond.start("B")
    wait_whole(diamond)
    load.wait_for_progress()
    check(load)


def test_a_router_with_consumers_dies_and_comes_back(diamond: Mesh, address: str) -> None:
    load = started(load_across(diamond, address, "AABC", "DDDD"))
    diamond.kill("D")
    for name in "ABC":
        eventually(lambda: "D" not in diamond.reached(name), f"{name} knows that D is gone")  # noqa: B023
    diamond.start("D")
    wait_whole(diamond)
    load.wait_for_progress()
    check(load, is_connected=False)
    assert {producer.connections for producer in load.producers} == {1}


@pytest.mark.parametrize("how", ["refuse", "stall"])
def test_a_partition_heals(diamond: Mesh, address: str, how: str) -> None:
    moving = f"moving.{address}"
    leaving, producer = diamond.connect("D").consumer(moving), diamond.connect("A").producer(moving)
    assert producer.send("before").outcome() == "accepted"
    load = started(load_across(diamond, address, "ADBD", "DAAC"))
    proxies = [diamond.proxy("A", "B"), diamond.proxy("A", "C")]
    for proxy in proxies:
        getattr(proxy, how)()
    for name, others in {"A": "", "B": "CD", "C": "BD", "D": "BC"}.items():
        eventually(lambda: diamond.reached(name).keys() == set(others), f"{name} reaches {others}")  # noqa: B023
    producer.wait_for_no_credit()
    leaving.close()
    arriving = diamond.connect("C").consumer(moving)
    # On each side everything goes on.
    send_until_accepted(diamond.connect("B").producer(moving), "within")
    wait_whole(diamond)
    load.wait_for_progress()
    send_until_accepted(producer, "after")
    assert (leaving.bodies, arriving.bodies) == (["before"], ["within", "after"])
    check(load)
    for at, name in enumerate("DAAC"):
        consumer = diamond.connect(name).consumer(f"{address}.{at}")
        send_until_accepted(diamond.connect("ADBD"[at]).producer(f"{address}.{at}"), "whole")
        assert consumer.bodies == ["whole"]
