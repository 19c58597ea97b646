"""Publish readings of a meter. Each is kept in a file until it is accepted, over restarts of this program.

Run it as `python examples/publish.py amqp://localhost 3`, again and again. `examples/subscribe.py` prints the readings.
"""

import asyncio
import sys

from mobula_client import Guarantee, SqliteStore, connect


async def main(url: str, count: int, file: str) -> None:
    """Take readings, and publish each of them."""
    store = SqliteStore(file)
    async with connect(url, container_id="meter-1") as client:
        publisher = await client.open_publisher("multicast.readings", store=store, guarantee=Guarantee.AT_LEAST_ONCE)
        with store.transaction() as database:
            database.execute("CREATE TABLE IF NOT EXISTS reading (number INTEGER)")
        for _ in range(count):
            # The reading is in the table if and only if it will be published.
            with store.transaction() as database:
                (number,) = database.execute("SELECT count(*) FROM reading").fetchone()
                database.execute("INSERT INTO reading VALUES (?)", (number,))
                publisher.put({"meter": 1, "reading": number})
        await publisher.flush()
        print(f"published {count} readings")
        await publisher.close()
    store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "meter.db"))
