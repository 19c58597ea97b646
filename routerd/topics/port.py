"""What the parts of a topic have of the node: the time, stamps, effects, and other routers."""

from collections.abc import Callable

from routerd.topics.claims import Claim, HybridClock, Stamp
from routerd.topics.effects import Detach, Effect, Remark
from routerd.topics.messages import Operation
from routerd.topics.names import ClientName, Place
from routerd.topics.publishers import Publisher
from routerd.topics.routers import Routers
from routerd.topics.settings import NodeConfig, TopicSettings


class Attached:
    """A link of a client, and what it is to its topic."""

    __slots__ = ("publisher", "subscriber", "topic")

    def __init__(self, topic: str, publisher: Publisher | None = None, subscriber: ClientName | None = None) -> None:
        self.topic = topic
        self.publisher = publisher
        self.subscriber = subscriber


class Turn:
    """What all topics of a node share."""

    def __init__(
        self, config: NodeConfig, clock: HybridClock, routers: Routers, say: Callable[[str, str, Operation], None]
    ) -> None:
        self.now = 0.0
        self.config = config
        self.clock = clock
        self.routers = routers
        self.effects: list[Effect] = []
        self.say = say
        self.links: dict[int, Attached] = {}
        """What is attached, by the host's numbers of links."""


class Port:
    """What one topic reaches of its node."""

    def __init__(self, topic: str, settings: TopicSettings, turn: Turn) -> None:
        self.topic = topic
        self.settings = settings
        self.config = turn.config
        self.routers = turn.routers
        self.me: Place = turn.routers.me
        self.turn = turn

    @property
    def now(self) -> float:
        """The time of the turn."""
        return self.turn.now

    def emit(self, effect: Effect) -> None:
        """Have the host do something."""
        self.turn.effects.append(effect)

    def detach(self, link: int, condition: str, description: str) -> None:
        """Detach a link with an error; what comes from it after this is ignored."""
        self.turn.links.pop(link, None)
        self.emit(Detach(link, condition, description))

    def note(self, text: str) -> None:
        """Have a sentence logged."""
        self.emit(Remark("info", f"topic {self.topic}: {text}"))

    def send(self, router: str, operation: Operation) -> None:
        """Tell a router something, if it is in reach."""
        self.turn.say(router, self.topic, operation)

    def cast(self, operation: Operation, but: str = "") -> None:
        """Tell all routers in reach something, except one."""
        for router in self.routers.up():
            if router != but:
                self.turn.say(router, self.topic, operation)

    def stamp(self) -> Stamp:
        """Return a stamp of now."""
        return self.turn.clock.read(self.turn.now)

    def claim(self, attaches: int) -> Claim:
        """Return a claim for what attaches now."""
        return self.turn.clock.claim(attaches, self.turn.now)
