"""A router with topics, and clients at it, on a clock of the test's own."""

from typing import Any

from routerd.core import RouterMode
from routerd.io.topics import TopicHost
from routerd.io.topics.names import AGES, ATTACH_COUNT, EXACTLY_ONCE
from routerd.topics import NodeConfig, TopicSettings
from routerd.wire import Data, Message, Source, Symbol, Target, UInt, ULong
from tests.routers import Workers

SECOND = 1


class Hosted:
    """One router of one worker, where `orders/#` are topics."""

    def __init__(self, *, mode: RouterMode = RouterMode.STANDALONE, grace_s: float = 0.0, **settings: Any) -> None:
        self.workers = Workers(mode=mode)
        config = NodeConfig(
            router_id=self.router.settings.id, incarnation=7, is_first_start=not grace_s, grace_s=grace_s
        )
        self.host = TopicHost(self.router, config, self.workers.now)
        self.host.add("orders/#", TopicSettings(**settings))
        self.workers.lines += [self.host, self.host.network.inside]
        self.pump()

    @property
    def router(self) -> Any:
        return self.workers[0].router

    def pump(self, seconds: float = 0.0) -> None:
        self.workers.pump(seconds)
        self.host.tick(self.workers.now)
        self.workers.pump()

    def counters(self, topic: str = "orders/a") -> Any:
        """What the topic counts."""
        [found] = [one for one in self.host.node.topic_counters(self.workers.now) if one.topic == topic]
        return found

    def publisher(
        self, client: Any, topic: str = "orders/a", *, count: int = 1, unsettled: Any = None, ages: Any = None
    ) -> Any:
        """A link of a client that keeps an unsettled map."""
        told = {} if ages is None else {AGES: ages}
        link = client.session.sender("publisher")
        link.attach(
            source=Source(durable=2, expiry_policy=Symbol("never")),
            target=Target(address=topic),
            snd_settle_mode=0,
            rcv_settle_mode=SECOND,
            unsettled=unsettled,
            desired_capabilities=(EXACTLY_ONCE,),
            properties={ATTACH_COUNT: ULong(count), **told},
        )
        self.pump()
        return link

    def subscriber(
        self, client: Any, topic: str = "orders/a", *, count: int = 1, credit: int = 10, unsettled: Any = None
    ) -> Any:
        """A link of a client that keeps an unsettled map."""
        link = client.session.receiver("subscriber")
        link.attach(
            source=Source(address=topic, durable=2, expiry_policy=Symbol("link-detach"), timeout=UInt(60)),
            target=Target(),
            snd_settle_mode=0,
            rcv_settle_mode=SECOND,
            unsettled=unsettled,
            desired_capabilities=(EXACTLY_ONCE,),
            properties={ATTACH_COUNT: ULong(count)},
        )
        link.grant(credit)
        self.pump()
        return link


def message(text: str) -> bytes:
    """A message with a text."""
    return bytes(Message(body=Data([text.encode()])).encode())
