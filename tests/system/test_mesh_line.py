"""Three routers in a line: who gets messages, and what each router tells of the others."""

import json
import re
from collections import Counter

import pytest

from tests.system.conftest import Manage
from tests.system.launched import routerstat
from tests.system.management_client import NODE
from tests.system.mesh import Mesh, wait_for_copies
from tests.system.proton_links import Consumer, Producer, Sent
from tests.waiting import eventually


def consumers_at(line: Mesh, address: str, routers: str = "ABC", **options: object) -> dict[str, Consumer]:
    return {name: line.connect(name).consumer(address, **options) for name in routers}  # type: ignore[arg-type]


def producer_that_knows(line: Mesh, name: str, address: str, *others: str) -> Producer:
    """Return a producer at a router that knows which others have consumers."""
    producer = line.connect(name).producer(address)
    line.wait_known(address, name, *others)
    return producer


def counts(consumers: dict[str, Consumer]) -> dict[str, int]:
    return {name: len(one.received) for name, one in consumers.items()}


def check_all(sent: list[Sent], outcome: str = "accepted") -> None:
    assert Counter(one.outcome() for one in sent) == {outcome: len(sent)}


@pytest.mark.parametrize("start", ["A", "B", "C"])
def test_closest_is_the_consumer_of_this_router(line: Mesh, address: str, start: str) -> None:
    address = f"closest.{address}"
    consumers = consumers_at(line, address)
    producer = producer_that_knows(line, start, address, *(set("ABC") - {start}))
    check_all(producer.send_all(list(range(60))))
    assert counts(consumers) == dict.fromkeys("ABC", 0) | {start: 60}


@pytest.mark.parametrize(("start", "others", "nearest"), [("A", "BC", "B"), ("C", "AB", "B"), ("A", "C", "C")])
def test_closest_is_the_nearest_router_with_a_consumer(
    line: Mesh, address: str, start: str, others: str, nearest: str
) -> None:
    address = f"closest.{address}"
    consumers = consumers_at(line, address, others)
    producer = producer_that_knows(line, start, address, *others)
    check_all(producer.send_all(list(range(60))))
    assert counts(consumers) == dict.fromkeys(others, 0) | {nearest: 60}


def test_closest_takes_turns_between_routers_that_are_equally_near(line: Mesh, address: str) -> None:
    address = f"closest.{address}"
    consumers = consumers_at(line, address, "AC")
    producer = producer_that_knows(line, "B", address, "A", "C")
    # Of messages that come together, each router gets several in a row.
    for number in range(60):
        check_all(producer.send_all([number]))
    assert counts(consumers) == {"A": 30, "C": 30}


def test_closest_goes_on_to_the_next_when_the_nearest_consumer_leaves(line: Mesh, address: str) -> None:
    address = f"closest.{address}"
    consumers = consumers_at(line, address)
    producer = producer_that_knows(line, "A", address, "B", "C")
    for name in "ABC":
        check_all(producer.send_all([name] * 20))
        consumers[name].close()
        line.wait_known(address, "A", *(set("BC") - set("ABC"[: "ABC".index(name) + 1])))
    assert {name: set(one.bodies) for name, one in consumers.items()} == {name: {name} for name in "ABC"}
    producer.wait_for_no_credit()


def test_balanced_stays_here_until_much_is_to_be_done_here(line: Mesh, address: str) -> None:
    address = f"balanced.{address}"
    consumers = consumers_at(line, address, outcome=None)
    producer = producer_that_knows(line, "A", address, "B", "C")
    sent: list[Sent] = []
    for number in range(90):
        sent.append(producer.send(number))
        eventually(lambda: sum(counts(consumers).values()) == len(sent), "everything is at a consumer")
    found = counts(consumers)
    # At each router, what is under way to its own consumer and over the trunk is even, but for the costs.
    assert 0 <= found["A"] - (found["B"] + found["C"]) <= 4
    assert 0 <= found["B"] - found["C"] <= 4
    for consumer in consumers.values():
        for received in list(consumer.waiting):
            received.decide("accepted")
    check_all(sent)


def test_balanced_gives_those_that_are_quick_more(line: Mesh, address: str) -> None:
    address = f"balanced.{address}"
    slow = line.connect("A").consumer(address, outcome=None, credit=1000)
    quick = line.connect("C").consumer(address)
    producer = producer_that_knows(line, "A", address, "C")
    for number in range(100):
        producer.send(number)
        eventually(lambda: len(slow.received) + len(producer.undecided) < 30, "most is decided")
        eventually(lambda: len(slow.received) + len(quick.received) == number + 1, "it has arrived")  # noqa: B023
    assert len(slow.received) < 10
    assert len(quick.received) > 90


@pytest.mark.parametrize("start", ["A", "B", "C"])
@pytest.mark.parametrize("settled", [False, True], ids=["unsettled", "settled"])
def test_each_consumer_gets_one_copy(line: Mesh, address: str, start: str, settled: bool) -> None:
    address = f"multicast.{address}"
    consumers = [line.connect(name).consumer(address, credit=500) for name in "AABBCC"]
    producer = line.connect(start).producer(address)
    wait_for_copies(consumers, producer)
    sent = producer.send_all(list(range(100)), settled=settled)
    if not settled:
        check_all(sent)
    assert [one.wait_for(100) for one in consumers] == [list(range(100))] * 6
    assert producer.send("last").outcome() == "accepted"
    assert [one.bodies for one in consumers] == [[*range(100), "last"]] * 6


