"""A subscriber's link against a scripted peer."""

from typing import Any

import pytest
from client.tests.joined import Joined
from client.tests.topic import Topic, TopicPeer

from mobula_client.engine import ACCEPTED, RELEASED, Error, Message, Modified, Rejected, Symbol
from mobula_client.errors import ExactlyOnceNotOffered, MessageRejected, StoreFailed, SubscriptionEnded
from mobula_client.exactly_once import Guarantee, LastingLink, MemoryStore, PublishingLink, SubscribingLink, subscribing
from mobula_client.exactly_once.names import CONTAINER, LINK
from mobula_client.links import Incoming
from mobula_client.messages import body_of, encoded, message_of


class Reader:
    """A subscriber's link, and what it was given."""

    def __init__(self, store: MemoryStore | None = None, window: int = 10) -> None:
        self.store = store or MemoryStore()
        self.given: list[Incoming] = []
        self.link = SubscribingLink(
            "news", lambda failures: float(failures), store=self.store, address="news", timeout_s=60, window=window
        )
        self.link.on_message = self.given.append

    @property
    def bodies(self) -> list[Any]:
        """The bodies of what it was given."""
        return [body_of(Message.decode(incoming.octets)) for incoming in self.given]


class World:
    """A publisher and a reader at one topic."""

    def __init__(self, window: int = 10) -> None:
        self.topic = Topic()
        self.reader = Reader(window=window)
        self.at_reader = Joined(TopicPeer(self.topic), self.reader.link)
        self.writer = PublishingLink(
            "news",
            lambda failures: float(failures),
            store=MemoryStore(),
            address="news",
            guarantee=Guarantee.EXACTLY_ONCE,
            window=50,
            timeout_s=60,
        )
        self.at_writer = Joined(TopicPeer(self.topic), self.writer)
        self.told: list[Any] = []

    def publish(self, *numbers: int) -> None:
        self.writer.put([encoded(message_of(one)) for one in numbers], [self.told.append for _ in numbers])
        self.pump()

    def pump(self) -> None:
        for _ in range(4):
            self.at_writer.pump()
            self.at_reader.pump()

    def reconnect(self) -> TopicPeer:
        """Lose the reader's connection, and make another."""
        self.at_reader.cut()
        peer = TopicPeer(self.topic)
        self.at_reader = Joined(peer, self.reader.link)
        self.pump()
        return peer


def test_a_message_is_settled_when_the_publisher_knows_and_forgotten_then() -> None:
    world = World()
    world.publish(1, 2)
    assert world.reader.bodies == [1, 2]
    assert world.told == []
    for incoming in world.reader.given:
        assert incoming.decide(ACCEPTED)
    assert len(world.reader.store.decided("news")) == 2
    world.pump()
    assert world.told == [None, None]
    assert world.reader.store.decided("news") == {}
    assert world.reader.link.decided_by_tag == {}


def test_a_message_in_hands_is_not_given_again_after_a_reconnect_and_can_be_accepted() -> None:
    world = World()
    world.publish(1)
    peer = world.reconnect()
    assert peer.attaches[0].unsettled == {}
    assert world.reader.bodies == [1]
    world.reader.given[0].decide(ACCEPTED)
    world.pump()
    assert world.told == [None]


def test_a_message_that_was_accepted_while_there_was_no_connection_is_in_the_map() -> None:
    world = World()
    world.publish(1)
    world.at_reader.cut()
    world.reader.given[0].decide(ACCEPTED)
    peer = world.reconnect()
    assert [*(peer.attaches[0].unsettled or {}).values()] == [ACCEPTED]
    assert world.told == [None]
    assert world.reader.bodies == [1]


def test_what_the_router_does_not_know_any_more_is_settled() -> None:
    world = World()
    world.publish(1)
    world.reader.given[0].decide(ACCEPTED)
    world.at_reader.pump()
    world.at_writer.pump()
    # The publisher has settled; the reader loses its connection before it hears of that.
    assert world.told == [None]
    assert len(world.reader.store.decided("news")) == 1
    world.reconnect()
    assert world.reader.store.decided("news") == {}


def test_after_all_routers_died_what_is_in_the_map_is_not_given_again() -> None:
    world = World()
    world.publish(1, 2)
    world.reader.given[0].decide(ACCEPTED)
    world.at_reader.pump()
    world.topic.forget()
    world.at_writer.cut()
    world.at_reader.cut()
    world.reader = Reader(world.reader.store)
    world.at_reader = Joined(TopicPeer(world.topic), world.reader.link)
    world.at_writer = Joined(TopicPeer(world.topic), world.writer)
    world.pump()
    assert world.reader.bodies == [2]
    world.reader.given[0].decide(ACCEPTED)
    world.pump()
    assert world.told == [None, None]
    assert world.reader.store.decided("news") == {}


def test_the_window_is_for_what_is_not_decided() -> None:
    world = World(window=2)
    world.publish(1, 2, 3, 4, 5)
    assert world.reader.bodies == [1, 2]
    world.at_writer.cut()
    for incoming in list(world.reader.given):
        incoming.decide(ACCEPTED)
    for _ in range(3):
        world.at_reader.pump()
    # Nothing is settled: other subscribers may wait for messages that come behind these.
    assert world.reader.bodies == [1, 2, 3, 4]
    assert len(world.reader.store.decided("news")) == 2


