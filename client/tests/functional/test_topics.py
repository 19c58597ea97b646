"""Publishers and subscribers with unsettled maps at real routers that have topics."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from client.tests.routers import url_of
from client.tests.running import in_a_loop
from tests.system.mesh import TWO_ACTORS, Mesh
from tests.system.routers import IN_PROCESS, Form, RunningRouter, configuration, section

from mobula_client import Backoff, MemoryStore, OutcomesUnknown, SqliteStore, Store, SubscriptionEnded, connect

QUICK = Backoff(first_s=0.05, most_s=0.5)
TOPIC = "prices.gold"
PRICES = section("address", prefix="prices", distribution="multicast", delivery="exactly-once")
HASTE = {"topicGraceSeconds": 0, "helloMaxAgeSeconds": 2}
COUNT = 300
KILLED_AT = 100
BACK_AT = 200


class Reader:
    """A subscriber that writes down what it gets, in the transaction that says so."""

    def __init__(self, name: str, urls: list[str], store: Store) -> None:
        self.name = name
        self.urls = urls
        self.store = store
        self.seen: list[str] = []
        self.is_subscribed = asyncio.Event()

    async def read(self, count: int) -> None:
        """Read so many."""
        async with connect(self.urls, container_id=self.name, backoff=QUICK) as client:
            subscriber = await client.open_subscriber(TOPIC, store=self.store, timeout_s=600)
            self.is_subscribed.set()
            while len(self.seen) < count:
                delivery = await subscriber.receive()
                self.seen.append(delivery.body)
                delivery.accept()


class Writer:
    """A publisher that waits for the outcomes of a few messages before the next."""

    def __init__(self, name: str, urls: list[str]) -> None:
        self.name = name
        self.urls = urls
        self.accepted = 0

    async def write(self, count: int) -> None:
        """Publish so many."""
        async with connect(self.urls, container_id=self.name, backoff=QUICK) as client:
            publisher = await client.open_publisher(TOPIC, store=MemoryStore())
            for first in range(0, count, 10):
                texts = [f"{self.name} {number}" for number in range(first, first + 10)]
                await asyncio.gather(*map(publisher.publish, texts))
                self.accepted += len(texts)
            await publisher.close()


async def run(readers: Sequence[Reader], writers: Sequence[Writer]) -> None:
    """Have all readers subscribe, then the writers write, until all is read."""
    async with asyncio.TaskGroup() as group:
        for reader in readers:
            group.create_task(reader.read(len(writers) * COUNT))
        for reader in readers:
            await reader.is_subscribed.wait()
        for writer in writers:
            group.create_task(writer.write(COUNT))


def check(reader: Reader, writers: Sequence[Writer]) -> None:
    """Everything came once, and in the order of its publisher."""
    for writer in writers:
        of_writer = [one for one in reader.seen if one.startswith(f"{writer.name} ")]
        assert of_writer == [f"{writer.name} {number}" for number in range(COUNT)]
    assert len(reader.seen) == len(writers) * COUNT


@pytest.mark.parametrize("form", [IN_PROCESS, TWO_ACTORS], ids=["in-process", "ray-2"])
def test_each_subscriber_of_a_router_gets_each_message_once(form: Form, tmp_path: Path) -> None:
    router = RunningRouter(tmp_path, form, configuration(PRICES, **HASTE))
    try:
        urls = [url_of(router)]
        readers = [Reader(f"reader-{number}", urls, MemoryStore()) for number in range(3)]
        writers = [Writer(f"writer-{number}", urls) for number in range(2)]
        in_a_loop(run)(readers, writers)
    finally:
        router.close()
    for reader in readers:
        check(reader, writers)


@pytest.fixture
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Three routers, each joined to the others."""

    @contextmanager
    def place(text: str) -> Iterator[RunningRouter]:
        router = RunningRouter(tmp_path_factory.mktemp("router"), IN_PROCESS, text)
        try:
            yield router
        finally:
            router.close()

    mesh = Mesh(IN_PROCESS, place, **HASTE)
    try:
        mesh.add("A", sections=[PRICES])
        mesh.add("B", "A", sections=[PRICES])
        mesh.add("C", "A", "B", sections=[PRICES])
        mesh.wait_joined()
        yield mesh
    finally:
        mesh.close()


