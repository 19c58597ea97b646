"""Links that are routed to containers over edge routers: proton's clients and containers, and routers as processes."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from proton import Endpoint, Message
from proton.utils import BlockingConnection, SyncRequestResponse

from tests.system.broker import Broker
from tests.system.conftest import running
from tests.system.proton_client import ProtonClient
from tests.system.routers import IN_PROCESS, ONE_ACTOR, Form, RunningRouter, listener, section
from tests.waiting import eventually

TYPE = "org.apache.qpid.dispatch.router.connection.linkRoute"


def routes(*prefixes: str) -> list[str]:
    return [
        section("linkRoute", prefix=prefix, direction=direction, connection="brokers")
        for prefix in prefixes
        for direction in ("in", "out")
    ]


def text(kind: str, name: str, *sections: str) -> str:
    return "\n".join(
        [
            section("router", mode=kind, id=name, managementAccess="change"),
            section("log", module="DEFAULT", enable="info+", outputFile="stderr"),
            listener("clients"),
            listener("brokers", role="route-container"),
            *sections,
            "",
        ]
    )


class Pair:
    """An interior router and an edge router at it; `up` is routed to a container at one, `down` at the other."""

    def __init__(self, interior: RunningRouter, edge: RunningRouter) -> None:
        self.interior = interior
        self.edge = edge


@pytest.fixture(scope="module", params=[IN_PROCESS, ONE_ACTOR], ids=lambda form: form.name)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both routers, and no container."""
    form: Form = request.param
    where = ("--address", request.getfixturevalue("ray_head").address) if form.actors else ()
    with ExitStack() as stack:
        interior = stack.enter_context(
            running(
                form,
                tmp_path_factory.mktemp("interior"),
                text("interior", "I", listener("edges", role="edge"), *routes("up")),
                *where,
            )
        )
        uplink = section("connector", name="up", role="edge", host="127.0.0.1", port=interior.port_of("edges"))
        edge = stack.enter_context(
            running(form, tmp_path_factory.mktemp("edge"), text("edge", "E", uplink, *routes("down")), *where)
        )
        eventually(lambda: hangs(interior), "the edge router hangs on the interior router")
        yield Pair(interior, edge)


def ask(router: RunningRouter, body: Any, **properties: Any) -> Message:
    connection = BlockingConnection(f"127.0.0.1:{router.port_of('clients')}")
    try:
        return SyncRequestResponse(connection, "$management").call(Message(properties=properties, body=body))
    finally:
        connection.close()


def keys(router: RunningRouter) -> set[str]:
    body = {"attributeNames": ["key"]}
    about = {"operation": "QUERY", "entityType": "org.apache.qpid.dispatch.router.address"}
    return {key for [key] in ask(router, body, **about).body["results"]}


def hangs(interior: RunningRouter) -> bool:
    return "HE" in keys(interior)


@pytest.mark.parametrize(("address", "is_up"), [("up.q", True), ("down.q", False)])
def test_links_are_routed_over_an_edge_router_both_ways(pair: Pair, address: str, is_up: bool) -> None:
    at, from_ = (pair.interior, pair.edge) if is_up else (pair.edge, pair.interior)
    with (
        Broker(at.port_of("brokers"), "broker") as broker,
        ProtonClient(from_.port_of("clients"), container_id="one") as client,
    ):
        producer = routed_producer(client, broker, address)
        assert [producer.send(number).outcome() for number in range(10)] == ["accepted"] * 10
        assert broker.taken == list(range(10))
        consumer = client.consumer(address, credit=3, is_renewed=False)
        assert consumer.wait_for(3) == [f"of the container {number}" for number in range(3)]
        for name in broker.names[-2:]:
            assert "@one" in name
        broker.close()
        client.wait_until(
            lambda: producer.link.state & Endpoint.REMOTE_CLOSED and consumer.link.state & Endpoint.REMOTE_CLOSED,
            "both links are lost",
        )
        assert str(producer.link.remote_condition.name) == "qd:routed-link-lost"


def routed_producer(client: ProtonClient, broker: Broker, address: str) -> Any:
    """A link that is routed, once the router knows of the container."""
    found: list[Any] = []

    def attach() -> bool:
        try:
            found[:] = [client.producer(address)]
        except AssertionError:
            return False
        return len(broker.names) > 0

    eventually(attach, f"links of {address} are routed")
    return found[0]


def can_attach(router: RunningRouter, address: str) -> bool:
    with ProtonClient(router.port_of("clients")) as client:
        try:
            client.producer(address)
        except AssertionError:
            return False
        return True


def test_a_client_has_links_routed_to_itself(pair: Pair) -> None:
    for router, other in ((pair.interior, pair.edge), (pair.edge, pair.interior)):
        maker = Broker(router.port_of("clients"), "maker")
        try:
            replies = maker.consumer(None)
            requests = maker.producer("$management")
            about = {"operation": "CREATE", "type": TYPE, "name": "own"}
            requests.send(
                {"pattern": "own/#", "direction": "in"},
                properties=about,
                reply_to=replies.address,
                correlation_id="1",
            )
            answer = replies.take().message
            assert (answer.properties["statusCode"], answer.properties["statusDescription"]) == (201, "Created")
            assert answer.body["containerId"] == "maker"
            elsewhere = ask(router, {"attributeNames": []}, operation="QUERY", entityType=TYPE)
            assert elsewhere.body["results"] == []
            with ProtonClient(other.port_of("clients")) as client:
                producer = routed_producer(client, maker, "own.q")
                assert producer.send("to the maker").outcome() == "accepted"
                assert maker.taken == ["to the maker"]
        finally:
            maker.close()
        eventually(partial(can_attach, other, "own.q"), "the link route ends with its connection")


@pytest.mark.parametrize("address", ["up.q", "down.q"])
def test_without_a_container_links_are_refused(pair: Pair, address: str) -> None:
    with ProtonClient(pair.edge.port_of("clients")) as client:
        assert client.refused_consumer(address) == "qd:no-route-to-dest"
