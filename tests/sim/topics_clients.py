"""Models of clients that keep their unsettled maps: they write down what they saw."""

from dataclasses import dataclass
from typing import Any

from routerd.topics import (
    AnswerPublisher,
    AnswerSubscriber,
    AskEcho,
    Claim,
    ClientName,
    Decide,
    Deliver,
    Detach,
    Grant,
    Outcome,
    PublisherAttach,
    Settle,
    Stamp,
    SubscriberAttach,
)
from tests.sim.topics_network import PUBLISHER_TIMEOUT_S, SUBSCRIPTION_TIMEOUT_S, Connection, Network

RESOURCE_DELETED = "amqp:resource-deleted"
CREDIT = 5


@dataclass(frozen=True)
class Payload:
    """A message: whose, and its place in what that one sent."""

    publisher: str
    sequence: int


class Client:
    """A client with one link, which it attaches again and again."""

    def __init__(self, network: Network, name: str, topic: str, first: str | None) -> None:
        self.network = network
        self.world = network.world
        self.random = network.world.random
        self.name = ClientName(name, "link")
        self.topic = topic
        self.connection: Connection | None = None
        self.is_up = True
        self.is_gone = False
        self.is_attached = False
        self.attaches = 0
        self.target = first
        self.stamp: Stamp | None = None
        self.away_since: float | None = None
        self.world.later(0.2 + 0.2 * self.random.random(), self.attach)

    def __str__(self) -> str:
        return self.name.container

    def attach(self) -> None:
        """Connect to some router."""
        if not self.is_up or self.is_gone or self.connection is not None:
            return
        id = self.target or self.random.choice(self.network.ids)
        self.target = None
        router = self.network.routers.get(id)
        if router is None:
            self.world.later(0.1 + 0.4 * self.random.random(), self.attach)
            return
        self.expire()
        self.attaches += 1
        self.is_attached = False
        self.connection = self.network.connect(self, router)
        self.world.note(f"{self} attaches at {id} with {self.held()}")
        self.send_attach(self.connection)

    def lost(self) -> None:
        """The connection is gone."""
        self.drop()
        pause = self.random.choice([0.0, 0.1, 0.5, 1.5]) * (0.5 + self.random.random())
        self.world.later(pause, self.attach)

    def drop(self) -> None:
        if self.is_attached or self.away_since is None:
            self.away_since = self.world.now
        self.connection = None
        self.is_attached = False

    def leave_connection(self) -> None:
        if self.connection is not None:
            self.connection.cut(client_knows=True)
            self.drop()

    def move(self, to: str) -> None:
        """Go to another router; the old one finds out later."""
        if self.is_gone or not self.is_up:
            return
        self.leave_connection()
        self.target = to
        self.world.note(f"{self} moves to {to}")
        self.world.later(self.random.choice([0.0, 0.05, 0.5]), self.attach)

    def crash(self, back_after: float | None) -> None:
        """End, for a while or for ever; what it keeps is on disk."""
        if self.is_gone or not self.is_up:
            return
        self.world.note(f"{self} crashes, back after {back_after}")
        self.leave_connection()
        self.is_up = False
        if back_after is None:
            self.is_gone = True
        else:
            self.world.later(back_after, self.restart)

    def restart(self) -> None:
        if not self.is_up and not self.is_gone:
            self.is_up = True
            self.attach()

    def on(self, effect: Any) -> None:
        if isinstance(effect, Detach):
            self.world.note(f"{self} is detached: {effect.condition}")
            if effect.condition == RESOURCE_DELETED:
                self.ended()
            self.leave_connection()
            self.lost()
        else:
            self.take(effect)

    def answered(self, stamp: Stamp) -> None:
        self.is_attached = True
        self.away_since = None
        self.stamp = stamp

    def away_s(self) -> float:
        return 0.0 if self.away_since is None else self.world.now - self.away_since

    # --- what kinds of clients do

    def held(self) -> list[str]:
        raise NotImplementedError

    def send_attach(self, connection: Connection) -> None:
        raise NotImplementedError

    def expire(self) -> None:
        raise NotImplementedError

    def ended(self) -> None:
        raise NotImplementedError

    def take(self, effect: Any) -> None:
        raise NotImplementedError


@dataclass
class Unsettled:
    """A delivery in a publisher's map."""

    payload: Payload
    first_sent: float | None = None


