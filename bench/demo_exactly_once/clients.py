"""A client of the demo: `python -m bench.demo_exactly_once.clients KIND GUARANTEE NAME DATABASE URL...`.

Each client writes its work into a table that no other client uses. The same transaction keeps a message that is to be
published, or notes that a message was processed.
With at-least-once, a message is accepted after that transaction: a client that dies in between gets it again.
"""

import asyncio
import signal
import sys
from pathlib import Path

from mobula_client import Backoff, Guarantee, SqliteStore, connect

TOPIC = "prices.gold"
PUBLISHER, SUBSCRIBER = "publisher", "subscriber"
TIMEOUT_S = 300
PAUSE_S = 0.02
WINDOW = 50
"""Messages that are kept before the next one waits for an outcome."""
QUICK = Backoff(first_s=0.1, most_s=1.0)
START_WITHIN_S = 300.0
"""Three routers that start at once may take that long on a busy machine."""


async def publish(
    name: str, guarantee: Guarantee, store: SqliteStore, urls: list[str], stop: asyncio.Event
) -> None:
    """Write numbers until it is told to stop, then wait until all of them are accepted."""
    async with connect(urls, container_id=name, backoff=QUICK, connect_within_s=START_WITHIN_S) as client:
        publisher = await client.open_publisher(TOPIC, store=store, guarantee=guarantee, timeout_s=TIMEOUT_S)
        while not stop.is_set():
            if publisher.unsettled < WINDOW:
                with store.transaction() as database:
                    (number,) = database.execute("SELECT count(*) FROM written").fetchone()
                    database.execute("INSERT INTO written VALUES (?)", (number,))
                    publisher.put({"of": name, "number": number})
            await asyncio.sleep(PAUSE_S)
        await publisher.flush()
        await publisher.close()


async def subscribe(
    name: str, guarantee: Guarantee, store: SqliteStore, urls: list[str], stop: asyncio.Event
) -> None:
    """Process messages until it is told to stop."""
    async with connect(urls, container_id=name, backoff=QUICK, connect_within_s=START_WITHIN_S) as client:
        subscriber = await client.open_subscriber(TOPIC, store=store, guarantee=guarantee, timeout_s=TIMEOUT_S)
        with store.transaction() as database:
            database.execute("INSERT INTO attached VALUES (1)")
        stopping = asyncio.ensure_future(stop.wait())
        while not stop.is_set():
            receiving = asyncio.ensure_future(subscriber.receive())
            await asyncio.wait([receiving, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not receiving.done():
                receiving.cancel()
                break
            delivery = receiving.result()
            with store.transaction() as database:
                row = (delivery.body["of"], delivery.body["number"])
                database.execute("INSERT INTO processed (writer, number) VALUES (?, ?)", row)
                if guarantee is Guarantee.EXACTLY_ONCE:
                    delivery.accept()
            if guarantee is Guarantee.AT_LEAST_ONCE:
                delivery.accept()


async def main(kind: str, guarantee: Guarantee, name: str, database: str, urls: list[str]) -> None:
    """Run one client until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    store = SqliteStore(Path(database))
    with store.transaction() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS written (number INTEGER)")
        connection.execute("CREATE TABLE IF NOT EXISTS attached (at INTEGER)")
        columns = "place INTEGER PRIMARY KEY AUTOINCREMENT, writer TEXT, number INTEGER"
        connection.execute(f"CREATE TABLE IF NOT EXISTS processed ({columns})")
    await (publish if kind == PUBLISHER else subscribe)(name, guarantee, store, urls, stop)
    store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Guarantee(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:]))
