"""Publishers and subscribers that move between an edge router and a router of the network stay who they are."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from client.tests.running import in_a_loop
from tests.system.edge_mesh import EdgeMesh
from tests.system.routers import Form, RunningRouter, section

from mobula_client import Guarantee, MemoryStore, connect

ADDRESSES = [
    section("address", prefix="prices", distribution="multicast", delivery="exactly-once"),
    section("address", prefix="ticks", distribution="multicast", delivery="at-least-once"),
]


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeMesh]:
    """A router with topics, and an edge router at it."""

    @contextmanager
    def place(text: str, form: Form) -> Iterator[RunningRouter]:
        router = RunningRouter(tmp_path_factory.mktemp("router"), form, text)
        try:
            yield router
        finally:
            router.close()

    mesh = EdgeMesh(place, topicGraceSeconds=0, helloMaxAgeSeconds=2)
    try:
        mesh.add("A", sections=ADDRESSES)
        mesh.add_edge("E", "A")
        mesh.router_of("E", "A")
        yield mesh
    finally:
        mesh.close()


@pytest.mark.parametrize(
    ("topic", "guarantee"), [("prices.gold", Guarantee.EXACTLY_ONCE), ("ticks.gold", Guarantee.AT_LEAST_ONCE)]
)
@pytest.mark.parametrize("order", ["EA", "AE"])
def test_a_subscriber_that_moves_goes_on_with_its_subscription(
    mesh: EdgeMesh, topic: str, guarantee: Guarantee, order: str
) -> None:
    topic = f"{topic}.{order}"
    first, second = (f"amqp://127.0.0.1:{mesh.port(name)}" for name in order)
    store = MemoryStore()

    @in_a_loop
    async def move() -> None:
        async with connect(first, container_id="reader") as client:
            await client.open_subscriber(topic, store=store, guarantee=guarantee)
        async with connect(first, container_id="writer") as writer:
            publisher = await writer.open_publisher(topic, guarantee=guarantee)
            publishing = asyncio.ensure_future(publisher.publish("while it was away"))
            async with connect(second, container_id="reader") as client:
                subscriber = await client.open_subscriber(topic, store=store, guarantee=guarantee)
                delivery = await subscriber.receive()
                delivery.accept()
                await publishing
                assert delivery.body == "while it was away"
                assert names_of(mesh, "subscription", topic) == [("reader", topic)]
                await subscriber.unsubscribe()

    move()


@pytest.mark.parametrize("order", ["EA", "AE"])
def test_a_publisher_that_moves_does_not_publish_twice(mesh: EdgeMesh, order: str) -> None:
    topic = f"prices.silver.{order}"
    first, second = (f"amqp://127.0.0.1:{mesh.port(name)}" for name in order)
    store = MemoryStore()

    @in_a_loop
    async def move() -> None:
        async with connect(first, container_id="reader") as reader:
            subscriber = await reader.open_subscriber(topic)
            async with connect(first, container_id="writer") as client:
                publisher = await client.open_publisher(topic, store=store)
                publisher.put("once")
                delivery = await subscriber.receive()
            async with connect(second, container_id="writer") as client:
                publisher = await client.open_publisher(topic, store=store)
                assert names_of(mesh, "publisher", topic) == [("writer", topic)]
                delivery.accept()
                await publisher.flush()
                publisher.put("again")
                later = await subscriber.receive()
                later.accept()
                assert (delivery.body, later.body) == ("once", "again")
                await publisher.flush()

    move()


def names_of(mesh: EdgeMesh, kind: str, topic: str) -> list[tuple[str, str]]:
    """Return the containers and links that the network knows of a kind."""
    rows = mesh.query("A", f"org.mobula.{kind}")
    return [(row["container"], row["link"]) for row in rows if row["topic"] == topic]
