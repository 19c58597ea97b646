"""A program that publishes or subscribes with a file, until it is killed: `killed_program.py ROLE URL FILE COUNT`."""

import sqlite3
import sys

from mobula_client import Backoff, SqliteStore
from mobula_client.blocking import Client, connect

QUICK = Backoff(first_s=0.01, most_s=0.05)


def publish(client: Client, store: SqliteStore, count: int) -> None:
    """Publish the numbers below `count` that were not published yet, each together with a note of it."""
    publisher = client.open_publisher("topic", store=store, window=4)
    while True:
        with store.transaction() as database:
            (number,) = database.execute("SELECT count(*) FROM done").fetchone()
            if number == count:
                break
            database.execute("INSERT INTO done VALUES (?)", (number,))
            publisher.put(number)
    publisher.flush()


def subscribe(client: Client, store: SqliteStore) -> None:
    """Write down each number, together with its acceptance."""
    for delivery in client.open_subscriber("topic", store=store, window=4):
        with store.transaction() as database:
            database.execute("INSERT INTO done VALUES (?)", (delivery.body,))
            delivery.accept()


def done(file: str) -> list[int]:
    """Return what a program has noted in its file."""
    connection = sqlite3.connect(file, timeout=60)
    try:
        return [number for (number,) in connection.execute("SELECT number FROM done ORDER BY rowid")]
    except sqlite3.OperationalError:
        # The program has not begun.
        return []
    finally:
        connection.close()


def main(role: str, url: str, file: str, count: int) -> None:
    """Run one of the two."""
    store = SqliteStore(file)
    with store.transaction() as database:
        database.execute("CREATE TABLE IF NOT EXISTS done (number INTEGER)")
    with connect(url, container_id=role, backoff=QUICK) as client:
        if role == "writer":
            publish(client, store, count)
        else:
            subscribe(client, store)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
