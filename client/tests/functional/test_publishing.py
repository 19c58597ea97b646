"""Publishers and subscribers at a real router, whose multicast addresses offer at-least-once."""

import asyncio
from pathlib import Path

import pytest
from client.tests.routers import MULTICAST
from client.tests.running import in_a_loop
from tests.system.proxy import Proxy
from tests.system.routers import RunningRouter

from mobula_client import (
    Backoff,
    Client,
    ClientClosed,
    ExactlyOnceNotOffered,
    Guarantee,
    SqliteStore,
    Subscriber,
    UsageError,
    connect,
)

QUICK = Backoff(first_s=0.01, most_s=0.05)
AT_LEAST_ONCE = Guarantee.AT_LEAST_ONCE


@pytest.fixture
def topic(address: str) -> str:
    return f"{MULTICAST}.{address}"


async def subscribed(client: Client, topic: str, *names: str) -> list[Subscriber]:
    return [await client.open_subscriber(topic, name=name, guarantee=AT_LEAST_ONCE) for name in names]


@in_a_loop
async def test_each_subscriber_gets_each_message(url: str, topic: str) -> None:
    async with connect(url) as client:
        readers = await subscribed(client, topic, "one", "two")
        publisher = await client.open_publisher(topic, guarantee=AT_LEAST_ONCE)
        published = [asyncio.create_task(publisher.publish(number)) for number in range(20)]
        for reader in readers:
            for number in range(20):
                delivery = await reader.receive()
                assert delivery.body == number
                delivery.accept()
        await asyncio.gather(*published)
        assert publisher.unsettled == 0


@in_a_loop
async def test_publish_waits_for_every_subscriber(url: str, topic: str) -> None:
    async with connect(url) as client:
        quick, slow = await subscribed(client, topic, "quick", "slow")
        publisher = await client.open_publisher(topic, guarantee=AT_LEAST_ONCE)
        published = asyncio.create_task(publisher.publish("one"))
        (await quick.receive()).accept()
        delivery = await slow.receive()
        assert not published.done()
        delivery.accept()
        await published


@in_a_loop
async def test_nothing_is_lost_while_connections_are_cut(
    router: RunningRouter, url: str, topic: str, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "outbox.db")
    seen: list[int] = []
    with Proxy(router.port) as proxy:
        async with (
            connect(url) as reading,
            connect(f"amqp://127.0.0.1:{proxy.port}", container_id="writer", backoff=QUICK) as writing,
        ):
            (reader,) = await subscribed(reading, topic, "one")

            async def read() -> None:
                async for delivery in reader:
                    seen.append(delivery.body)
                    delivery.accept()

            reads = asyncio.create_task(read())
            publisher = await writing.open_publisher(topic, store=store, guarantee=AT_LEAST_ONCE)
            for start in range(0, 60, 20):
                published = [asyncio.create_task(publisher.publish(start + number)) for number in range(20)]
                await asyncio.wait(published, return_when=asyncio.FIRST_COMPLETED)
                proxy.cut()
                await asyncio.gather(*published)
            assert store.entries(topic, 0, 10) == []
            await reader.close()
            await reads
    assert sorted(set(seen)) == list(range(60))
    store.close()


@in_a_loop
async def test_another_process_publishes_what_is_left_in_the_store(url: str, topic: str, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "outbox.db")
    async with connect(url, container_id="writer") as client:
        publisher = await client.open_publisher(topic, store=store, guarantee=AT_LEAST_ONCE)
        await publisher.close()
    # Nobody is connected: the messages are only kept.
    publisher.put("one")
    publisher.put("two")
    store.close()
    again = SqliteStore(tmp_path / "outbox.db")
    async with connect(url, container_id="writer") as client:
        (reader,) = await subscribed(client, topic, "one")
        publisher = await client.open_publisher(topic, store=again, guarantee=AT_LEAST_ONCE)
        for expected in ("one", "two"):
            delivery = await reader.receive()
            assert delivery.body == expected
            delivery.accept()
        await publisher.flush()
    assert again.entries(topic, 0, 10) == []
    again.close()


@in_a_loop
async def test_nothing_is_put_where_it_would_be_lost(url: str, topic: str) -> None:
    async with connect(url) as client:
        publisher = await client.open_publisher(topic, guarantee=AT_LEAST_ONCE)
        await publisher.close()
        with pytest.raises(ClientClosed):
            publisher.put("late")
        with pytest.raises(ClientClosed):
            await publisher.publish("late")


@in_a_loop
async def test_exactly_once_is_refused_by_a_router_without_it(url: str, topic: str) -> None:
    async with connect(url) as client:
        with pytest.raises(ExactlyOnceNotOffered, match="AT_LEAST_ONCE"):
            await client.open_publisher(topic)
        with pytest.raises(ExactlyOnceNotOffered, match="delivery: exactly-once"):
            await client.open_subscriber(topic)


@in_a_loop
async def test_a_durable_store_needs_a_container_that_stays(url: str, topic: str, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "outbox.db")
    async with connect(url) as client:
        with pytest.raises(UsageError, match="container_id="):
            await client.open_publisher(topic, store=store)
    store.close()


@in_a_loop
async def test_a_message_that_was_cancelled_is_published_all_the_same(url: str, topic: str) -> None:
    async with connect(url) as client:
        (reader,) = await subscribed(client, topic, "one")
        publisher = await client.open_publisher(topic, guarantee=AT_LEAST_ONCE)
        published = asyncio.create_task(publisher.publish("one"))
        delivery = await reader.receive()
        published.cancel()
        delivery.accept()
        await publisher.flush()
        assert delivery.body == "one"
        await reader.unsubscribe()
