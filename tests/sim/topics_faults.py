"""What can go wrong between any two events of a run with topics."""

from random import Random

from tests.sim.topics_checks import History
from tests.sim.topics_clients import Client, PublisherClient, SubscriberClient
from tests.sim.topics_network import Network

ALL = (
    *("crash", "crash", "split", "pause", "slow", "move_subscriber", "move_subscriber", "move_publisher"),
    *("move_publisher", "crash_client", "away", "crash_all", "never", "isolate"),
)
PROFILES = (
    *(ALL, ALL, ("split", "split", "move_subscriber", "move_publisher", "move_publisher", "move_subscriber", "crash")),
    *(("crash", "move_subscriber", "move_publisher", "move_subscriber"),),
    *(("pause", "slow", "move_subscriber", "move_publisher"),),
    *(("crash_all", "crash_client", "away", "move_subscriber", "move_publisher", "crash"),),
    *(("split", "away", "move_subscriber", "move_publisher", "never"),),
)


class Faults:
    """Makes faults, as many as are left, at times and right after steps of the protocol."""

    def __init__(
        self, network: Network, history: History, random: Random, kinds: tuple[str, ...], most: int, *, hooked: float
    ) -> None:
        self._network = network
        self._world = network.world
        self._history = history
        self._random = random
        self._kinds = kinds
        self._hooked = hooked
        self.left = most
        self.made = 0
        network.hook = self._hook

    def _hook(self) -> None:
        if self.left > 0 and self._world.now > self._network.born + 0.8 and self._random.random() < self._hooked:
            self._world.later(0.0, self.make)

    def make(self) -> None:
        """Have something go wrong."""
        if self.left > 0 and not self._network.is_quiet:
            self.left -= 1
            self.made += 1
            getattr(self, f"_{self._random.choice(self._kinds)}")()

    def _router(self) -> str:
        return self._random.choice(self._network.ids)

    def _subscriber(self) -> SubscriberClient:
        return self._random.choice(self._history.subscribers)

    def _publisher(self) -> PublisherClient:
        return self._random.choice(self._history.publishers)

    def _client(self) -> Client:
        return self._random.choice([*self._history.publishers, *self._history.subscribers])

    def _crash(self) -> None:
        id = self._router()
        self._network.crash(id)
        self._later(self._random.choice([0.05, 0.5, 2.0, 4.0]) * (0.5 + self._random.random()), id)

    def _later(self, seconds: float, id: str) -> None:
        self._world.later(seconds, self._network.start, id)

    def _crash_all(self) -> None:
        for id in self._network.ids:
            self._network.crash(id)
            self._later(0.3 + self._random.random(), id)

    def _split(self) -> None:
        self._network.split({id: self._random.randrange(2) for id in self._network.ids})
        seconds = self._random.choice([1.0, 3.0, 5.0, 12.0, 25.0]) * (0.6 + 0.8 * self._random.random())
        self._world.later(seconds, self._network.heal)

    def _isolate(self) -> None:
        """One router is cut off; the others notice at once, and it does not."""
        lonely = self._router()
        self._network.split({id: int(id == lonely) for id in self._network.ids})
        for id in self._network.ids:
            if id != lonely:
                self._world.later(0.02, self._network.tell_unreach, id, lonely)
        self._world.later(2.5 + 2.0 * self._random.random(), self._network.heal)

    def _slow(self) -> None:
        way = (self._router(), self._router())
        self._network.slow[way] = self._random.choice([0.4, 1.0, 2.0, 4.0])
        self._world.note(f"{way[0]} to {way[1]} is slow")
        self._world.later(1.0 + 4.0 * self._random.random(), self._network.slow.pop, way, None)

    def _pause(self) -> None:
        router = self._network.routers.get(self._router())
        if router is not None and router.paused_until <= self._world.now:
            seconds = self._random.choice([1.0, 2.0, 4.0, 6.0]) * (0.5 + self._random.random())
            self._world.note(f"{router.id} stands still for {seconds:.2f} s")
            router.stand_still(seconds)

    def _move_subscriber(self) -> None:
        self._subscriber().move(self._router())

    def _move_publisher(self) -> None:
        self._publisher().move(self._router())

    def _crash_client(self) -> None:
        self._client().crash(self._random.choice([0.1, 1.0, 3.0]) * (0.5 + self._random.random()))

    def _away(self) -> None:
        self._client().crash(self._random.choice([6.0, 9.0, 12.0, 16.0]) * (0.7 + 0.6 * self._random.random()))

    def _unsubscribe(self) -> None:
        self._subscriber().unsubscribe()

    def _never(self) -> None:
        self._publisher().crash(None)