class PublisherClient(Client):
    """Publishes, and settles what was accepted."""

    def __init__(self, network: Network, name: str, topic: str, first: str | None) -> None:
        super().__init__(network, name, topic, first)
        self.map: dict[bytes, Unsettled] = {}
        self.unsent: list[bytes] = []
        self.sequence = 0
        self.credit = 0
        self.accepted: list[int] = []
        self.rejected: list[int] = []
        self.unknown: list[int] = []
        self.on_outcome: Any = lambda: None
        self.is_closing = False
        self.is_plain = False
        """It attaches as another link each time, and sends again whatever it has seen no outcome of."""

    def held(self) -> list[str]:
        return [tag.decode() for tag in self.map]

    def publish(self) -> None:
        """Send a message, now or when it can be sent."""
        if self.is_gone or self.is_closing:
            return
        if not self.is_up:
            self.world.later(1.0, self.publish)
            return
        tag = b"t%d" % self.sequence
        self.map[tag] = Unsettled(Payload(str(self), self.sequence))
        self.sequence += 1
        self.unsent.append(tag)
        self.world.note(f"{self} publishes {tag.decode()}")
        self._send()

    def close(self) -> None:
        """Close the link for good when everything has come to its end."""
        self.is_closing = True
        if self.is_attached and not self.map and self.connection is not None:
            self.connection.to_router("detach", True)
            self.is_gone = True
            self.is_attached = False

    def send_attach(self, connection: Connection) -> None:
        ages = {}
        name = self.name
        if self.is_plain:
            name = ClientName(name.container, f"{name.link}#{self.attaches}")
        elif self.network.settings.is_exactly_once:
            ages = {
                tag: self.world.now - each.first_sent for tag, each in self.map.items() if each.first_sent is not None
            }
        count = 0 if self.is_plain else self.attaches
        attach = PublisherAttach(
            name=name, unsettled=ages, attaches=count, stamp=self.stamp, may_return=not self.is_plain
        )
        connection.to_router("attach_publisher", self.topic, attach)

    def expire(self) -> None:
        if self.away_s() > 0.6 * PUBLISHER_TIMEOUT_S and self.map:
            self.world.note(f"{self} was away too long")
            self.ended()

    def ended(self) -> None:
        self.unknown += [each.payload.sequence for each in self.map.values()]
        self.map.clear()
        self.unsent.clear()

    def take(self, effect: Any) -> None:
        assert self.connection is not None
        if isinstance(effect, AnswerPublisher):
            self.answered(effect.stamp)
            self.credit = 0
            self.unsent = [tag for tag in self.map if tag not in effect.known]
        elif isinstance(effect, Grant):
            self.credit += effect.credit
            self._send()
        elif isinstance(effect, AskEcho):
            self.connection.to_router("echo", effect.token)
        elif isinstance(effect, Decide):
            for tag in effect.tags:
                self._decided(tag, effect)
            if self.is_closing:
                self.close()

    def _send(self) -> None:
        while self.is_attached and self.credit and self.unsent and self.connection is not None:
            tag = self.unsent.pop(0)
            each = self.map[tag]
            self.credit -= 1
            if each.first_sent is None:
                each.first_sent = self.world.now
            self.connection.to_router("publish", tag, each.payload, self.world.now - each.first_sent)

    def _decided(self, tag: bytes, effect: Decide) -> None:
        each = self.map.pop(tag, None)
        if each is None or self.connection is None:
            return
        self.world.note(f"{self} sees {effect.outcome.value} {tag.decode()}")
        (self.accepted if effect.outcome is Outcome.ACCEPTED else self.rejected).append(each.payload.sequence)
        if not effect.is_settled:
            self.connection.to_router("settle", tag)
        self.network.hook()
        self.on_outcome()


@dataclass
class Epoch:
    """A time for which a subscriber was subscribed, as far as it knows."""

    epoch: Claim
    has_ended: bool = False


