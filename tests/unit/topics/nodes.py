"""Nodes that are joined in memory: what one sends arrives at once, unless the two are parted."""

from dataclasses import dataclass
from typing import Any

from routerd.topics import (
    ClientName,
    Decide,
    Deliver,
    NodeConfig,
    Outcome,
    PublisherAttach,
    Rejection,
    Remark,
    Send,
    SendCopies,
    Settle,
    SubscriberAttach,
    TopicNode,
    TopicSettings,
    delivery_tag,
    publisher_key,
)

TOPIC = "news"
AGE_S = 3.0
LEASE_S = 6.6
SETTINGS = TopicSettings(subscription_timeout_s=60.0, publisher_timeout_s=100.0)
PUBLISHER = ClientName("P", "link")
SUBSCRIBER = ClientName("S", "link")
OTHER = ClientName("T", "link")


@dataclass(frozen=True)
class Delivered:
    """One delivery of a `Deliver`."""

    link: int
    tag: bytes
    publisher: ClientName
    payload: Any


@dataclass(frozen=True)
class Settled:
    """One delivery of a `Settle`."""

    link: int
    tag: bytes


@dataclass(frozen=True)
class Decided:
    """One delivery of a `Decide`."""

    link: int
    tag: bytes
    outcome: Outcome
    rejection: Rejection | None
    is_settled: bool


def singles(effect):
    """Return what clients see of an effect: one delivery after the other."""
    if isinstance(effect, Deliver):
        return [Delivered(effect.link, each.tag, effect.publisher, each.payload) for each in effect.deliveries]
    if isinstance(effect, Settle):
        return [Settled(effect.link, tag) for tag in effect.tags]
    if isinstance(effect, Decide):
        more = (effect.outcome, effect.rejection, effect.is_settled)
        return [Decided(effect.link, tag, *more) for tag in effect.tags]
    return [effect]


def tag_of(tag, publisher=PUBLISHER):
    return delivery_tag(publisher_key(publisher), tag)


class Nodes:
    """Some routers, and what their clients are told."""

    def __init__(self, ids="A", settings=SETTINGS, **config):
        self.now = 100.0
        self.settings = settings
        self.config = {"is_first_start": True, "longest_timeout_s": 110.0, **config}
        self.nodes = {}
        self.told = {}
        self.remarks = []
        self.parted = set()
        self.given = {}
        self.copied = []
        self.lost_copies = 0
        self.lives = 0
        for id in ids:
            self.start(id)

    def start(self, id, **config):
        self.lives += 1
        given = {"router_id": id, "incarnation": self.lives, **self.config, **config}
        node = self.nodes[id] = TopicNode(NodeConfig(**given), lambda topic: self.settings, self.now)
        self.told[id] = []
        for other in self.nodes:
            if other != id:
                node.reach(other, self.now)
                self.nodes[other].reach(id, self.now)
        self.run()

    def crash(self, id):
        del self.nodes[id]
        self.run()

    def part(self, one, other):
        self.parted |= {(one, other), (other, one)}

    def join(self, one, other):
        self.parted -= {(one, other), (other, one)}

    def run(self):
        """Let all that is under way arrive."""
        busy = True
        while busy:
            busy = False
            for id in list(self.nodes):
                for effect in self.nodes[id].take(self.now):
                    busy = True
                    self._perform(id, effect)

    def _perform(self, id, effect):
        if isinstance(effect, Send):
            if effect.router in self.nodes and (id, effect.router) not in self.parted:
                self.nodes[effect.router].receive(id, effect.data, self.now)
        elif isinstance(effect, SendCopies):
            for other in effect.routers:
                self._copy(id, other, effect)
        elif isinstance(effect, Remark):
            self.remarks.append(effect.text)
        else:
            if isinstance(effect, Deliver):
                self.given.update({(id, effect.link, each.tag): each for each in effect.deliveries})
            self.told[id] += singles(effect)

    def _copy(self, id, other, effect):
        self.copied.append((other, list(effect.payloads)))
        if self.lost_copies:
            self.lost_copies -= 1
        elif other in self.nodes and (id, other) not in self.parted:
            sizes = [10] * len(effect.payloads)
            self.nodes[other].receive_copies(effect.header, effect.payloads, sizes, self.now)

    def passes(self, seconds, step=0.5):
        """Let time pass."""
        end = self.now + seconds
        while self.now < end:
            self.now += step
            for node in list(self.nodes.values()):
                node.tick(self.now)
            self.run()

    def take(self, id):
        """Return what the clients of a router were told since the last call."""
        told, self.told[id] = self.told[id], []
        return told

    def kinds(self, id):
        return [type(effect).__name__ for effect in self.take(id)]

    # --- clients

    def publisher(self, id="A", link=1, unsettled=(), attaches=1, name=PUBLISHER, **more):
        attach = PublisherAttach(name=name, unsettled=dict.fromkeys(unsettled, 0.0), attaches=attaches, **more)
        self.nodes[id].attach_publisher(TOPIC, link, attach, self.now)
        self.run()

    def subscriber(self, id="A", link=2, name=SUBSCRIBER, credit=100, timeout_s=60.0, has_map=True, **more):
        attach = SubscriberAttach(name=name, credit=credit, timeout_s=timeout_s, has_map=has_map, **more)
        self.nodes[id].attach_subscriber(TOPIC, link, attach, self.now)
        self.run()

    def publish(self, *tags, id="A", link=1):
        for tag in tags:
            self.nodes[id].publish(link, tag, b"message " + tag, 10, self.now)
        self.run()

    def decide(self, *tags, id="A", link=2, outcome=Outcome.ACCEPTED, rejection=None):
        for tag in tags:
            self.nodes[id].decide(link, tag_of(tag), outcome, self.now, rejection)
        self.run()

    def accept(self, *tags, id="A", link=2):
        """Accept deliveries together, as they were given."""
        self.nodes[id].accept(link, [self.given[id, link, tag_of(tag)] for tag in tags], self.now)
        self.run()

    def settle(self, *tags, id="A", link=1):
        for tag in tags:
            self.nodes[id].settle_by_publisher(link, tag, self.now)
        self.run()

    def detach(self, id, link, *, is_closed=False):
        self.nodes[id].detach(link, self.now, is_closed=is_closed)
        self.run()

    def topic(self, id="A"):
        return self.nodes[id].topics[TOPIC]

    def records(self, id="A"):
        return [record.tag for record in self.topic(id).subscribers.records()]