@pytest.mark.parametrize("kind", ["closest", "balanced", "multicast"])
def test_a_message_passes_a_router_that_has_nobody_for_it(line: Mesh, address: str, kind: str) -> None:
    address = f"{kind}.{address}"
    consumers = consumers_at(line, address, "AC")
    producers = {name: line.connect(name).producer(address) for name in "AC"}
    for name, producer in producers.items():
        line.wait_known(address, name, *(set("AC") - {name}))
        producer.wait_for_credit()
    consumers["A"].close()
    line.wait_known(address, "C")
    check_all(producers["A"].send_all(list(range(50))))
    assert consumers["C"].bodies == list(range(50))


def test_consumers_that_come_and_go_everywhere_leave_nothing_behind(line: Mesh, address: str) -> None:
    producer = line.connect("A").producer(address)
    for _ in range(5):
        consumers = consumers_at(line, address)
        line.wait_known(address, "A", "B", "C")
        for consumer in consumers.values():
            consumer.close()
        line.wait_known(address, "A")
        producer.wait_for_no_credit()
    producer.close()
    for name in "ABC":
        keys = [row["key"] for row in line.query(name, "router.address")]
        assert [key for key in keys if address.removesuffix(".") in key] == []


# --- management


@pytest.mark.parametrize("start", ["A", "B", "C"])
def test_each_router_answers_for_itself_through_the_others(line: Mesh, manage_at: Manage, start: str) -> None:
    for name in "ABC":
        client = manage_at(line.port(start), f"_topo/0/{name}/$management")
        assert [row["id"] for row in client.query("router")] == [name]
        nodes = client.ask({"operation": "GET-MGMT-NODES", **NODE}).body
        assert sorted(nodes) == [f"amqp:/_topo/0/{one}/$management" for one in "ABC"]
        assert nodes[0] == f"amqp:/_topo/0/{name}/$management"


def test_a_request_to_a_router_that_is_not_there_is_released(line: Mesh) -> None:
    producer = line.connect("A").producer(None)
    assert producer.send("lost", address="_topo/0/Nowhere/$management").outcome() == "released"


def test_what_is_configured_through_another_router_holds(line: Mesh, manage_at: Manage, address: str) -> None:
    client = manage_at(line.port("A"), "_topo/0/C/$management")
    prefix = f"made.{address}"
    assert client.create("router.config.address", address, prefix=prefix, distribution="multicast").status == 201
    consumers = [line.connect("C").consumer(prefix) for _ in range(2)]
    assert line.connect("C").producer(prefix).send("one").outcome() == "accepted"
    assert [one.bodies for one in consumers] == [["one"]] * 2
    assert client.delete("router.config.address", address).status == 204


def test_each_router_shows_the_way_to_the_others(line: Mesh) -> None:
    names = ("id", "nextHop", "cost", "linkState", "validOrigins", "address")

    def rows(start: str) -> list[tuple[object, ...]]:
        return sorted(tuple(row[name] for name in names) for row in line.query(start, "router.node"))

    def node(router: str, hop: str | None, cost: int | None, neighbours: list[str], origins: list[str]) -> object:
        return (router, hop, cost, neighbours, origins, f"amqp:/_topo/0/{router}")

    assert rows("A") == [
        node("A", "(self)", None, ["B"], []),
        node("B", None, 1, ["A", "C"], []),
        node("C", "B", 2, ["B"], []),
    ]
    assert rows("B") == [
        node("A", None, 1, ["B"], ["C"]),
        node("B", "(self)", None, ["A", "C"], []),
        node("C", None, 1, ["B"], ["A"]),
    ]


def test_connections_and_links_between_routers_are_shown(line: Mesh) -> None:
    connections = [row for row in line.query("B", "connection") if row["role"] == "inter-router"]
    assert sorted((row["container"], row["dir"], row["opened"]) for row in connections) == [
        ("A", "out", True),
        ("C", "in", True),
    ]
    links = Counter((row["linkType"], row["linkDir"]) for row in line.query("B", "router.link"))
    assert links["router-control", "in"] == links["router-control", "out"] == 2
    # Ten for the priorities with each neighbour, and those that large messages were given.
    assert links["inter-router", "in"] >= 20
    assert links["inter-router", "out"] >= 20
    connectors = [(row["name"], row["connectionStatus"]) for row in line.query("B", "connector")]
    assert connectors == [("A", "SUCCESS")]


def test_addresses_of_others_are_shown(line: Mesh, address: str) -> None:
    consumers_at(line, address, "BCC")
    consumer = line.connect("C").consumer(address)
    line.connect("A").producer(address)
    line.wait_known(address, "A", "B", "C")
    row = next(one for one in line.query("A", "router.address") if one["key"] == f"M0{address.removesuffix('.')}")
    assert (row["subscriberCount"], row["remoteCount"], sorted(row["remoteHostRouters"])) == (0, 2, ["B", "C"])
    assert consumer.bodies == []


def test_routerstat_shows_the_network_here_and_there(line: Mesh) -> None:
    shown = re.findall(r"^  ([ABC]) +(\S+) +(\S+)$", routerstat(line.port("A"), "-n"), re.MULTILINE)
    assert [(router, hop, link.isdecimal()) for router, hop, link in shown] == [
        ("A", "(self)", False),
        ("B", "-", True),
        ("C", "B", False),
    ]
    there = json.loads(routerstat(line.port("A"), "-n", "-r", "C", "--json"))["routers"]
    assert [one["router"] for one in there] == ["C"]
    rows = {row["router-id"]: row["next-hop"] for table in there[0]["tables"] for row in table["rows"]}
    assert rows == {"A": "B", "B": None, "C": "(self)"}
    everywhere = json.loads(routerstat(line.port("A"), "-g", "--all-routers", "--json"))["routers"]
    assert sorted(one["router"] for one in everywhere) == ["A", "B", "C"]
    assert re.search("Last Topology Change", routerstat(line.port("C"), "-n"))
