"""What topics take of memory: a delivery that is held for subscribers, and a subscription that another router has."""

import gc
import sys
import tracemalloc
from collections.abc import Callable

from routerd.topics import (
    ClientName,
    Grant,
    NodeConfig,
    PublisherAttach,
    Send,
    SendCopies,
    SubscriberAttach,
    TopicNode,
    TopicSettings,
)

RECORDS = 5000
MESSAGE = 100
TOPICS, SUBSCRIPTIONS = 1000, 10_000
TIMEOUT_S = 60.0
NOW = 1.0


def _node(id: str, settings: TopicSettings) -> TopicNode:
    return TopicNode(NodeConfig(router_id=id, incarnation=1, is_first_start=True), lambda topic: settings, NOW)


class Pair:
    """Two routers; what the first one says arrives when it is asked for."""

    def __init__(self, settings: TopicSettings) -> None:
        self.first = _node("A", settings)
        self.second = _node("B", settings)
        self.copies: list[SendCopies] = []
        self.credit = 0

    def meet(self) -> None:
        """Let them come into reach, up to what the first one then tells."""
        self.first.reach("B", NOW)
        self.second.reach("A", NOW)
        for data in self.told():
            self.second.receive("A", data, NOW)
        self.answer()

    def told(self) -> list[bytes]:
        """Return what the first one tells the second one; note the rest."""
        effects = self.first.take(NOW)
        self.copies += [effect for effect in effects if isinstance(effect, SendCopies)]
        self.credit += sum(effect.credit for effect in effects if isinstance(effect, Grant))
        return [effect.data for effect in effects if isinstance(effect, Send)]

    def answer(self) -> None:
        """Let the first one hear the second one."""
        for effect in self.second.take(NOW):
            if isinstance(effect, Send):
                self.first.receive("B", effect.data, NOW)


def record_octets(records: int = RECORDS) -> float:
    """Return the octets of a delivery that a router holds for three subscribers, without the message."""
    settings = TopicSettings(
        is_exactly_once=False,
        subscription_timeout_s=TIMEOUT_S,
        unsettled_max=2 * records,
        unsettled_per_publisher_max=2 * records,
    )
    pair = Pair(settings)
    for link in range(3):
        _subscribe(pair.second, "news", link, ClientName("reader", f"s{link}"))
    pair.meet()
    pair.first.attach_publisher("news", 9, PublisherAttach(name=ClientName("writer", "p")), NOW)
    sent = 0
    while sent < records:
        for data in pair.told():
            pair.second.receive("A", data, NOW)
        pair.answer()
        for _ in range(pair.credit):
            sent += 1
            pair.first.publish(9, sent.to_bytes(8, "big"), bytes(MESSAGE), MESSAGE, NOW)
        pair.credit = 0
    pair.told()
    gc.collect()

    def take() -> None:
        for copies in pair.copies:
            payloads = [bytes(bytearray(payload)) for payload in copies.payloads]
            pair.second.receive_copies(copies.header, payloads, [MESSAGE] * len(payloads), NOW)
        pair.second.take(NOW)

    return _growth(take) / pair.second.topics["news"].host.held - bytes(MESSAGE).__sizeof__()


def subscription_octets(topics: int = TOPICS, subscriptions: int = SUBSCRIPTIONS) -> float:
    """Return the octets of a subscription at a router that it is not attached to, without its names in one text."""
    pair = Pair(TopicSettings(subscription_timeout_s=TIMEOUT_S))
    for number in range(topics):
        # The other router has the topics, each with one subscription.
        _subscribe(pair.second, f"topic.{number}", number, ClientName("own", "s"))
    names = [ClientName(f"container-{number}", f"link-{number}") for number in range(subscriptions)]
    for number, name in enumerate(names):
        _subscribe(pair.first, f"topic.{number % topics}", number, name)
    pair.meet()
    told = pair.told()

    def take() -> None:
        for data in told:
            pair.second.receive("A", data, NOW)
        pair.second.take(NOW)

    octets = _growth(take)
    known = sum(len(topic.directory.subscriptions) for topic in pair.second.topics.values()) - topics
    return (octets - sum(sys.getsizeof("".join(name)) for name in names)) / known


def _subscribe(node: TopicNode, topic: str, link: int, name: ClientName) -> None:
    node.attach_subscriber(topic, link, SubscriberAttach(name=name, timeout_s=TIMEOUT_S, credit=0), NOW)


def _growth(work: Callable[[], None]) -> int:
    """Return the octets that are there after some work, and were not before."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
