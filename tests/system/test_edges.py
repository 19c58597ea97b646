"""Edge routers: their clients reach everybody, an uplink is lost and another takes over, very many at one router."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

import pytest

from routerd.wire import AmqpValue, Close, Message, Symbol
from tests.system.conftest import Manage, running
from tests.system.edge_mesh import PATIENT, EdgeMesh, RawEdge
from tests.system.launched import routerstat
from tests.system.load import Load, LoadConsumer, LoadProducer
from tests.system.mesh import To
from tests.system.routers import ONE_ACTOR, Form, RunningRouter
from tests.system.test_large_messages import MIB, Checksum, checksum_of, large
from tests.waiting import WITHIN_S, eventually

KINDS = ("closest", "balanced", "multicast")
SILENCE_S = 8.0
EDGE_COUNT = 100
GROWTH_MAX = 8 * MIB
LARGE = 5 * MIB


@contextmanager
def edging(request: pytest.FixtureRequest, **options: int) -> Iterator[EdgeMesh]:
    """Let routers and edge routers be started, and see to their end."""
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")

    @contextmanager
    def place(text: str, form: Form) -> Iterator[RunningRouter]:
        where = ("--address", request.getfixturevalue("ray_head").address) if form.actors else ()
        with running(form, factory.mktemp("router"), text, *where) as router:
            yield router

    mesh = EdgeMesh(place, **options)
    try:
        yield mesh
    finally:
        mesh.close()


@pytest.fixture(scope="module")
def joined(request: pytest.FixtureRequest) -> Iterator[EdgeMesh]:
    """A and B, joined; E hangs on A, and has B in reserve; F hangs on B."""
    with edging(request, idle_timeout_s=4) as mesh:
        mesh.add("A")
        mesh.add("B", "A")
        mesh.wait_joined("A", "B")
        mesh.add_edge("E", To("A", is_proxied=True), To("B", is_proxied=True))
        mesh.add_edge("F", "B")
        yield mesh


@pytest.fixture
def network(joined: EdgeMesh) -> Iterator[EdgeMesh]:
    """All of them, E at A."""
    at_a, at_b = joined.proxy("E", "A"), joined.proxy("E", "B")
    at_a.heal()
    if not joined.hangs("E", "A"):
        at_b.refuse()
    joined.wait_hanging("E", "A")
    at_b.heal()
    joined.wait_hanging("F", "B")
    eventually(lambda: _reserves(joined) == {"B"}, "E has B in reserve")
    yield joined
    joined.close_clients()


@pytest.fixture(scope="module")
def with_ray(joined: EdgeMesh) -> EdgeMesh:
    """They, and R on Ray at A."""
    joined.add_edge("R", "A", form=ONE_ACTOR)
    joined.wait_hanging("R", "A")
    return joined


def _reserves(mesh: EdgeMesh) -> set[str]:
    rows = [row for row in mesh.query("E", "connection") if row["role"] == "edge"]
    assert len(rows) <= 2
    return {row["container"] for row in rows} - {"A"}


def check_all(mesh: EdgeMesh, start: str, end: str, address: str) -> None:
    """Send to a consumer with and without an address of the link, and check outcomes."""
    consumer = mesh.connect(end).consumer(address)
    producer = mesh.connect(start).producer(address)
    assert Counter(one.outcome() for one in producer.send_all(range(20))) == {"accepted": 20}
    anonymous = mesh.connect(start).producer(None)
    assert anonymous.send("to", address=address).outcome() == "accepted"
    assert consumer.bodies == [*range(20), "to"]


def check_calls(mesh: EdgeMesh, start: str, end: str, address: str) -> None:
    """Ask, and have an answer come to a dynamic address."""
    asking, answering = mesh.connect(start), mesh.connect(end)
    requests, answers = answering.consumer(address), asking.consumer(None)
    place = "_edge" if start in "EFR" else "_topo/0"
    assert answers.address.startswith(f"amqp:/{place}/{start}/temp.")
    replying = answering.producer(None)
    calling = asking.producer(address)
    for number in range(10):
        sent = calling.send(number, reply_to=answers.address, correlation_id=number)
        asked = requests.take().message
        replied = replying.send(asked.body * 2, address=asked.reply_to, correlation_id=asked.correlation_id)
        assert replied.outcome() == "accepted"
        answer = answers.take().message
        assert (answer.correlation_id, answer.body, sent.outcome()) == (number, 2 * number, "accepted")


# --- messages


@pytest.mark.parametrize(("start", "end"), [("E", "F"), ("A", "E"), ("E", "B")])
def test_messages_and_calls_pass(network: EdgeMesh, address: str, start: str, end: str) -> None:
    for kind in KINDS:
        check_all(network, start, end, f"{kind}.{address}")
    check_calls(network, start, end, address)


def test_so_they_do_with_an_edge_router_on_ray(with_ray: EdgeMesh, network: EdgeMesh, address: str) -> None:
    assert len(with_ray.routers["R"].serving()) == 1
    for start, end in (("R", "F"), ("B", "R")):
        for kind in KINDS:
            check_all(network, start, end, f"{kind}.{start}.{address}")
        check_calls(network, start, end, f"{start}.{address}")


def test_large_messages_pass_while_they_are_coming(network: EdgeMesh, address: str) -> None:
    arrived, expected = Checksum(), checksum_of(LARGE)
    network.connect("F").consumer(address, sink=arrived)
    begun = network.connect("E").producer(address).begin()
    for chunk in large(LARGE):
        begun.write(chunk)
    eventually(lambda: arrived.octets > LARGE // 2, "it arrives before its end is sent")
    begun.end()
    assert begun.sent.outcome() == "accepted"
    assert (arrived.octets, arrived.value) == (expected.octets, expected.value)


# --- management


def test_all_routers_answer_for_themselves_from_everywhere(network: EdgeMesh, manage_at: Manage) -> None:
    modes = {"E": "edge", "F": "edge", "A": "interior", "B": "interior"}
    for start in "EFAB":
        for name, mode in modes.items():
            place = "_edge" if mode == "edge" else "_topo/0"
            [row] = manage_at(network.port(start), f"{place}/{name}/$management").query("router")
            assert (row["id"], row["mode"]) == (name, mode)
        assert [row["id"] for row in manage_at(network.port(start)).query("router")] == [start]


def test_routerstat_shows_an_edge_router_here_and_there(network: EdgeMesh) -> None:
    for arguments in ((network.port("E"), "E"), (network.port("F"), "F", "-d", "E")):
        general = routerstat(network.port(str(arguments[1])), "-g", *map(str, arguments[2:]))
        assert re.search(r"Mode +edge", general)
        assert re.search(r"Router Id +E$", general, re.MULTILINE)
    connections = routerstat(network.port("A"), "-c")
    assert re.search(r"\bE\b.*\bedge\b", connections)
    assert re.search(r"\bE\b", routerstat(network.port("A"), "-e"))
    for flag in ("-c", "-l", "-a", "-m"):
        assert routerstat(network.port("E"), flag)
    told = json.loads(routerstat(network.port("B"), "-g", "-d", "E", "--json"))["routers"]
    assert [one["router"] for one in told] == ["E"]


def test_connections_of_edge_routers_are_shown_at_both_ends(network: EdgeMesh) -> None:
    at_edge = {row["container"]: row for row in network.query("E", "connection") if row["role"] == "edge"}
    assert {name: (row["dir"], row["opened"]) for name, row in at_edge.items()} == {
        "A": ("out", True),
        "B": ("out", True),
    }
    assert {name: row["active"] for name, row in at_edge.items()} == {"A": True, "B": False}
    at_router = [row for row in network.query("A", "connection") if (row["role"], row["container"]) == ("edge", "E")]
    assert [row["dir"] for row in at_router] == ["in"]
    connectors = {row["name"]: row["connectionStatus"] for row in network.query("E", "connector")}
    assert connectors == {"A": "SUCCESS", "B": "SUCCESS"}


def test_consumers_at_an_edge_router_are_consumers_of_its_router(network: EdgeMesh, address: str) -> None:
    consumer = network.connect("E").consumer(address)
    network.connect("B").producer(address)
    network.wait_known(address, "B", "A")
    consumer.close()
    network.wait_known(address, "B")
    assert f"M0{address}" not in network.keys("A") | network.keys("E")


# --- losses


def loaded(mesh: EdgeMesh, address: str, producers: str, consumers: str) -> Load:
    load = Load(0, address, producers=0, consumers=0)
    load.producers = [LoadProducer(f"p{at}", mesh.port(name), f"{address}.{at}") for at, name in enumerate(producers)]
    load.consumers = [LoadConsumer(f"c{at}", mesh.port(name), f"{address}.{at}") for at, name in enumerate(consumers)]
    load.start()
    return load


def check(load: Load) -> None:
    """End, and hold that no promise was broken, and nobody was disconnected."""
    load.stop()
    assert load.check()["accepted"] > 50
    assert {party.connections for party in load.parties} == {1}


@pytest.mark.parametrize("how", ["refuse", "stall"])
def test_clients_of_an_edge_router_go_on_over_another_uplink(network: EdgeMesh, address: str, how: str) -> None:
    load = loaded(network, address, "EEFAE", "FAEEE")
    getattr(network.proxy("E", "A"), how)()
    network.wait_hanging("E", "B")
    load.wait_for_progress()
    network.proxy("E", "A").heal()
    load.wait_for_progress()
    check(load)


def test_without_any_uplink_clients_of_the_edge_router_have_each_other(network: EdgeMesh, address: str) -> None:
    far, near = f"far.{address}", f"near.{address}"
    away = network.connect("F").consumer(far)
    network.connect("E").consumer(near)
    producers = {one: network.connect("E").producer(one) for one in (far, near)}
    assert {one: producer.send("before").outcome() for one, producer in producers.items()} == {
        far: "accepted",
        near: "accepted",
    }
    for router in "AB":
        network.proxy("E", router).refuse()
    producers[far].wait_for_no_credit()
    assert producers[near].send("meanwhile").outcome() == "accepted"
    anonymous = network.connect("E").producer(None)
    assert anonymous.send("lost", address=far).outcome() == "released"
    assert anonymous.send("found", address=near).outcome() == "accepted"
    for router in "AB":
        network.proxy("E", router).heal()
    assert producers[far].send("after").outcome() == "accepted"
    assert away.bodies == ["before", "after"]


def test_a_router_dies_and_its_edge_router_goes_to_another(request: pytest.FixtureRequest, address: str) -> None:
    with edging(request, idle_timeout_s=4) as mesh:
        mesh.add("A")
        mesh.add("B", "A")
        mesh.wait_joined()
        mesh.add_edge("E", "A", "B")
        first = mesh.router_of("E", "A", "B")
        other = "AB".replace(first, "")
        load = loaded(mesh, address, f"E{other}E", f"{other}EE")
        mesh.kill(first)
        mesh.wait_hanging("E", other)
        load.wait_for_progress()
        mesh.start(first)
        mesh.wait_joined("A", "B")
        load.wait_for_progress()
        check(load)


def test_an_edge_router_dies_and_comes_back(request: pytest.FixtureRequest, address: str) -> None:
    with edging(request, idle_timeout_s=4) as mesh:
        mesh.add("A")
        mesh.add_edge("E", "A")
        mesh.wait_hanging("E", "A")
        consumer = mesh.connect("A").consumer(address)
        producer = mesh.connect("A").producer(f"back.{address}")
        mesh.connect("E").consumer(f"back.{address}")
        assert producer.send("one").outcome() == "accepted"
        mesh.kill("E")
        producer.wait_for_no_credit()
        eventually(lambda: mesh.keys("A") & {"HE", f"M0back.{address}"} <= {f"M0back.{address}"}, "A forgets E")
        mesh.start("E")
        mesh.wait_hanging("E", "A")
        assert mesh.connect("E").producer(address).send("two").outcome() == "accepted"
        mesh.connect("E").consumer(f"back.{address}")
        assert producer.send("three").outcome() == "accepted"
        assert consumer.bodies == ["two"]
        assert mesh.end("E") == 0


def test_an_edge_router_that_ends_in_order_loses_nothing(request: pytest.FixtureRequest, address: str) -> None:
    with edging(request) as mesh:
        mesh.add("A")
        mesh.add_edge("E", "A")
        mesh.wait_hanging("E", "A")
        consumer = mesh.connect("A").consumer(address, outcome=None)
        producer = mesh.connect("E").producer(address)
        sent = producer.send_all(range(10))
        received = [consumer.take() for _ in range(10)]
        mesh.routers["E"].launcher.terminate()
        producer.wait_for_no_credit()
        for one in received:
            one.decide("accepted")
        assert Counter(one.outcome() for one in sent) == {"accepted": 10}
        assert mesh.routers.pop("E").launcher.wait(WITHIN_S) == 0


# --- very many, and silent ones


def raw_edges(mesh: EdgeMesh, count: int, at_exit: ExitStack, *, beats: bool = False) -> list[RawEdge]:
    edges = []
    for number in range(count):
        edge = at_exit.enter_context(RawEdge(mesh.port("A", PATIENT), f"X{number}"))
        edges.append(edge.hang(f"edges.{number}", "edges.all", beats=beats))
    return edges


def of_raw_edges(mesh: EdgeMesh, name: str = "A") -> set[str]:
    return {key for key in mesh.keys(name) if key.startswith(("HX", "M0edges."))}


def test_very_many_edge_routers_are_forgotten_when_they_have_left(network: EdgeMesh) -> None:
    [process] = network.routers["A"].serving()
    memory = []
    for _ in range(4):
        with ExitStack() as at_exit:
            raw_edges(network, EDGE_COUNT, at_exit)
            assert len(of_raw_edges(network)) == 2 * EDGE_COUNT + 1
        for name in "AB":
            eventually(lambda: of_raw_edges(network, name) == set(), "nothing is left of them")  # noqa: B023
        memory.append(process.rss_bytes())
    # At first, memory is taken that is used again later.
    assert memory[-1] - memory[1] < GROWTH_MAX
    rows = [row["container"] for row in network.query("A", "connection") if row["role"] == "edge"]
    assert {*rows} <= {"E", "R"}


def test_each_of_very_many_gets_its_message(network: EdgeMesh) -> None:
    with ExitStack() as at_exit:
        edges = raw_edges(network, EDGE_COUNT, at_exit)
        client = network.connect("F")
        producer = client.producer(None)
        # B knows the last one as soon as all.
        last = edges[-1]
        network.wait_hanging(last.id, "A")
        sent = [producer.send(edge.id, address=f"_edge/{edge.id}/a", settled=True) for edge in edges]
        assert len(sent) == EDGE_COUNT
        for edge in edges:
            message = Message.decode(edge.payload())
            assert message.body == AmqpValue(edge.id)
            assert message.message_annotations == {
                Symbol("x-opt-qd.ingress"): "0/B",
                Symbol("x-opt-qd.trace"): ["0/B", "0/A"],
            }


def test_an_edge_router_that_is_silent_is_told_so_and_cut_off_and_no_other(network: EdgeMesh, address: str) -> None:
    consumer = network.connect("E").consumer(address)
    with ExitStack() as at_exit:
        silent, heard = raw_edges(network, 2, at_exit, beats=True)
        begun = time.monotonic()
        beats = count()

        def is_cut_off() -> bool:
            heard.beat(next(beats))
            return "HX0" not in network.keys("A")

        eventually(is_cut_off, "the silent one is cut off", every_s=0.5)
        assert time.monotonic() - begun > SILENCE_S - 1
        [close] = [one for one in silent.rest() if isinstance(one, Close)]
        assert str(close.error.condition) == "amqp:connection:forced"
        assert "_$qd.edge_heartbeat" in close.error.description
        assert "Lost heartbeat from edge router X0 at 127.0.0.1:" in network.routers["A"].log()
        assert "HX1" in network.keys("A")
        heard.beat(next(beats))
    assert network.connect("F").producer(address).send("one").outcome() == "accepted"
    assert consumer.bodies == ["one"]
    assert network.hangs("E", "A")
