"""A publisher's link against a scripted peer."""

from typing import Any

import pytest
from client.tests.joined import Joined
from client.tests.topic import Topic, TopicPeer

from mobula_client.engine import ACCEPTED, RELEASED, Attach, Error, Received, Rejected, Symbol
from mobula_client.errors import (
    ClientError,
    ExactlyOnceNotOffered,
    LinkEnded,
    LinkStolen,
    MessageRejected,
    MessageReleased,
    MessageTooLarge,
    OutcomesUnknown,
    StoreFailed,
    UnsettledMapTooLarge,
)
from mobula_client.exactly_once import Guarantee, MemoryStore, PublishingLink
from mobula_client.exactly_once.names import AGES, ATTACH_COUNT, CONTAINER, LINK
from mobula_client.exactly_once.position import rest_of
from mobula_client.messages import encoded, message_of


def a_store() -> MemoryStore:
    return MemoryStore(token=lambda octets: b"\x07" * octets, time=lambda: 1.0)


def a_link(store: MemoryStore, guarantee: Guarantee = Guarantee.EXACTLY_ONCE, window: int = 10) -> PublishingLink:
    return PublishingLink(
        "news",
        lambda failures: float(failures),
        store=store,
        address="news",
        guarantee=guarantee,
        window=window,
        timeout_s=60,
    )


def octets(number: int) -> bytes:
    return encoded(message_of(number))


def put(link: PublishingLink, *numbers: int) -> list[ClientError | str | None]:
    """Publish, and return what becomes of each, `waiting` before it is known."""
    told: list[ClientError | str | None] = ["waiting"] * len(numbers)

    def note(at: int) -> Any:
        return lambda error: told.__setitem__(at, error)

    link.put([octets(number) for number in numbers], [note(at) for at in range(len(numbers))])
    return told


class PlainPeer(TopicPeer):
    """A router that answers each message as it is told."""

    def __init__(self, *answers: Any, limit: int = 0) -> None:
        super().__init__(Topic(), offers=False)
        self.answers = list(answers)
        self.limit = limit
        self.seen: list[tuple[bytes, bytes]] = []
        self.link: Any = None

    def on_link_attached(self, link: Any, performative: Attach) -> None:
        self.attaches.append(performative)
        self.link = link
        link.attach(source=performative.source, target=performative.target, max_message_size=self.limit)
        link.grant(10)

    def on_transfer(self, receiver: Any, delivery: Any, data: bytes | bytearray, start: int, end: int) -> None:
        self.seen.append((delivery.tag, bytes(data[start:end])))
        if self.answers:
            delivery.update(self.answers.pop(0), True)

    def on_link_detached(self, link: Any, closed: bool, error: Any) -> None:
        self.link = None


def test_the_attach_names_the_guarantee_the_count_and_the_map() -> None:
    store, topic = a_store(), Topic()
    link = a_link(store)
    peer = TopicPeer(topic)
    joined = Joined(peer, link)
    (attach,) = peer.attaches
    assert attach.desired_capabilities == ("mobula:exactly-once",)
    assert attach.properties == {ATTACH_COUNT: 1001, CONTAINER: "till", LINK: "news"}
    assert (attach.snd_settle_mode, attach.rcv_settle_mode, attach.unsettled) == (0, 1, {})
    for terminus in (attach.source, attach.target):
        assert (terminus.durable, terminus.expiry_policy, terminus.timeout) == (2, "never", 60)
    topic.decide = lambda _: Received(section_number=0, section_offset=0)
    put(link, 1, 2)
    joined.pump()
    joined.cut()
    peer = TopicPeer(topic)
    Joined(peer, link)
    (attach,) = peer.attaches
    assert attach.properties == {ATTACH_COUNT: 1002, CONTAINER: "till", LINK: "news", AGES: [0, 0]}
    tags = [b"\x07" * 8 + number.to_bytes(8, "big") for number in (1, 2)]
    assert attach.unsettled == dict.fromkeys(tags)


def test_a_message_is_forgotten_before_it_is_settled() -> None:
    store, topic = a_store(), Topic()
    link = a_link(store)
    kept_when_settled: list[int] = []

    class Watching(TopicPeer):
        def on_disposition(self, delivery: Any) -> None:
            if delivery.remote_settled:
                kept_when_settled.append(len(store.entries("news", 0, 10)))
            super().on_disposition(delivery)

    joined = Joined(Watching(topic), link)
    told = put(link, 1, 2, 3)
    joined.pump()
    assert told == [None, None, None]
    assert kept_when_settled == [0, 0, 0]
    assert link.is_idle


