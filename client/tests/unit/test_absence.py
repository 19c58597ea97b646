"""Links that were away for so long that routers may have forgotten them."""

from pathlib import Path
from typing import Any

import pytest
from client.tests.joined import Joined
from client.tests.topic import Topic, TopicPeer

from mobula_client import SqliteStore, Store, StoreFailed
from mobula_client.engine import ACCEPTED, Attach, Received
from mobula_client.errors import ClientClosed, OutcomesUnknown, SubscriptionEnded
from mobula_client.exactly_once import Guarantee, MemoryStore, PublishingLink, SubscribingLink
from mobula_client.exactly_once.names import AGES, EPOCH
from mobula_client.exactly_once.store import Presence
from mobula_client.links import Incoming
from mobula_client.messages import encoded, message_of

TIMEOUT_S = 100


class Clock:
    """The clock of a store, which the test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Writer:
    """A publisher whose messages are neither accepted nor refused."""

    def __init__(self, store: Store | None = None, window: int = 10) -> None:
        self.clock = Clock()
        self.store = store or MemoryStore(time=self.clock)
        self.topic = Topic()
        self.topic.decide = lambda _: Received(section_number=0, section_offset=0)
        self.window = window
        self.begin()

    def begin(self) -> None:
        """Begin a process."""
        self.link = PublishingLink(
            "news",
            lambda failures: float(failures),
            store=self.store,
            address="news",
            guarantee=Guarantee.EXACTLY_ONCE,
            window=self.window,
            timeout_s=TIMEOUT_S,
        )

    def connect(self) -> Attach | None:
        """Connect to the topic; return the attach if there was one."""
        self.peer = TopicPeer(self.topic)
        self.joined = Joined(self.peer, self.link)
        return self.peer.attaches[0] if self.peer.attaches else None

    def put(self, *numbers: int) -> list[Any]:
        """Put messages; return what is told of them."""
        told: list[Any] = []
        self.link.put([octets(one) for one in numbers], [told.append for _ in numbers])
        if self.link.is_ready:
            self.joined.pump()
        return told

    def away(self, seconds: float) -> None:
        """Be without a router for a while."""
        self.joined.cut()
        self.clock.now += seconds

    @property
    def left(self) -> list[bytes]:
        """What the store has to publish."""
        return [entry.octets for entry in self.store.entries("news", 0, 10)]

    @property
    def refused(self) -> list[bytes]:
        """What the application is to see to."""
        return [refusal.octets for refusal in self.store.refusals("news")]


def octets(number: int) -> bytes:
    return encoded(message_of(number))


def test_a_publisher_that_was_away_for_long_gives_up_what_it_had_sent() -> None:
    writer = Writer(window=1)
    writer.connect()
    told = writer.put(1, 2)
    writer.away(0.61 * TIMEOUT_S)
    assert writer.connect() is None
    assert isinstance(writer.link.end, OutcomesUnknown)
    for part in ("61 s", "0.6 of the 100 s", "refusals of the store", "Open the publisher again"):
        assert part in str(writer.link.end)
    assert told == [writer.link.end] * 2
    assert (writer.refused, writer.left) == ([octets(1)], [octets(2)])
    # The next one publishes what was never sent.
    writer.begin()
    attach = writer.connect()
    assert attach is not None
    assert (attach.unsettled, AGES in attach.properties) == ({}, False)
    assert writer.link.is_ready
    assert octets(2) in [record.octets for records in writer.topic.records.values() for record in records.values()]


def test_a_publisher_that_was_away_for_less_goes_on_and_tells_how_old_its_messages_are() -> None:
    writer = Writer(window=3)
    writer.connect()
    writer.put(1)
    writer.clock.now += 20.0
    writer.put(2)
    # A router that is silent for a while is counted as lost since then.
    writer.away(0.59 * TIMEOUT_S)
    writer.put(3)
    attach = writer.connect()
    assert attach is not None
    assert len(attach.unsettled or {}) == 2
    assert attach.properties[AGES] == [79_000, 59_000]
    assert writer.link.end is None


def test_what_was_never_sent_is_published_however_long_the_publisher_was_away() -> None:
    writer = Writer()
    writer.connect()
    writer.away(10.0)
    writer.put(1)
    writer.clock.now += 9 * TIMEOUT_S
    attach = writer.connect()
    assert attach is not None
    assert attach.unsettled == {}
    assert writer.link.is_ready


@pytest.mark.parametrize("is_killed", [True, False])
def test_after_a_kill_all_that_may_have_been_sent_counts_as_sent(tmp_path: Path, is_killed: bool) -> None:
    """A process that closed has left word of what it had sent; one that was killed has not."""
    clock = Clock()
    store = SqliteStore(tmp_path / "store.db", time=clock)
    writer = Writer(store)
    writer.connect()
    writer.put(1)
    if not is_killed:
        writer.link.close()
        writer.joined.pump()
        assert isinstance(writer.link.end, ClientClosed)
        writer.link.put([octets(2)])
    writer.begin()
    if is_killed:
        # As if it had died before it could send.
        store.put("news", [octets(2)])
        writer.begin()
    clock.now += TIMEOUT_S
    assert writer.connect() is None
    assert isinstance(writer.link.end, OutcomesUnknown)
    assert writer.refused == ([octets(1), octets(2)] if is_killed else [octets(1)])
    assert writer.left == ([] if is_killed else [octets(2)])
    store.close()


def test_ages_outlive_the_process(tmp_path: Path) -> None:
    clock = Clock()
    store = SqliteStore(tmp_path / "store.db", time=clock)
    writer = Writer(store)
    writer.connect()
    writer.put(1)
    clock.now += 5.5
    writer.begin()
    attach = writer.connect()
    assert attach is not None
    assert attach.properties[AGES] == [5_500]
    store.close()


def test_what_the_router_grants_counts_and_not_what_was_asked_for() -> None:
    writer = Writer()
    writer.topic.timeout_s = 10
    writer.connect()
    writer.put(1)
    writer.away(6.1)
    writer.connect()
    assert isinstance(writer.link.end, OutcomesUnknown)


def test_a_clock_that_was_set_back_is_no_proof_of_a_short_absence() -> None:
    writer = Writer()
    writer.connect()
    writer.put(1)
    writer.away(-0.61 * TIMEOUT_S)
    writer.connect()
    assert isinstance(writer.link.end, OutcomesUnknown)


def test_an_attached_link_notes_now_and_then_that_it_is_attached() -> None:
    writer = Writer()
    writer.connect()
    began = writer.clock.now
    assert writer.store.presence("news") == Presence(began, TIMEOUT_S)
    writer.clock.now += 1.5
    writer.joined.wait(1.5)
    assert writer.store.presence("news") == Presence(began, TIMEOUT_S)
    writer.clock.now += 0.5
    writer.joined.wait(0.5)
    # Nothing was heard since the beginning.
    assert writer.store.presence("news") == Presence(began, TIMEOUT_S)
    writer.put(1)
    writer.clock.now += 2.0
    writer.joined.wait(2.0)
    assert writer.store.presence("news") == Presence(began + 2.0, TIMEOUT_S)


def test_a_store_that_fails_to_note_it_ends_the_link() -> None:
    class Failing(MemoryStore):
        is_broken = False

        def keep_presence(self, link: str, presence: Presence) -> None:
            if self.is_broken:
                raise StoreFailed("the store failed: no space")
            super().keep_presence(link, presence)

    store = Failing()
    writer = Writer(store)
    writer.connect()
    store.is_broken = True
    writer.joined.wait(5.0)
    assert isinstance(writer.link.end, StoreFailed)


class Reader:
    """A subscriber, and what it was given."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = MemoryStore(time=self.clock)
        self.topic = Topic()
        self.begin()

    def begin(self) -> None:
        """Begin a link."""
        self.given: list[Incoming] = []
        self.link = SubscribingLink(
            "news", lambda failures: float(failures), store=self.store, address="news", timeout_s=TIMEOUT_S, window=5
        )
        self.link.on_message = self.given.append

    def connect(self) -> Attach | None:
        """Connect to the topic; return the attach if there was one."""
        self.peer = TopicPeer(self.topic)
        self.joined = Joined(self.peer, self.link)
        return self.peer.attaches[0] if self.peer.attaches else None

    def away(self, seconds: float) -> None:
        """Be without a router for a while."""
        self.joined.cut()
        self.clock.now += seconds