class SubscriberClient(Client):
    """Writes down what it is given; may be slow, and release some."""

    def __init__(
        self,
        network: Network,
        name: str,
        topic: str,
        first: str | None,
        *,
        slow_s: float = 0.0,
        releases: float = 0.0,
        rejects: float = 0.0,
    ) -> None:
        super().__init__(network, name, topic, first)
        self.map: dict[bytes, Outcome | None] = {}
        self.says_map = True
        """It tells the router that it keeps a map."""
        self.presented: dict[bytes, Outcome | None] = {}
        self.epochs: list[Epoch] = []
        self.got: list[tuple[str, int]] = []
        self.released: set[tuple[str, int]] = set()
        self.violations: list[str] = []
        self.slow_s = slow_s
        self.releases = releases
        self.rejects = rejects
        self.rejected: set[tuple[str, int]] = set()
        self.closings: set[int] = set()
        """How many messages it had been given whenever it closed: what comes then is of another subscription."""

    @property
    def epoch(self) -> Epoch | None:
        return self.epochs[-1] if self.epochs and not self.epochs[-1].has_ended else None

    def held(self) -> list[str]:
        return [repr(tag[9:])[1:] for tag in self.map]

    def send_attach(self, connection: Connection) -> None:
        if not self.network.settings.is_exactly_once:
            self.map.clear()
        self.presented = dict(self.map)
        attach = SubscriberAttach(
            name=self.name,
            unsettled=self.presented,
            epoch=self.epoch.epoch if self.epoch is not None else None,
            attaches=self.attaches,
            stamp=self.stamp,
            timeout_s=SUBSCRIPTION_TIMEOUT_S,
            credit=CREDIT,
            has_map=self.says_map,
        )
        connection.to_router("attach_subscriber", self.topic, attach)

    def expire(self) -> None:
        if self.away_s() > 0.8 * SUBSCRIPTION_TIMEOUT_S:
            self.ended()

    def ended(self) -> None:
        if self.epoch is not None:
            self.epoch.has_ended = True

    def take(self, effect: Any) -> None:
        if isinstance(effect, AnswerSubscriber):
            self.answered(effect.stamp)
            if self.epoch is None:
                self.epochs.append(Epoch(effect.epoch))
                self.world.note(f"{self} is subscribed")
            self._decide_since_attach()
        elif isinstance(effect, Deliver):
            for each in effect.deliveries:
                self._given(each.tag, each.payload)
        elif isinstance(effect, Settle):
            for tag in effect.tags:
                self.map.pop(tag, None)
            self.network.hook()

    def _decide_since_attach(self) -> None:
        assert self.connection is not None
        for tag, outcome in self.map.items():
            if outcome is not None and self.presented.get(tag) is not outcome:
                self.connection.to_router("decide", tag, outcome)

    def _given(self, tag: bytes, payload: Any) -> None:
        message = (payload.publisher, payload.sequence)
        assert self.connection is not None
        if tag in self.map and self.network.settings.is_exactly_once:
            self.violations.append(f"P2: {self} is given {message} as new while it has it in its map")
        if self.releases and not self.network.is_quiet and self.random.random() < self.releases:
            self.world.note(f"{self} releases {message}")
            self.released.add(message)
            self.map[tag] = Outcome.RELEASED
            self.connection.to_router("decide", tag, Outcome.RELEASED)
            self.connection.to_router("grant", 1)
            return
        self.world.note(f"{self} gets {message}")
        self.got.append(message)
        self.map[tag] = None
        if self.rejects and self.random.random() < self.rejects:
            self.world.note(f"{self} rejects {message}")
            self.rejected.add(message)
            self._decide(tag, Outcome.REJECTED)
        elif self.slow_s and not self.network.is_quiet:
            self.world.later(self.slow_s * self.random.random(), self._accept, tag)
        else:
            self._accept(tag)
        self.network.hook()

    def _accept(self, tag: bytes) -> None:
        if tag not in self.map:
            # Its sender has settled it meanwhile, and may have sent it again.
            self._grant()
        elif self.is_up:
            self._decide(tag, Outcome.ACCEPTED)
        else:
            # What it has not decided when it crashes, it decides when it is back.
            self.world.later(1.0, self._accept, tag)

    def _decide(self, tag: bytes, outcome: Outcome) -> None:
        self.map[tag] = outcome
        if self.connection is not None and self.is_attached:
            self.connection.to_router("decide", tag, outcome)
        self._grant()

    def _grant(self) -> None:
        if self.connection is not None and self.is_attached:
            self.connection.to_router("grant", 1)

    def unsubscribe(self) -> None:
        """Close the link for good, and subscribe anew later."""
        if self.connection is not None and self.is_attached:
            self.world.note(f"{self} closes")
            self.connection.to_router("detach", True)
            self.ended()
            self.map.clear()
            self.closings.add(len(self.got))
            self.drop()
            self.away_since = None
            self.world.later(0.1 + 2.0 * self.random.random(), self.attach)