def test_a_router_is_killed_while_messages_are_under_way(mesh: Mesh, tmp_path: Path) -> None:
    """Each client has a router of its own, and goes to another one when it dies."""
    urls = [f"amqp://127.0.0.1:{mesh.port(name)}" for name in "ABC"]
    turned = [urls[number:] + urls[:number] for number in range(3)]
    stores = [SqliteStore(tmp_path / f"{number}.db") for number in range(3)]
    readers = [Reader(f"reader-{number}", turned[number], store) for number, store in enumerate(stores)]
    writers = [Writer(f"writer-{number}", turned[number]) for number in (1, 2)]

    async def kill_and_start() -> None:
        await reached(writers, KILLED_AT)
        await asyncio.to_thread(mesh.kill, "B")
        await reached(writers, BACK_AT)
        await asyncio.to_thread(mesh.start, "B")

    @in_a_loop
    async def all_of_it() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(run(readers, writers))
            group.create_task(kill_and_start())

    all_of_it()
    for reader in readers:
        check(reader, writers)


async def reached(writers: Sequence[Writer], accepted: int) -> None:
    """Wait until that much is accepted of one writer."""
    while max(writer.accepted for writer in writers) < accepted:
        await asyncio.sleep(0.01)


@in_a_loop
async def test_a_subscriber_that_was_away_hears_that_its_subscription_has_ended(tmp_path: Path) -> None:
    prices = section(
        "address", prefix="prices", distribution="multicast", delivery="exactly-once", subscriptionTimeout=1
    )
    router = RunningRouter(tmp_path, IN_PROCESS, configuration(prices, **HASTE))
    store = SqliteStore(tmp_path / "reader.db")
    try:
        url = url_of(router)
        async with connect(url, container_id="reader") as client:
            await client.open_subscriber(TOPIC, store=store)
        # Once it has ended, nobody holds up the publisher.
        async with connect(url, container_id="writer") as client:
            publisher = await client.open_publisher(TOPIC, store=MemoryStore())
            await publisher.publish("missed")
            await publisher.close()
        async with connect(url, container_id="reader") as client:
            with pytest.raises(SubscriptionEnded):
                await client.open_subscriber(TOPIC, store=store)
            # The next one begins anew.
            await client.open_subscriber(TOPIC, store=store)
    finally:
        store.close()
        router.close()


class Ahead:
    """A clock that the test sets forward."""

    def __init__(self) -> None:
        self.by_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.by_s


@in_a_loop
async def test_clients_that_were_away_too_long_give_up_what_they_had_and_begin_anew(tmp_path: Path) -> None:
    """The router says how long that is: 100 s for the subscriber, and 210 s for the publisher."""
    prices = section(
        "address", prefix="prices", distribution="multicast", delivery="exactly-once", subscriptionTimeout=100
    )
    router = RunningRouter(tmp_path, IN_PROCESS, configuration(prices, **HASTE))
    clock = Ahead()
    kept, read = (SqliteStore(tmp_path / f"{name}.db", time=clock) for name in ("writer", "reader"))
    try:
        url = url_of(router)
        async with connect(url, container_id="reader") as client:
            await client.open_subscriber(TOPIC, store=read)
        async with connect(url, container_id="writer") as client:
            publisher = await client.open_publisher(TOPIC, store=kept)
            publisher.put("sent")
            while not kept.entries(TOPIC, 0, 1) or not publisher.link.unsettled:
                await asyncio.sleep(0.01)
            await publisher.close()
            publisher.put("not sent")
        clock.by_s = 0.6 * 210 + 5
        async with connect(url, container_id="writer") as client:
            with pytest.raises(OutcomesUnknown, match=r"0\.6 of the 210 s"):
                await client.open_publisher(TOPIC, store=kept)
            assert len(kept.refusals(TOPIC)) == 1
            publisher = await client.open_publisher(TOPIC, store=kept)
            async with connect(url, container_id="reader") as other:
                with pytest.raises(SubscriptionEnded, match=r"0\.8 of the 100 s"):
                    await other.open_subscriber(TOPIC, store=read)
                subscriber = await other.open_subscriber(TOPIC, store=read)
                delivery = await subscriber.receive()
                while delivery.body != "not sent":
                    delivery.accept()
                    delivery = await subscriber.receive()
                delivery.accept()
                await publisher.flush()
    finally:
        kept.close()
        read.close()
        router.close()
