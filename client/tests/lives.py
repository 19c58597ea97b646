"""Programs that publish and subscribe, run without sockets, and killed between any two steps.

A step is a statement of the store, a commit, or octets that are carried. A `Life` is one program over all its
processes: what it has in SQLite outlives a kill, and nothing else does.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from client.tests.topic import Topic, TopicPeer

from mobula_client.engine import ACCEPTED, AnonymousClient, ConnectionConfig, Message, SaslClient
from mobula_client.errors import ConnectionFailed
from mobula_client.exactly_once import Guarantee, PublishingLink, SqliteStore, SubscribingLink
from mobula_client.links import Endpoint, Incoming, RecoverableLink
from mobula_client.messages import body_of, encoded, message_of

WINDOW = 3
PATIENCE = 3
"""Turns that a subscriber takes for a message."""


class Killed(BaseException):
    """The process is gone."""


class Fuse:
    """Counts steps, and kills the program that takes one of those that were chosen."""

    def __init__(self, kills: frozenset[int] = frozenset()) -> None:
        self.kills = kills
        self.steps = 0

    def step(self) -> None:
        """Take a step, or die."""
        self.steps += 1
        if self.steps in self.kills:
            raise Killed


class FusedStore(SqliteStore):
    """A store whose program may die before a transaction, within it, and behind it."""

    def __init__(self, connection: sqlite3.Connection, fuse: Fuse, token: Callable[[int], bytes]) -> None:
        self._fuse = Fuse()
        super().__init__(connection, token=token)
        self._fuse = fuse

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._depth:
            yield self.connection
            return
        self._fuse.step()
        with super()._transaction() as connection:
            yield connection
            self._fuse.step()
        self._fuse.step()


class Life:
    """A program: its database, and the process that runs now."""

    def __init__(self, name: str, folder: Path, topic: Topic, fuse: Fuse) -> None:
        self.name, self.topic, self.fuse = name, topic, fuse
        self.file = folder / f"{name}.db"
        self.deaths = 0
        self.is_cut = False
        self.link: RecoverableLink | None = None
        self.endpoint: Endpoint | None = None
        self.peer: TopicPeer | None = None
        self.store: FusedStore | None = None

    def work(self) -> bool:
        """Begin what is to be begun and carry octets; return whether anything moved. A kill ends the process."""
        try:
            return self._work()
        except Killed:
            self.deaths += 1
            self._drop_connection()
            if self.store is not None:
                self.store.connection.close()
            self.store = self.link = None
            return True

    def cut(self) -> None:
        """Have the connection cut; the process lives on."""
        self.is_cut = True

    def _work(self) -> bool:
        if self.is_cut:
            self.is_cut = False
            endpoint = self._drop_connection()
            if endpoint is not None:
                endpoint.transport_closed("it was cut")
        if self.store is None:
            self.store = FusedStore(_database(self.file), self.fuse, lambda octets: self.name.encode().ljust(octets))
        if self.link is None:
            self.fuse.step()
            self.link = self.begin(self.store)
        if self.endpoint is None or self.endpoint.is_over:
            self._drop_connection()
            self._connect(self.link)
        moved = self.act()
        return self._carry() or moved

    def _drop_connection(self) -> Endpoint | None:
        endpoint, peer, self.endpoint, self.peer = self.endpoint, self.peer, None, None
        if peer is not None:
            peer.connection.transport_closed()
        return endpoint

    def _connect(self, link: RecoverableLink) -> None:
        config = ConnectionConfig(container_id=self.name)
        sasl = SaslClient([AnonymousClient()])
        self.peer = TopicPeer(self.topic)
        self.endpoint = Endpoint("router", config, sasl, {"link": link}, _Host())
        self.peer.connection.start(0.0)
        self.endpoint.start(0.0)

    def _carry(self) -> bool:
        assert self.endpoint is not None, "it is connected"
        assert self.peer is not None, "both ends are there"
        up = bytes(self.endpoint.take_output(0.0))
        self.fuse.step()
        if up:
            self.peer.connection.receive_data(up, 0.0)
        down = bytes(self.peer.connection.data_to_send(0.0))
        self.fuse.step()
        if down:
            self.endpoint.receive(down, 0.0)
        if self.endpoint.next_deadline() <= 0.0:
            self.endpoint.tick(0.0)
        return bool(up or down)

    # --- for the two kinds

    def begin(self, store: FusedStore) -> RecoverableLink:
        """Return the link of a new process."""
        raise NotImplementedError

    def act(self) -> bool:
        """Do something of the application's work; return whether there was any."""
        return False

    def rows(self, statement: str) -> list[Any]:
        """Return what the application has in its tables."""
        with sqlite3.connect(self.file) as connection:
            return [row[0] for row in connection.execute(statement)]


class PublisherLife(Life):
    """Publishes the numbers below `count`, each in one transaction with a note that it did."""

    def __init__(self, name: str, folder: Path, topic: Topic, fuse: Fuse, count: int) -> None:
        super().__init__(name, folder, topic, fuse)
        self.count = count

    def begin(self, store: FusedStore) -> RecoverableLink:
        store.connection.execute("CREATE TABLE IF NOT EXISTS published (number INTEGER)")
        store.connection.commit()
        return PublishingLink(
            "news",
            lambda failures: 0.0,
            store=store,
            address="news",
            guarantee=Guarantee.EXACTLY_ONCE,
            window=WINDOW,
            timeout_s=60,
        )

    def act(self) -> bool:
        assert isinstance(self.link, PublishingLink), "it was begun"
        assert self.store is not None, "it was opened"
        number: int = self.store.connection.execute("SELECT count(*) FROM published").fetchone()[0]
        if number == self.count:
            return False
        with self.store.transaction() as connection:
            connection.execute("INSERT INTO published VALUES (?)", (number,))
            self.link.put([encoded(message_of(number))])
        return True


class SubscriberLife(Life):
    """Writes down each number that it is given, in one transaction with its acceptance.

    It is slow, so that it has messages in its hands in most turns.
    """

    def begin(self, store: FusedStore) -> RecoverableLink:
        store.connection.execute("CREATE TABLE IF NOT EXISTS processed (number INTEGER)")
        store.connection.commit()
        self.left: list[Incoming] = []
        self.patience = 0
        link = SubscribingLink(
            "news", lambda failures: 0.0, store=store, address="news", timeout_s=60, window=WINDOW
        )
        link.on_message = self.left.append
        return link

    def act(self) -> bool:
        if not self.left:
            return False
        self.patience += 1
        if self.patience % PATIENCE:
            return True
        assert self.store is not None, "it was begun"
        incoming = self.left.pop(0)
        with self.store.transaction() as connection:
            connection.execute("INSERT INTO processed VALUES (?)", (number_of(incoming.octets),))
            incoming.decide(ACCEPTED)
        return True


def number_of(octets: bytes) -> int:
    """Return the number that a message is about."""
    return int(body_of(Message.decode(octets)))


def run_until_quiet(lives: list[Life], meanwhile: Callable[[int], None] = lambda turn: None) -> None:
    """Let all programs work until none has anything to do."""
    for turn in range(5000):
        meanwhile(turn)
        # Every program works in every turn.
        moved = [life.work() for life in lives]
        if True not in moved:
            return
    raise AssertionError("the programs never come to rest")


def _database(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file)
    # Kills are of the process, not of the machine.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = MEMORY")
    return connection


class _Host:
    def on_output(self) -> None:
        """Output is taken in every turn."""

    def on_ready(self) -> None:
        """Links attach by themselves."""

    def on_over(self, reason: ConnectionFailed | None) -> None:
        """The next turn connects again."""