def test_what_is_resumed_leaves_credit_for_what_is_new() -> None:
    world = World(window=2)
    world.publish(1, 2, 3, 4, 5)
    world.at_writer.cut()
    # Others have not decided: nothing is settled, and the map has as much as the window, and more.
    for count in (2, 4):
        for incoming in world.reader.given[:count]:
            incoming.decide(ACCEPTED)
        world.reconnect()
    assert len(world.reader.store.decided("news")) == 4
    assert world.reader.bodies == [1, 2, 3, 4, 5]


def test_the_map_of_all_publishers_together_fits_an_attach() -> None:
    frame_size, together = 16_384, 400
    # That is a router's default, and what publishers of a topic may have unsettled together. A subscriber may have to
    # hold all of it while it waits for others.
    assert (frame_size - subscribing._ATTACH_OCTETS) // subscribing._ENTRY_OCTETS >= together


def test_the_map_stays_so_small_that_an_attach_has_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscribing, "_map_room", lambda engine: 3)
    world = World(window=2)
    world.publish(1, 2, 3, 4, 5)
    world.at_writer.cut()
    for _ in range(5):
        for incoming in list(world.reader.given):
            incoming.decide(ACCEPTED)
        world.at_reader.pump()
    assert world.reader.bodies == [1, 2, 3]
    world.at_writer = Joined(TopicPeer(world.topic), world.writer)
    world.pump()
    assert world.reader.bodies[3:] == [4, 5]


def test_a_window_of_one_does_not_stop_for_ever_after_a_reconnect() -> None:
    world = World(window=1)
    world.publish(1, 2, 3)
    for expected in ([1], [1, 2], [1, 2, 3]):
        assert world.reader.bodies == expected
        world.reconnect()
        assert world.reader.bodies == expected
        world.reader.given[-1].decide(ACCEPTED)
        world.reconnect()
        world.pump()
    assert world.told == [None] * 3


def test_a_rejected_message_stays_rejected_over_a_restart() -> None:
    world = World()
    world.publish(1)
    world.at_reader.cut()
    rejected = Rejected(error=Error(condition=Symbol("test:bad"), description="why"))
    world.reader.given[0].decide(rejected)
    world.reader = Reader(world.reader.store)
    world.at_reader = Joined(TopicPeer(world.topic), world.reader.link)
    world.pump()
    assert world.reader.bodies == []
    assert isinstance(world.told[0], MessageRejected)


def test_a_released_message_comes_again() -> None:
    world = World()
    world.publish(1)
    world.reader.given[0].decide(RELEASED)
    world.pump()
    assert world.reader.bodies == [1, 1]
    world.reader.given[1].decide(ACCEPTED)
    world.pump()
    assert world.told == [None]
    assert not world.reader.given[1].decide(Modified())


def test_work_that_is_undone_leaves_the_message_undecided() -> None:
    world = World()
    world.publish(1)
    incoming = world.reader.given[0]
    try:
        with world.reader.store.transaction():
            incoming.decide(ACCEPTED)
            raise KeyError
    except KeyError:
        world.pump()
    assert (world.told, incoming.is_decided) == ([], False)
    with world.reader.store.transaction():
        assert incoming.decide(ACCEPTED)
        world.pump()
        assert world.told == []
    world.pump()
    assert world.told == [None]


def test_a_router_that_does_not_offer_exactly_once_is_refused() -> None:
    reader = Reader()
    Joined(TopicPeer(Topic(), offers=False), reader.link)
    assert isinstance(reader.link.end, ExactlyOnceNotOffered)


def test_a_subscription_that_was_ended_is_never_a_silent_gap() -> None:
    world = World()
    (end,) = world.topic.subscribers.values()
    end.link.detach(error=Error(condition=Symbol("amqp:resource-deleted"), description="expired"))
    world.pump()
    assert isinstance(world.reader.link.end, SubscriptionEnded)
    assert "what was missed" in str(world.reader.link.end)


def test_close_leaves_the_subscription_and_unsubscribing_ends_it() -> None:
    closed: list[bool] = []

    class Noting(TopicPeer):
        def on_link_detached(self, link: Any, closed_by_peer: bool, error: Any) -> None:
            closed.append(closed_by_peer)

    for is_unsubscribing in (False, True):
        reader = Reader()
        joined = Joined(Noting(Topic()), reader.link)
        reader.store.decide("news", b"one", ACCEPTED)
        reader.link.decided_by_tag[b"one"] = ACCEPTED
        reader.link.is_unsubscribing = is_unsubscribing
        reader.link.close()
        joined.pump()
        assert reader.store.decided("news") == ({} if is_unsubscribing else {b"one": ACCEPTED})
    assert closed == [False, True]


def test_a_store_that_fails_ends_the_link() -> None:
    class Failing(MemoryStore):
        def settled(self, link: str, tags: Any) -> None:
            if [*tags]:
                raise StoreFailed("the store failed: no space")

    world = World()
    world.publish(1)
    world.reader.given[0].decide(ACCEPTED)
    world.reader.link.store = Failing()
    world.pump()
    assert isinstance(world.reader.link.end, StoreFailed)


def test_at_least_once_asks_for_a_lasting_source_and_no_map() -> None:
    peer = TopicPeer(Topic(), offers=False)
    link = LastingLink("news", lambda failures: 1.0, address="news", timeout_s=60, window=5)
    Joined(peer, link)
    (attach,) = peer.attaches
    assert (attach.source.durable, attach.source.expiry_policy, attach.source.timeout) == (2, "never", 60)
    assert (attach.unsettled, attach.desired_capabilities, attach.rcv_settle_mode) == (None, (), 0)
    assert attach.properties == {CONTAINER: "till", LINK: "news"}
    assert link.is_ready