def test_a_router_that_does_not_offer_exactly_once_is_refused() -> None:
    link = a_link(a_store())
    told = put(link, 1)
    Joined(TopicPeer(Topic(), offers=False), link)
    assert isinstance(link.end, ExactlyOnceNotOffered)
    assert told == [link.end]
    assert len(link.store.entries("news", 0, 10)) == 1


def test_an_attach_that_is_not_the_latest_loses_the_link() -> None:
    topic = Topic()
    older, newer = a_link(a_store()), a_link(a_store())
    newer.store.next_attach("news")
    Joined(TopicPeer(topic), newer)
    Joined(TopicPeer(topic), older)
    assert isinstance(older.end, LinkStolen)
    assert newer.is_ready


def test_no_more_than_a_window_is_sent_undecided_and_the_rest_follows() -> None:
    topic = Topic()
    link = a_link(a_store(), window=2)
    topic.decide = lambda _: Received(section_number=0, section_offset=0)
    joined = Joined(TopicPeer(topic), link)
    told = put(link, *range(5))
    joined.pump()
    assert topic.unsettled == 2
    joined.cut()
    topic.decide = lambda _: None
    Joined(TopicPeer(topic), link)
    assert told == [None] * 5


def test_the_window_of_an_earlier_process_still_counts() -> None:
    store = a_store()
    assert a_link(store, window=8).window == 8
    assert a_link(store, window=2).window == 8


def test_a_rejected_message_is_told_to_who_waits_and_kept_if_nobody_does() -> None:
    store, topic = a_store(), Topic()
    topic.decide = lambda _: Rejected(error=Error(condition=Symbol("test:bad"), description="why"))
    link = a_link(store)
    joined = Joined(TopicPeer(topic), link)
    told = put(link, 1)
    link.put([octets(2)])
    joined.pump()
    (error,) = told
    assert isinstance(error, MessageRejected)
    (refusal,) = store.refusals("news")
    assert refusal.octets == octets(2)
    assert "test:bad: why" in refusal.reason
    store.forget_refusals("news", [refusal.number])
    assert store.refusals("news") == []
    assert link.is_idle


def test_a_released_message_of_exactly_once_is_not_accepted() -> None:
    topic = Topic()
    topic.decide = lambda _: RELEASED
    link = a_link(a_store())
    joined = Joined(TopicPeer(topic), link)
    told = put(link, 1)
    joined.pump()
    assert isinstance(told[0], MessageReleased)


def test_at_least_once_sends_released_messages_again_after_a_while_and_before_later_ones() -> None:
    link = a_link(a_store(), Guarantee.AT_LEAST_ONCE)
    peer = PlainPeer(RELEASED, RELEASED, ACCEPTED, ACCEPTED)
    joined = Joined(peer, link)
    told = put(link, 1, 2)
    joined.pump()
    assert [message for _, message in peer.seen] == [octets(1), octets(2)]
    assert joined.endpoint.next_deadline() == 1.0
    joined.wait(1.0)
    assert [message for _, message in peer.seen] == [octets(1), octets(2)] * 2
    assert told == [None, None]
    assert joined.endpoint.next_deadline() == float("inf")


def test_at_least_once_attaches_without_a_map_and_sends_what_is_undecided_again() -> None:
    link = a_link(a_store(), Guarantee.AT_LEAST_ONCE)
    peer = PlainPeer()
    joined = Joined(peer, link)
    told = put(link, 1, 2)
    joined.pump()
    joined.cut()
    assert told == ["waiting", "waiting"]
    again = PlainPeer(ACCEPTED, ACCEPTED)
    Joined(again, link)
    assert again.attaches[0].unsettled is None
    assert again.seen == peer.seen
    assert told == [None, None]


def test_a_message_that_is_too_large_is_not_sent() -> None:
    link = a_link(a_store(), Guarantee.AT_LEAST_ONCE)
    peer = PlainPeer(ACCEPTED, limit=100)
    joined = Joined(peer, link)
    told: list[Any] = []
    link.put([b"x" * 101, octets(2)], [told.append, told.append])
    joined.pump()
    assert isinstance(told[0], MessageTooLarge)
    assert told[1:] == [None]
    assert len(peer.seen) == 1


