"""Links that are routed to queues of RabbitMQ, in a router and over two.

RabbitMQ refuses a link with the end of its session, and answers each detach without `closed`.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from proton import Endpoint

from bench.rabbitmq import RabbitMq, absence
from tests.interop.containers import connector, link_routes, wait_until_routed
from tests.system.conftest import meshing, running
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.system.routers import IN_PROCESS, RunningRouter, configuration, listener
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))

MANY = 400
ROUTED = "/queue"
LOST = "qd:routed-link-lost"


@pytest.fixture(scope="module")
def broker() -> Iterator[RabbitMq]:
    with RabbitMq() as broker:
        yield broker


@pytest.fixture(scope="module")
def router(broker: RabbitMq, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router whose links for queues go to a broker."""
    text = configuration(
        *(listener(), connector("broker", broker.port)),
        *link_routes("queue", "broker"),
        *link_routes("amq", "broker"),
    )
    with running(IN_PROCESS, tmp_path_factory.mktemp("router"), text) as router:
        wait_until_routed(router)
        yield router


def end_of(client: ProtonClient, link: Any) -> tuple[str, str | None]:
    """Wait for the end of a link; return the condition, and that of the container behind it."""
    client.wait_until(lambda: link.state & Endpoint.REMOTE_CLOSED, "the link is detached")
    with client.lock:
        error = link.remote_condition
        info = error.info or {}
        return str(error.name), str(info["condition"]) if "condition" in info else None


def refusal(client: ProtonClient, address: str) -> tuple[str, str | None]:
    """Attach a receiver that is refused, and return why."""
    with client.lock:
        link = client.keep(client.session().receiver(client.next_name()))
        link.source.address = address
        link.open()
        client.wake()
    return end_of(client, link)


def routed_links(*ports: int) -> list[str]:
    """The names of the halves of routed links at some routers."""
    found = []
    for port in ports:
        with ManagementClient(port) as manage:
            found += [row["linkName"] for row in manage.query("router.link") if row["peer"] is not None]
    return found


def wait_for_count(broker: RabbitMq, queue: str, count: int) -> None:
    eventually(lambda: broker.counts()[queue] == count, lambda: f"{queue}: {broker.counts()}", every_s=0.5)


def test_messages_go_into_a_queue_and_out_of_it(broker: RabbitMq, router: RunningRouter) -> None:
    with ProtonClient(router.port) as client:
        address = f"{ROUTED}/routed"
        assert {one.outcome() for one in client.producer(address).send_all(range(MANY))} == {"accepted"}
        wait_for_count(broker, "routed", MANY)
        assert client.consumer(address).wait_for(MANY) == list(range(MANY))
        wait_for_count(broker, "routed", 0)
    eventually(lambda: not routed_links(router.port), lambda: str(routed_links(router.port)))


def test_a_large_message_passes(router: RunningRouter) -> None:
    body = bytes(range(256)) * 8192
    with ProtonClient(router.port) as client:
        assert client.producer(f"{ROUTED}/large").send(body).outcome() == "accepted"
        assert client.consumer(f"{ROUTED}/large").take().body == body


def test_the_queue_hears_what_the_client_does_with_messages(broker: RabbitMq, router: RunningRouter) -> None:
    address = f"{ROUTED}/decided"
    with ProtonClient(router.port) as client:
        producer = client.producer(address)
        for body in "abc":
            assert producer.send(body).outcome() == "accepted"
        consumer = client.consumer(address, credit=1, outcome=None, is_renewed=False)
        first = consumer.take()
        assert first.body == "a"
        first.decide("released")
        consumer.grant(1)
        again = consumer.take()
        assert again.body == "a"
        again.decide("rejected")
        consumer.grant(1)
        last = consumer.take()
        assert last.body == "b"
        last.decide("accepted")
        wait_for_count(broker, "decided", 1)


def test_detaches_are_answered_closed(router: RunningRouter) -> None:
    with ProtonClient(router.port) as client:
        producer, consumer = client.producer(f"{ROUTED}/closed"), client.consumer(f"{ROUTED}/closed")
        consumer.close()
        producer.close()
        eventually(lambda: not routed_links(router.port), "nothing remains")


def test_a_refused_queue_ends_no_other_link(router: RunningRouter) -> None:
    with ProtonClient(router.port) as client, ProtonClient(router.port) as another:
        consumer = client.consumer(f"{ROUTED}/good")
        producer = another.producer(f"{ROUTED}/good")
        assert refusal(client, "/amq/queue/nowhere") == (LOST, "amqp:not-found")
        assert refusal(another, "/amq/queue/nowhere") == (LOST, "amqp:not-found")
        assert {one.outcome() for one in producer.send_all(range(10))} == {"accepted"}
        assert consumer.wait_for(10) == list(range(10))


def test_what_a_client_leaves_open_goes_back_and_ends_no_other_link(router: RunningRouter) -> None:
    with ProtonClient(router.port) as client:
        producer = client.producer(f"{ROUTED}/open")
        assert producer.send("a").outcome() == "accepted"
        with ProtonClient(router.port) as lost:
            assert lost.consumer(f"{ROUTED}/open", outcome=None).take().body == "a"
            lost.cut()
        assert client.consumer(f"{ROUTED}/open").take().body == "a"
        assert producer.send("b").outcome() == "accepted"


def test_a_broker_dies_and_comes_back(broker: RabbitMq, request: pytest.FixtureRequest) -> None:
    with meshing(IN_PROCESS, request) as mesh:
        mesh.add("A", sections=[connector("broker", broker.port), *link_routes("amq", "broker")])
        # Without these, such links would be message-routed there while no router has the container.
        mesh.add("B", "A", sections=link_routes("amq"))
        mesh.wait_joined()
        broker.declare("kept")
        clients = {name: mesh.connect(name) for name in "AB"}
        lost: list[tuple[ProtonClient, Any]] = []
        for name, client in clients.items():
            wait_until_reached(mesh.port(name), name)
            producer = client.producer("/amq/queue/kept")
            assert producer.send(name, durable=True).outcome() == "accepted"
            ends = [producer, *(client.consumer("/amq/queue/kept", credit=0) for _ in range(2))]
            lost += [(client, one.link) for one in ends]
        broker.kill()
        assert {end_of(client, link)[0] for client, link in lost} == {LOST}
        eventually(lambda: not routed_links(mesh.port("A"), mesh.port("B")), "nothing remains")
        for client in clients.values():
            assert client.is_open
            assert refusal(client, "/amq/queue/kept")[0] == "qd:no-route-to-dest"
        broker.start()
        for name, client in clients.items():
            wait_until_reached(mesh.port(name), name)
            assert client.producer("/amq/queue/kept").send(f"{name} again", durable=True).outcome() == "accepted"
        found = clients["B"].consumer("/amq/queue/kept").wait_for(4)
        assert found == ["A", "B", "A again", "B again"]


def wait_until_reached(port: int, name: str) -> None:
    """Wait until a router has the container, or knows the router that has it."""
    count = "containerCount" if name == "A" else "remoteCount"

    def is_reached() -> bool:
        with ManagementClient(port) as manage:
            rows = {row["key"]: row for row in manage.query("router.address")}
        return all(key in rows and rows[key][count] == 1 for key in ("Camq", "Damq"))

    eventually(is_reached, f"{name} reaches the container", 120.0, 0.1)
