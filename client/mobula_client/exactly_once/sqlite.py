"""A store in an SQLite database, its own or the application's.

In the application's database, one transaction has the application's work and what the store keeps about it. So a
message is processed if and only if it counts as processed.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_bytes
from threading import RLock
from typing import Any

from mobula_client.engine import ACCEPTED, Error, Rejected
from mobula_client.errors import StoreFailed, UsageError
from mobula_client.exactly_once.store import STORE_ID_OCTETS, Entry, Presence, Refusal, Store, tag_of

_TABLES = """
CREATE TABLE IF NOT EXISTS mobula_store (id BLOB NOT NULL, container TEXT);
CREATE TABLE IF NOT EXISTS mobula_link (
    link TEXT PRIMARY KEY, attaches INTEGER NOT NULL DEFAULT 0, window INTEGER NOT NULL DEFAULT 0,
    ticket BLOB NOT NULL DEFAULT x'', heard_at REAL, timeout_s REAL, sent_upto INTEGER
);
CREATE TABLE IF NOT EXISTS mobula_outgoing (
    number INTEGER PRIMARY KEY AUTOINCREMENT, link TEXT NOT NULL, message BLOB NOT NULL, put_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS mobula_outgoing_by_link ON mobula_outgoing (link, number);
CREATE TABLE IF NOT EXISTS mobula_refused (
    number INTEGER PRIMARY KEY, link TEXT NOT NULL, message BLOB NOT NULL, reason TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS mobula_decided (
    link TEXT NOT NULL, tag BLOB NOT NULL, is_accepted INTEGER NOT NULL, condition TEXT, description TEXT,
    PRIMARY KEY (link, tag)
) WITHOUT ROWID;
"""


class SqliteStore(Store):
    """Keeps unsettled maps in tables whose names begin with `mobula_`."""

    is_durable = True

    def __init__(
        self,
        database: str | Path | sqlite3.Connection,
        *,
        token: Callable[[int], bytes] = token_bytes,
        time: Callable[[], float] = time.time,
    ) -> None:
        """Open a file, or use a connection of the application. `token` draws the id of a new store."""
        self.time = time
        self._lock = RLock()
        self._is_ours = not isinstance(database, sqlite3.Connection)
        self._afterwards: list[Callable[[], None]] = []
        self._depth = 0
        with _translated():
            self.connection = self._opened(database)
            for statement in _TABLES.split(";"):
                self.connection.execute(statement)
            self.connection.commit()
        with self._transaction() as connection:
            if connection.execute("SELECT count(*) FROM mobula_store").fetchone()[0] == 0:
                connection.execute("INSERT INTO mobula_store (id) VALUES (?)", (token(STORE_ID_OCTETS),))
        self._id: bytes = self._one("SELECT id FROM mobula_store")[0]

    @staticmethod
    def _opened(database: str | Path | sqlite3.Connection) -> sqlite3.Connection:
        if isinstance(database, sqlite3.Connection):
            return database
        connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        # What was committed survives a loss of power as well: whoever was told relies on it.
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._depth:
                # One inside another is a part of it.
                yield self.connection
                return
            with _translated():
                if self.connection.in_transaction:
                    raise UsageError("the connection has a transaction of its own; use `with store.transaction()`")
                self.connection.execute("BEGIN IMMEDIATE")
            self._depth, self._afterwards = 1, []
            try:
                yield self.connection
                with _translated():
                    self.connection.commit()
            except BaseException:
                self.connection.rollback()
                raise
            finally:
                self._depth = 0
            actions = self._afterwards
        for action in actions:
            action()

    def transaction(self) -> Any:
        """Return a context that gives the connection: what is executed on it is kept together with what we keep."""
        return self._transaction()

    def after_commit(self, action: Callable[[], None]) -> None:
        """Call a function once the transaction is on disk."""
        with self._lock:
            if self._depth:
                self._afterwards.append(action)
                return
        action()

    def bind(self, container_id: str) -> None:
        """Belong to one container: tags and counters are worth nothing under another name."""
        with self._transaction() as connection:
            (bound,) = connection.execute("SELECT container FROM mobula_store").fetchone()
            if bound is None:
                connection.execute("UPDATE mobula_store SET container = ?", (container_id,))
            elif bound != container_id:
                raise UsageError(
                    f"the store belongs to container {bound!r}, and the client is {container_id!r}. Connect with "
                    f"container_id={bound!r}, or use another database"
                )

    def next_attach(self, link: str) -> int:
        """Count an attach."""
        return self._counted(
            "INSERT INTO mobula_link (link, attaches) VALUES (?, 1) ON CONFLICT (link) "
            "DO UPDATE SET attaches = attaches + 1 RETURNING attaches",
            (link,),
        )

    def ticket(self, link: str) -> bytes:
        """Return what the router said."""
        rows = self._all("SELECT ticket FROM mobula_link WHERE link = ?", (link,))
        return bytes(rows[0][0]) if rows else b""

    def keep_ticket(self, link: str, ticket: bytes) -> None:
        """Keep what the router says."""
        self._each(
            "INSERT INTO mobula_link (link, ticket) VALUES (?, ?) ON CONFLICT (link) "
            "DO UPDATE SET ticket = excluded.ticket",
            [(link, ticket)],
        )

    def presence(self, link: str) -> Presence | None:
        """Return what was kept of the router."""
        rows = self._all(
            "SELECT heard_at, timeout_s, sent_upto FROM mobula_link WHERE link = ? AND heard_at IS NOT NULL", (link,)
        )
        return Presence(*rows[0]) if rows else None

    def keep_presence(self, link: str, presence: Presence) -> None:
        """Keep when the router was heard."""
        self._each(
            "INSERT INTO mobula_link (link, heard_at, timeout_s, sent_upto) VALUES (?, ?, ?, ?) ON CONFLICT (link) "
            "DO UPDATE SET heard_at = excluded.heard_at, timeout_s = excluded.timeout_s, "
            "sent_upto = excluded.sent_upto",
            [(link, presence.heard_at, presence.timeout_s, presence.sent_upto)],
        )

    def window_of(self, link: str, window: int) -> int:
        """Return the largest window so far."""
        return self._counted(
            "INSERT INTO mobula_link (link, window) VALUES (?, ?) ON CONFLICT (link) "
            "DO UPDATE SET window = max(window, excluded.window) RETURNING window",
            (link, window),
        )

    def put(self, link: str, messages: Sequence[bytes]) -> list[Entry]:
        """Keep messages."""
        entries = []
        now = self.time()
        with self._kept() as connection:
            for octets in messages:
                cursor = connection.execute(
                    "INSERT INTO mobula_outgoing (link, message, put_at) VALUES (?, ?, ?)", (link, octets, now)
                )
                number = cursor.lastrowid
                assert number is not None, "a row was inserted"
                entries.append(Entry(number, octets, tag_of(self._id, number), now))
        return entries

    def entries(self, link: str, after: int, most: int) -> list[Entry]:
        """Return messages in their order."""
        rows = self._all(
            "SELECT number, message, put_at FROM mobula_outgoing WHERE link = ? AND number > ? ORDER BY number LIMIT ?",
            (link, after, most),
        )
        return [Entry(number, octets, tag_of(self._id, number), put_at) for number, octets, put_at in rows]

    def forget(self, link: str, numbers: Iterable[int]) -> None:
        """Forget messages."""
        self._each("DELETE FROM mobula_outgoing WHERE number = ? AND link = ?", [(one, link) for one in numbers])

    def refuse(self, link: str, number: int, reason: str) -> None:
        """Move a message to the refusals."""
        with self._kept() as connection:
            connection.execute(
                "INSERT INTO mobula_refused SELECT number, link, message, ? FROM mobula_outgoing WHERE number = ?",
                (reason, number),
            )
            connection.execute("DELETE FROM mobula_outgoing WHERE number = ?", (number,))

    def refusals(self, link: str) -> list[Refusal]:
        """Return the refusals."""
        rows = self._all(
            "SELECT number, message, reason FROM mobula_refused WHERE link = ? ORDER BY number", (link,)
        )
        return [Refusal(*row) for row in rows]

    def forget_refusals(self, link: str, numbers: Iterable[int]) -> None:
        """Forget refusals."""
        self._each("DELETE FROM mobula_refused WHERE number = ? AND link = ?", [(one, link) for one in numbers])

    def decided(self, link: str) -> Mapping[bytes, Any]:
        """Return outcomes by tag."""
        rows = self._all(
            "SELECT tag, is_accepted, condition, description FROM mobula_decided WHERE link = ?", (link,)
        )
        return {
            tag: ACCEPTED
            if is_accepted
            else Rejected(error=condition and Error(condition=condition, description=description))
            for tag, is_accepted, condition, description in rows
        }

    def decide(self, link: str, tag: bytes, outcome: Any) -> None:
        """Keep an outcome."""
        error = outcome.error if isinstance(outcome, Rejected) else None
        row = (
            *(link, tag, not isinstance(outcome, Rejected)),
            *((None, None) if error is None else (str(error.condition), error.description)),
        )
        self._each("INSERT OR REPLACE INTO mobula_decided VALUES (?, ?, ?, ?, ?)", [row])

    def settled(self, link: str, tags: Iterable[bytes]) -> None:
        """Forget outcomes."""
        self._each("DELETE FROM mobula_decided WHERE link = ? AND tag = ?", [(link, tag) for tag in tags])

    def close(self) -> None:
        """Close the file, unless the connection is the application's."""
        if self._is_ours:
            self.connection.close()

    # --- statements

    @contextmanager
    def _kept(self) -> Iterator[sqlite3.Connection]:
        with self._transaction() as connection, _translated():
            yield connection

    def _counted(self, statement: str, values: tuple[object, ...]) -> int:
        with self._kept() as connection:
            number: int = connection.execute(statement, values).fetchone()[0]
            return number

    def _each(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        if rows:
            with self._kept() as connection:
                connection.executemany(statement, rows)

    def _all(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock, _translated():
            return self.connection.execute(statement, values).fetchall()

    def _one(self, statement: str) -> tuple[Any, ...]:
        return self._all(statement)[0]


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreFailed(f"the store failed: {error}. Check the database, and start the program again") from error