def test_a_subscriber_that_was_away_for_long_says_that_its_subscription_has_ended() -> None:
    reader = Reader()
    reader.connect()
    reader.store.decide("news", b"some tag", ACCEPTED)
    reader.away(0.81 * TIMEOUT_S)
    assert reader.connect() is None
    assert isinstance(reader.link.end, SubscriptionEnded)
    for part in ("81 s", "0.8 of the 100 s", "subscribe again"):
        assert part in str(reader.link.end)
    # The next subscription begins anew, and its map says what must not be given again.
    reader.begin()
    attach = reader.connect()
    assert attach is not None
    assert EPOCH not in attach.properties
    assert attach.unsettled == {b"some tag": ACCEPTED}
    assert reader.link.is_ready


def test_a_subscriber_that_was_away_for_less_goes_on() -> None:
    reader = Reader()
    reader.connect()
    reader.away(0.79 * TIMEOUT_S)
    attach = reader.connect()
    assert attach is not None
    assert EPOCH in attach.properties
    assert reader.link.is_ready


def test_a_new_subscription_is_none_that_could_have_ended() -> None:
    reader = Reader()
    reader.connect()
    reader.link.is_unsubscribing = True
    reader.link.close()
    reader.joined.pump()
    reader.clock.now += 9 * TIMEOUT_S
    reader.begin()
    reader.connect()
    assert reader.link.is_ready
