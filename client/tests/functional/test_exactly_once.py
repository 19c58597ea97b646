"""Exactly-once with sockets, SQLite and both faces, against scripted peers at two ports."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack
from pathlib import Path

from client.tests.running import in_a_loop
from client.tests.topic import Topic
from client.tests.topic_server import TopicServer

from mobula_client import Backoff, Client, SqliteStore, Subscriber, connect
from mobula_client.blocking import connect as connect_blocking

QUICK = Backoff(first_s=0.01, most_s=0.05)
COUNT = 40


async def reader_of(stack: AsyncExitStack, urls: list[str], name: str, store: SqliteStore) -> Subscriber:
    client: Client = await stack.enter_async_context(connect(urls, container_id=name, backoff=QUICK))
    return await client.open_subscriber("topic", store=store, window=5)


async def read(subscriber: Subscriber, store: SqliteStore) -> None:
    with store.transaction() as database:
        database.execute("CREATE TABLE IF NOT EXISTS processed (number INTEGER)")
    async for delivery in subscriber:
        with store.transaction() as database:
            database.execute("INSERT INTO processed VALUES (?)", (delivery.body,))
            delivery.accept()


def processed(file: Path) -> list[int]:
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT number FROM processed ORDER BY rowid").fetchall()
    connection.close()
    return [number for (number,) in rows]


@in_a_loop
async def test_messages_are_processed_once_while_connections_are_cut_and_routers_change(tmp_path: Path) -> None:
    topic = Topic()
    files = [tmp_path / "one.db", tmp_path / "two.db"]
    stores = [SqliteStore(file) for file in files]
    outbox = SqliteStore(tmp_path / "outbox.db")
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(TopicServer(topic)) for _ in range(2)]
        urls = [server.url for server in servers]
        subscribers = [
            await reader_of(stack, urls, f"reader-{number}", store) for number, store in enumerate(stores)
        ]
        reading = [
            asyncio.create_task(read(subscriber, store))
            for subscriber, store in zip(subscribers, stores, strict=True)
        ]
        writer = await stack.enter_async_context(connect(urls, container_id="writer", backoff=QUICK))
        publisher = await writer.open_publisher("topic", store=outbox, window=8)
        for start in range(0, COUNT, 10):
            published = [asyncio.create_task(publisher.publish(start + number)) for number in range(10)]
            await asyncio.wait(published, return_when=asyncio.FIRST_COMPLETED)
            for server in servers:
                server.cut()
            await asyncio.gather(*published)
        # The last settlements reach the subscribers.
        while any(store.decided("topic") for store in stores):
            await asyncio.sleep(0.001)
        for subscriber in subscribers:
            await subscriber.close()
        await asyncio.gather(*reading)
    assert [processed(file) for file in files] == [list(range(COUNT))] * 2
    assert (outbox.entries("topic", 0, 10), topic.unsettled) == ([], 0)
    for store in (*stores, outbox):
        store.close()


@in_a_loop
async def test_a_program_goes_on_where_the_one_before_it_stopped(tmp_path: Path) -> None:
    topic = Topic()
    files = [tmp_path / "reader.db", tmp_path / "outbox.db"]
    async with TopicServer(topic) as server:
        for run in range(3):
            store, outbox = SqliteStore(files[0]), SqliteStore(files[1])
            async with AsyncExitStack() as stack:
                subscriber = await reader_of(stack, [server.url], "reader", store)
                writer = await stack.enter_async_context(connect(server.url, container_id="writer"))
                publisher = await writer.open_publisher("topic", store=outbox)
                reading = asyncio.create_task(read(subscriber, store))
                # Some are left undecided when the program ends.
                for number in range(10):
                    publisher.put(10 * run + number)
                await publisher.publish(10 * run + 10) if run == 2 else await asyncio.sleep(0)
                await subscriber.close()
                await reading
            store.close()
            outbox.close()
    assert processed(files[0]) == list(range(31))


@in_a_loop
async def test_the_blocking_face_keeps_work_and_acceptance_together(tmp_path: Path) -> None:
    async with TopicServer(Topic()) as server:
        await asyncio.to_thread(_work_in_a_thread, server.url, tmp_path)


def _work_in_a_thread(url: str, folder: Path) -> None:
    store = SqliteStore(folder / "all.db")
    with connect_blocking(url, container_id="all") as client:
        subscriber = client.open_subscriber("topic", store=store)
        publisher = client.open_publisher("topic", store=store)
        with store.transaction() as database:
            database.execute("CREATE TABLE work (number INTEGER)")
            publisher.put(1)
            publisher.put(2)
        for expected in (1, 2):
            delivery = subscriber.receive(30)
            assert delivery.body == expected
            with store.transaction() as database:
                database.execute("INSERT INTO work VALUES (?)", (delivery.body,))
                assert delivery.accept()
        publisher.flush()
        publisher.close()
        subscriber.unsubscribe()
    assert store.connection.execute("SELECT number FROM work").fetchall() == [(1,), (2,)]
    assert (store.entries("topic", 0, 10), store.decided("topic")) == ([], {})
    store.close()
