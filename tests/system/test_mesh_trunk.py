"""A connection between two routers ends, stands still and comes back, with messages under way."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.system.conftest import Manage, meshing
from tests.system.mesh import Mesh, To, load_across
from tests.system.processes import process
from tests.system.proton_links import Sent
from tests.system.routers import IN_PROCESS
from tests.waiting import eventually


@pytest.fixture(scope="module")
def joined(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """Two routers with a proxy between."""
    with meshing(IN_PROCESS, request) as mesh:
        mesh.add("A")
        mesh.add("B", To("A", is_proxied=True))
        yield mesh


@pytest.fixture(scope="module")
def impatient(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """Two routers with a proxy between, which do not wait for each other for long."""
    with meshing(IN_PROCESS, request, idle_timeout_s=2) as mesh:
        mesh.add("A")
        mesh.add("B", To("A", is_proxied=True))
        yield mesh


@pytest.fixture
def pair(joined: Mesh) -> Iterator[Mesh]:
    """Two routers that are joined."""
    joined.proxy("A", "B").heal()
    joined.wait_joined()
    yield joined
    joined.close_clients()


def outcomes(sent: list[Sent]) -> Counter[str]:
    return Counter(one.outcome() for one in sent)


def test_what_is_under_way_is_modified_when_the_trunk_ends(pair: Mesh, address: str) -> None:
    consumer = pair.connect("B").consumer(address, outcome=None)
    producer = pair.connect("A").producer(address)
    sent = producer.send_all(list(range(20)))
    received = [consumer.take() for _ in range(20)]
    pair.proxy("A", "B").refuse()
    assert outcomes(sent) == {"modified": 20}
    assert {(one.is_failed, one.is_undeliverable) for one in sent} == {(True, False)}
    producer.wait_for_no_credit()
    for one in received:
        one.decide("accepted")
    pair.proxy("A", "B").heal()
    again = producer.send("again")
    consumer.take().decide("accepted")
    assert again.outcome() == "accepted"


def test_a_silent_neighbour_is_lost_and_what_it_has_got_is_not(pair: Mesh, address: str) -> None:
    consumer = pair.connect("B").consumer(address)
    producer = pair.connect("A").producer(address)
    assert producer.send("before").outcome() == "accepted"
    pair.proxy("A", "B").stall()
    sent = producer.send_all(list(range(20)))
    producer.wait_for_no_credit()
    eventually(lambda: pair.reached("A") == pair.reached("B") == {}, "each is alone")
    assert {one.state for one in sent} == {None}
    pair.proxy("A", "B").heal()
    assert outcomes(sent) == {"accepted": 20}
    assert producer.send("after").outcome() == "accepted"
    assert consumer.bodies == ["before", *range(20), "after"]


def test_a_connection_that_stands_still_is_given_up(impatient: Mesh, address: str) -> None:
    impatient.wait_joined()
    consumer = impatient.connect("B").consumer(address)
    producer = impatient.connect("A").producer(address)
    assert producer.send("before").outcome() == "accepted"
    impatient.proxy("A", "B").stall()
    sent = producer.send_all(list(range(20)))
    assert outcomes(sent) == {"modified": 20}
    producer.wait_for_no_credit()
    impatient.proxy("A", "B").heal()
    assert producer.send("after").outcome() == "accepted"
    assert consumer.bodies[-1] == "after"


def test_no_promise_is_broken_by_a_trunk_that_ends_again_and_again_under_load(pair: Mesh, address: str) -> None:
    load = load_across(pair, address, "AABB", "BBAA")
    load.start()
    for _ in range(10):
        pair.proxy("A", "B").cut()
        load.wait_for_progress()
    load.stop()
    found = load.check()
    assert found["accepted"] > 100
    assert found.keys() <= {"accepted", "released", "modified"}
    assert {party.connections for party in load.parties} == {1}


def test_trunks_that_come_and_go_leave_nothing_behind(pair: Mesh, address: str) -> None:
    pair.connect("B").consumer(address)
    producer = pair.connect("A").producer(address)
    serving = [process(router.launcher.pid) for router in pair.routers.values()]

    def cut() -> None:
        assert producer.send("one").outcome() == "accepted"
        pair.proxy("A", "B").cut()
        producer.wait_for_no_credit()
        producer.wait_for_credit()

    def links(name: str) -> int:
        rows = pair.query(name, "router.link", "linkType")
        return sum(row["linkType"].startswith("inter-router") for row in rows)

    cut()
    files = [one.file_count() for one in serving]
    for _ in range(5):
        cut()
    assert [one.file_count() for one in serving] == files
    assert [links(name) for name in "AB"] == [20, 20]


def test_connectors_join_and_part_routers_at_run_time(pair: Mesh, address: str, manage_at: Manage) -> None:
    client, consumer = manage_at(pair.port("B")), pair.connect("B").consumer(address)
    producer = pair.connect("A").producer(address)
    connector = {"role": "inter-router", "host": "127.0.0.1", "cost": 5}
    port = pair.port("A", "routers")
    assert client.create("connector", "second", port=str(port), **connector).status == 201
    eventually(lambda: connections(pair, "A") == ["B", "B"], "there is a second trunk")
    assert producer.send("over the first").outcome() == "accepted"
    pair.proxy("A", "B").refuse()
    eventually(lambda: pair.reached("A") == {"B": 5}, "the second trunk is used")
    assert producer.send("over the second").outcome() == "accepted"
    assert client.delete("connector", "second").status == 204
    eventually(lambda: pair.reached("A") == {}, "A is alone")
    producer.wait_for_no_credit()
    assert consumer.bodies == ["over the first", "over the second"]


def connections(mesh: Mesh, name: str) -> list[str]:
    return [row["container"] for row in mesh.query(name, "connection") if row["role"] == "inter-router"]


def test_a_second_trunk_takes_over_without_a_word_to_others(pair: Mesh, address: str, manage_at: Manage) -> None:
    client, consumer = manage_at(pair.port("B")), pair.connect("B").consumer(address)
    producer = pair.connect("A").producer(address)
    connector = {"role": "inter-router", "host": "127.0.0.1", "port": str(pair.port("A", "routers"))}
    assert client.create("connector", "second", **connector).status == 201
    eventually(lambda: connections(pair, "A") == ["B", "B"], "there is a second trunk")
    logged = {name: len(pair.routers[name].log()) for name in "AB"}
    for number in range(3):
        assert producer.send(number).outcome() == "accepted"
        pair.proxy("A", "B").cut()
        eventually(lambda: connections(pair, "A") == ["B", "B"], "the trunk that was cut is there again")
        assert producer.send(number).outcome() == "accepted"
    assert all("is no neighbour" not in pair.routers[name].log()[start:] for name, start in logged.items())
    assert consumer.bodies == [0, 0, 1, 1, 2, 2]
    assert client.delete("connector", "second").status == 204
