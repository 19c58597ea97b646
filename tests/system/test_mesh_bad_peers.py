"""Neighbours that are wrong are refused or passed over, with a line in the log; nobody else notices."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from routerd.io.routing.control_messages import encoded
from routerd.mesh import ControlMessage
from routerd.wire import AmqpValue, Detach, Message, Properties, Released, Source, Symbol, Target, encode
from tests.system.conftest import meshing
from tests.system.mesh import Mesh
from tests.system.proton_links import Consumer, Producer
from tests.system.raw_client import RawClient
from tests.system.raw_router import COMMON, DATA_OUT, TO_NEIGHBOURS, RawRouter
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


@pytest.fixture
def peer(pair: Mesh, request: pytest.FixtureRequest) -> Iterator[RawRouter]:
    """Another neighbour of A, until it is no more."""
    with RawRouter(pair.port("A", "routers"), f"X{abs(hash(request.node.name)) % 10_000}") as peer:
        peer.join()
        yield peer


def connections(mesh: Mesh, name: str) -> list[str]:
    return [row["container"] for row in mesh.query(name, "connection") if row["role"] == "inter-router"]


def wait_logged(mesh: Mesh, name: str, pattern: str) -> None:
    router = mesh.routers[name]
    eventually(lambda: re.search(pattern, router.log()), f"{pattern} is logged")


def termini(capability: str) -> dict[str, Any]:
    capabilities = (Symbol(capability),)
    return {"source": Source(capabilities=capabilities), "target": Target(capabilities=capabilities)}


# --- who it is


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


@pytest.mark.parametrize("capability", ["qd.router", "qd.router-data"])
def test_a_client_is_no_router(pair: Mesh, capability: str) -> None:
    with RawClient(pair.port("A")) as client:
        client.open()
        client.attach_consumer(None, handle=0, **termini(capability))
        assert client.wait_for_error(Detach) == "qd:forbidden"
        client.attach_producer(None, handle=1, **termini(capability))
        assert client.wait_for_error(Detach) == "qd:forbidden"
        client.attach_producer("somewhere", handle=2)
    assert connections(pair, "A") == ["B"]


def test_a_client_at_the_port_for_routers_is_refused_its_links(pair: Mesh) -> None:
    with RawClient(pair.port("A", "routers")) as client:
        client.open()
        client.attach_producer("somewhere", handle=0)
        assert client.wait_for_error(Detach) == "qd:connection-role"
        client.attach_consumer("somewhere", handle=1)
        assert client.wait_for_error(Detach) == "qd:connection-role"
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


# --- what it tells

GARBAGE = {
    "nothing": b"",
    "octets": bytes(range(256)),
    "a-cut-section": b"\0Sp\xc0\xff",
    "no-body": encode(["HELLO"]),
    "a-message": bytes(Message(properties=Properties(to=TO_NEIGHBOURS), body=AmqpValue("HELLO")).encode()),
}


@pytest.mark.parametrize("octets", GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_control_message_is_ignored_and_logged(pair: Mesh, peer: RawRouter, octets: bytes) -> None:
    peer.become_neighbour("A")
    logged = pair.routers["A"].log().count("(warning)")
    peer.tell_octets(octets)
    peer.wait_taken("A")
    assert pair.reached("A") == {"B": 1, peer.id: 1}
    new = pair.routers["A"].log().split("(warning)")[logged + 1 :]
    assert [line for line in new if "Control message of [C" in line]


BODIES = {
    "no-id": ("HELLO", {"id": None}),
    "a-bad-id": ("HELLO", {"id": "with/slash"}),
    "seen-is-text": ("HELLO", {"seen": "A"}),
    "seen-has-numbers": ("HELLO", {"seen": [1, 2]}),
    "instance-is-true": ("HELLO", {"instance": True}),
    "no-sequence": ("RA", {"instance": 1, "mobile_seq": 1}),
    "negative-sequence": ("RA", {"instance": 1, "ls_seq": -1, "mobile_seq": 1}),
    "sequence-is-text": ("RA", {"instance": 1, "ls_seq": "1", "mobile_seq": 1}),
    "no-links": ("LSU", {"instance": 1, "ls_seq": 9}),
    "links-are-a-list": ("LSU", {"instance": 1, "ls_seq": 9, "ls": []}),
    "cost-is-text": ("LSU", {"instance": 1, "ls_seq": 9, "ls": {"id": "X", "ls_seq": 9, "peers": {"A": "1"}}}),
    "cost-is-negative": ("LSU", {"instance": 1, "ls_seq": 9, "ls": {"id": "X", "ls_seq": 9, "peers": {"A": -1}}}),
    "no-have": ("MAR", {}),
    "both-kinds": ("MAU", {"mobile_seq": 1, "exist": ["M0a"], "add": ["M0b"], "del": []}),
    "neither-kind": ("MAU", {"mobile_seq": 1}),
    "addresses-are-text": ("MAU", {"mobile_seq": 1, "exist": "M0a"}),
}
PLACES = {"HELLO": TO_NEIGHBOURS, "MAR": "amqp:/_topo/0/A/qdrouter.ma", "MAU": "_topo/0/all/qdrouter.ma"}


@pytest.mark.parametrize(("opcode", "body"), BODIES.values(), ids=BODIES)
def test_a_malformed_control_message_is_ignored_and_logged(
    pair: Mesh, peer: RawRouter, opcode: str, body: dict[str, Any]
) -> None:
    peer.become_neighbour("A")
    to = PLACES.get(opcode, "amqp:/_topo/0/A/qdrouter")
    own = f"0/{peer.id}"
    whole = {"id": peer.id, **COMMON, "instance": 1, "seen": ["A"]} | body
    if opcode != "HELLO":
        del whole["seen"]
    peer.tell_octets(encoded(ControlMessage(to, opcode, whole, own, (own,))))
    wait_logged(pair, "A", rf"\(warning\) a malformed {opcode} came on trunk \d+")
    peer.wait_taken("A")
    assert pair.reached("A") == {"B": 1, peer.id: 1}
    assert pair.nodes("A")[peer.id]["linkState"] == []


def test_a_neighbour_with_our_id_is_none(pair: Mesh) -> None:
    with RawRouter(pair.port("A", "routers"), "A") as twin:
        twin.join()
        twin.greet("A")
        wait_logged(pair, "A", r"\(warning\) another router has the id A, too; it is at the other end of trunk \d+")
        assert pair.reached("A") == {"B": 1}


def test_a_neighbour_of_another_version_is_none(pair: Mesh, peer: RawRouter) -> None:
    peer.greet("A", pv=2)
    wait_logged(pair, "A", rf"\(warning\) .*{peer.id}.*version")
    assert pair.reached("A") == {"B": 1}


def test_a_neighbour_that_tells_the_links_of_another_is_not_believed(pair: Mesh, peer: RawRouter) -> None:
    peer.become_neighbour("A")
    peer.answer_links("A", 99, {}, ls={"id": "B", "area": "0", "ls_seq": 99, "peers": {peer.id: 1}})
    wait_logged(pair, "A", rf"\(warning\) router {peer.id} told the links of B")
    assert pair.nodes("A")["B"]["linkState"] == ["A"]
    assert pair.reached("A") == {"B": 1, peer.id: 1}


def test_a_neighbour_that_says_that_the_link_costs_another_price_is_remarked_on(pair: Mesh, peer: RawRouter) -> None:
    peer.become_neighbour("A")
    peer.advertise(5)
    peer.hear("LSR")
    peer.answer_links("A", 5, {"A": 7})
    eventually(lambda: pair.nodes("A")[peer.id]["linkState"] == ["A"], "its links are known")
    assert pair.reached("A")[peer.id] == 1

    def is_logged() -> bool:
        peer.greet("A")
        return f"the link to router {peer.id} costs 1, and from there 7" in pair.routers["A"].log()

    eventually(is_logged, "the difference is logged")


def test_a_sequence_that_goes_back_changes_nothing(pair: Mesh, peer: RawRouter) -> None:
    peer.become_neighbour("A")
    peer.advertise(5)
    peer.hear("LSR")
    peer.answer_links("A", 5, {"A": 1, "Far": 2})
    eventually(lambda: pair.reached("A").get("Far") == 3, "its links are known")
    peer.answer_links("A", 4, {"A": 1})
    peer.wait_taken("A")
    assert pair.reached("A")["Far"] == 3


def test_addresses_that_are_none_are_not_learnt(pair: Mesh, peer: RawRouter) -> None:
    peer.become_neighbour("A")
    keys = ["M0good", "Lqdhello", "T", "", "M" + "x" * 10_000]
    peer.tell("MAU", "amqp:/_topo/0/A/qdrouter.ma", mobile_seq=1, exist=keys, hints=[0] * len(keys))
    wait_logged(pair, "A", rf"\(warning\) 4 addresses of router {peer.id} are ignored")
    producer = pair.connect("A").producer("good")
    producer.wait_for_credit()


# --- what it sends on


def on_its_way(address: str, **annotations: Any) -> bytes:
    message = Message(
        message_annotations={Symbol(f"x-opt-qd.{key}"): value for key, value in annotations.items()},
        properties=Properties(to=address),
        body=AmqpValue("one"),
    )
    return bytes(message.encode())


WRONG = {
    "trace-is-text": {"trace": "0/X"},
    "trace-has-numbers": {"trace": [1]},
    "ingress-is-a-number": {"ingress": 1},
    "to-is-a-number": {"to": 1},
    "phase-is-text": {"phase": "1"},
}


@pytest.mark.parametrize("annotations", WRONG.values(), ids=WRONG)
def test_a_message_with_annotations_that_are_wrong_is_rejected(
    pair: Mesh, peer: RawRouter, address: str, annotations: dict[str, Any]
) -> None:
    pair.connect("B").consumer(address)
    number = peer.transfer(on_its_way(address, **annotations), handle=DATA_OUT)
    state = peer.outcomes(1)[number]
    assert state.error.condition == "amqp:invalid-field"


def test_a_message_that_has_passed_too_many_routers_is_released(pair: Mesh, peer: RawRouter, address: str) -> None:
    peer.become_neighbour("A")
    consumer = pair.connect("B").consumer(address)
    pair.connect("A").producer(address).wait_for_credit()
    trace = [f"0/{peer.id}"]
    there = peer.transfer(on_its_way(address, trace=trace, ingress=trace[0]), handle=DATA_OUT)
    lost = peer.transfer(on_its_way(address, trace=trace * 9, ingress=trace[0]), handle=DATA_OUT)
    states = peer.outcomes(2)
    assert isinstance(states[lost], Released)
    assert consumer.wait_for(1) == ["one"]
    assert not isinstance(states[there], Released)