def test_a_map_that_does_not_fit_the_frames_of_the_router_is_said() -> None:
    link, topic = a_link(a_store(), window=100), Topic()
    topic.decide = lambda _: Received(section_number=0, section_offset=0)
    joined = Joined(TopicPeer(topic), link)
    put(link, *range(100))
    joined.pump()
    joined.cut()
    Joined(TopicPeer(topic, max_frame_size=512), link)
    assert isinstance(link.end, UnsettledMapTooLarge)
    assert "smaller window" in str(link.end)


def test_a_publisher_that_was_given_up_says_that_outcomes_are_unknown() -> None:
    store, topic = a_store(), Topic()
    topic.decide = lambda _: Received(section_number=0, section_offset=0)
    link = a_link(store, window=1)
    joined = Joined(TopicPeer(topic), link)
    told = put(link, 1, 2)
    joined.pump()
    (end,) = topic.publishers.values()
    end.link.detach(error=Error(condition=Symbol("amqp:resource-deleted"), description="expired"))
    joined.pump()
    assert isinstance(link.end, OutcomesUnknown)
    assert told == [link.end, link.end]
    # What was sent is not sent again; what waited in the store is not concerned.
    assert [(one.octets, "expired" in one.reason) for one in store.refusals("news")] == [(octets(1), True)]
    assert [entry.octets for entry in store.entries("news", 0, 10)] == [octets(2)]


def test_the_end_of_an_address_is_no_reason_to_give_up_what_may_come_twice() -> None:
    store = a_store()
    link = a_link(store, Guarantee.AT_LEAST_ONCE)
    peer = PlainPeer()
    joined = Joined(peer, link)
    put(link, 1)
    joined.pump()
    peer.link.detach(error=Error(condition=Symbol("amqp:resource-deleted"), description="no queue"))
    joined.pump()
    assert isinstance(link.end, LinkEnded)
    assert not isinstance(link.end, OutcomesUnknown)
    assert [entry.octets for entry in store.entries("news", 0, 10)] == [octets(1)]


def test_a_link_that_is_closed_with_nothing_undecided_is_ended_and_else_left() -> None:
    class Noting(PlainPeer):
        closed: bool | None = None

        def on_link_detached(self, link: Any, closed: bool, error: Any) -> None:
            self.closed = closed

    for answers, expected in (([ACCEPTED], True), ([], False)):
        link = a_link(a_store(), Guarantee.AT_LEAST_ONCE)
        peer = Noting(*answers)
        joined = Joined(peer, link)
        put(link, 1)
        joined.pump()
        link.close()
        joined.pump()
        assert peer.closed is expected


def test_a_store_that_fails_ends_the_link_and_settles_nothing() -> None:
    class Failing(MemoryStore):
        is_broken = False

        def forget(self, link: str, numbers: Any) -> None:
            if self.is_broken:
                raise StoreFailed("the store failed: no space")
            super().forget(link, numbers)

    store, topic = Failing(), Topic()
    link = a_link(store)
    joined = Joined(TopicPeer(topic), link)
    store.is_broken = True
    told = put(link, 1)
    joined.pump()
    assert isinstance(link.end, StoreFailed)
    assert told == [link.end]
    assert topic.unsettled == 1


@pytest.mark.parametrize(
    ("state", "rest"),
    [
        (None, b"\x00\x53\x72\xc1\x01\x00\x00\x53\x77\x54\x05"),
        (Received(section_number=0, section_offset=0), b"\x00\x53\x72\xc1\x01\x00\x00\x53\x77\x54\x05"),
        (Received(section_number=0, section_offset=4), b"\x01\x00\x00\x53\x77\x54\x05"),
        (Received(section_number=1, section_offset=0), b"\x00\x53\x77\x54\x05"),
        (Received(section_number=1, section_offset=3), b"\x54\x05"),
        (Received(section_number=2, section_offset=0), b""),
        (Received(section_number=9, section_offset=0), b""),
    ],
)
def test_a_resumed_message_goes_on_where_the_receiver_stopped(state: Any, rest: bytes) -> None:
    assert rest_of(b"\x00\x53\x72\xc1\x01\x00\x00\x53\x77\x54\x05", state) == rest
