"""Routers with topics, and the network between them and their clients, on virtual time."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.topics import (
    AnswerPublisher,
    AnswerSubscriber,
    AskEcho,
    Decide,
    Deliver,
    Detach,
    Grant,
    NodeConfig,
    Outcome,
    Remark,
    Send,
    SendCopies,
    Settle,
    TopicNode,
    TopicSettings,
)
from tests.sim.world import World

if TYPE_CHECKING:
    from tests.sim.topics_clients import Client

HELLO_S = 0.4
MAX_AGE_S = 1.2
SUBSCRIPTION_TIMEOUT_S = 8.0
PUBLISHER_TIMEOUT_S = 15.0
LONGEST_TIMEOUT_S = 1.1 * PUBLISHER_TIMEOUT_S + 1.0
"""Longer than the time-outs by what clocks may differ."""


class Lane:
    """One direction of a connection: in order, until it is cut; then the last of what is under way is lost."""

    def __init__(self, world: World, delay: Callable[[], float]) -> None:
        self._world = world
        self._delay = delay
        self.last = 0.0
        self._cut_at = float("inf")

    def send(self, call: Callable[..., None], *arguments: Any) -> None:
        self.last = max(self.last, self._world.now + self._delay())
        self._world.at(self.last, self._arrive, self.last, call, arguments)

    def _arrive(self, at: float, call: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if at <= self._cut_at:
            call(*arguments)

    def cut(self) -> None:
        now = self._world.now
        self._cut_at = now + max(0.0, self.last - now) * self._world.random.random()


class Connection:
    """A client's connection to one life of a router, with one link."""

    count = 0

    def __init__(self, network: "Network", client: "Client", router: "RouterHost", link: int) -> None:
        self.network = network
        self.client = client
        self.router = router
        self.link = link
        self.up = Lane(network.world, network.delay)
        self.down = Lane(network.world, network.delay)
        self.is_broken = False
        self.is_open_here = True
        """At the router."""

    def to_router(self, what: str, *arguments: Any) -> None:
        if not self.is_broken:
            self.up.send(self.router.take, self, what, arguments)

    def to_client(self, effect: Any) -> None:
        if not self.is_broken:
            self.down.send(self._arrive, effect)

    def _arrive(self, effect: Any) -> None:
        if self.client.connection is self:
            self.client.on(effect)

    def cut(self, *, client_knows: bool) -> None:
        """The connection breaks; each side finds out in its own time, the router within the age of hellos."""
        if self.is_broken:
            return
        self.is_broken = True
        world = self.network.world
        self.up.cut()
        self.down.cut()
        if not client_knows:
            world.later(0.5 * world.random.random(), self._notice)
        late = MAX_AGE_S * world.random.random() if world.chance(0.6) else 0.05
        world.later(max(0.0, self.up.last - world.now) + late, self.router.notice_gone, self)

    def _notice(self) -> None:
        if self.client.connection is self:
            self.client.lost()


class RouterHost:
    """One life of a router: it does what its node wants."""

    def __init__(self, network: "Network", id: str, incarnation: int) -> None:
        self.network = network
        self.id = id
        self.incarnation = incarnation
        self.world = network.world
        self.rate = network.rates[id]
        self.is_alive = True
        self.paused_until = 0.0
        self._is_performing_later = False
        self._backlog: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self.links: dict[int, Connection] = {}
        self.given: dict[tuple[int, bytes], Any] = {}
        """What the node has given to links, by tags."""
        config = NodeConfig(
            router_id=id,
            incarnation=incarnation,
            wall_offset_s=network.offsets[id],
            hello_interval_s=HELLO_S,
            hello_max_age_s=MAX_AGE_S,
            longest_timeout_s=LONGEST_TIMEOUT_S,
            is_first_start=self.world.now == network.born,
        )
        self.node = TopicNode(config, network.settings_of, self.now)
        self.world.later(0.01 * self.world.random.random(), self._tick)

    @property
    def now(self) -> float:
        return self.world.now * self.rate

    # --- what comes

    def do(self, call: Callable[..., None], *arguments: Any) -> None:
        """Have something happen in the router, later if it is paused."""
        if not self.is_alive:
            return
        if self.paused_until > self.world.now:
            self._backlog.append((call, arguments))
            return
        call(*arguments)
        if not self.network.turn_s:
            self._perform()
        elif not self._is_performing_later:
            self._is_performing_later = True
            self.world.later(self.network.turn_s * self.world.random.random(), self._end_turn)

    def _end_turn(self) -> None:
        self._is_performing_later = False
        if self.is_alive:
            self._perform()

    def stand_still(self, seconds: float) -> None:
        self.paused_until = self.world.now + seconds
        self.world.later(seconds, self.resume)

    def resume(self) -> None:
        """Catch up after a pause."""
        self.paused_until = 0.0
        backlog, self._backlog = self._backlog, []
        if self.is_alive and backlog:
            # Time is looked at before anything else.
            self.node.tick(self.now)
            self._perform()
        for call, arguments in backlog:
            self.do(call, *arguments)

    def _tick(self) -> None:
        if self.is_alive:
            if self.paused_until <= self.world.now:
                self.do(self._tick_node)
            pause = HELLO_S * (1.0 + 0.05 * self.world.random.random())
            self.world.later(max(pause, self.paused_until - self.world.now), self._tick)

    def _tick_node(self) -> None:
        self.node.tick(self.now)

    def take(self, connection: Connection, what: str, arguments: tuple[Any, ...]) -> None:
        """A client sends something."""
        self.do(self._take, connection, what, arguments)

    def _take(self, connection: Connection, what: str, arguments: tuple[Any, ...]) -> None:
        if not connection.is_open_here:
            return
        if what == "publish":
            self.network.entered(arguments[1])
        getattr(self, f"_on_{what}")(connection.link, *arguments)

    def _on_attach_publisher(self, link: int, topic: str, attach: Any) -> None:
        self.node.attach_publisher(topic, link, attach, self.now)

    def _on_attach_subscriber(self, link: int, topic: str, attach: Any) -> None:
        self.node.attach_subscriber(topic, link, attach, self.now)

    def _on_publish(self, link: int, tag: bytes, payload: Any, age_s: float) -> None:
        self.node.publish(link, tag, payload, 100, self.now, age_s)

    def _on_settle(self, link: int, tag: bytes) -> None:
        self.node.settle_by_publisher(link, tag, self.now)
        self.network.hook()

    def _on_echo(self, link: int, token: int) -> None:
        self.node.publisher_echoed(link, token, self.now)

    def _on_decide(self, link: int, tag: bytes, outcome: Any) -> None:
        given = self.given.pop((link, tag), None)
        if outcome is Outcome.ACCEPTED and given is not None:
            self.node.accept(link, [given], self.now)
        else:
            self.node.decide(link, tag, outcome, self.now)

    def _on_grant(self, link: int, credit: int) -> None:
        self.node.grant(link, credit, self.now)

    def _on_detach(self, link: int, is_closed: bool) -> None:
        self.node.detach(link, self.now, is_closed=is_closed)

    def notice_gone(self, connection: Connection) -> None:
        """The router finds out that a connection is broken."""
        self.do(self._gone, connection)

    def _gone(self, connection: Connection) -> None:
        if connection.is_open_here:
            connection.is_open_here = False
            self.node.detach(connection.link, self.now)

    def receive(self, sender: str, data: bytes) -> None:
        self.do(self._receive, sender, data)

    def _receive(self, sender: str, data: bytes) -> None:
        self.node.receive(sender, data, self.now)

    def receive_copies(self, header: bytes, payloads: list[Any]) -> None:
        self.do(self._receive_copies, header, payloads)

    def _receive_copies(self, header: bytes, payloads: list[Any]) -> None:
        self.node.receive_copies(header, payloads, [100] * len(payloads), self.now)

    def reach(self, other: str) -> None:
        self.do(self._reach, other)

    def _reach(self, other: str) -> None:
        if self.network.has_path(self.id, other):
            self.node.reach(other, self.now)

    def unreach(self, other: str) -> None:
        self.do(self._unreach, other)

    def _unreach(self, other: str) -> None:
        if not self.network.has_path(self.id, other):
            self.node.lose(other, self.now)

    # --- what it wants

    def _perform(self) -> None:
        for effect in self.node.take(self.now):
            if isinstance(effect, Send):
                self.network.send(self, effect.router, "receive", self.id, effect.data)
            elif isinstance(effect, SendCopies):
                for other in effect.routers:
                    self.network.send(self, other, "receive_copies", effect.header, effect.payloads)
            elif isinstance(effect, Remark):
                if self.network.is_traced:
                    self.world.note(f"{self.id}: {effect.text}")
            else:
                self._to_client(effect)

    def _to_client(
        self, effect: AnswerPublisher | AnswerSubscriber | AskEcho | Decide | Deliver | Detach | Grant | Settle
    ) -> None:
        connection = self.links.get(effect.link)
        if connection is not None and connection.is_open_here:
            if isinstance(effect, Deliver):
                self.given.update({(effect.link, each.tag): each for each in effect.deliveries})
            connection.to_client(effect)
            if isinstance(effect, Detach):
                connection.is_open_here = False
            if isinstance(effect, Settle | Decide | Deliver):
                self.network.hook()


class Network:
    """All routers, and what is between them."""

    def __init__(
        self,
        world: World,
        ids: str,
        settings: TopicSettings,
        *,
        loss: float = 0.0,
        turn_s: float = 0.0,
        late_copies_s: float = 0.0,
    ) -> None:
        self.world = world
        self.ids = ids
        self.settings = settings
        self.loss = loss
        self.turn_s = turn_s
        self.late_copies_s = late_copies_s
        self.born = world.now
        self.is_quiet = False
        self.is_traced = False
        self.routers: dict[str, RouterHost] = {}
        self.rates = dict.fromkeys(ids, 1.0)
        self.offsets = dict.fromkeys(ids, 0.0)
        self.slow: dict[tuple[str, str], float] = {}
        self.groups: dict[str, int] | None = None
        self.has_lost_a_side = False
        """All routers of one side of a split died before it ended: what happened there is not known to others."""
        self.entered: Callable[[Any], None] = lambda payload: None
        self.hook: Callable[[], None] = lambda: None
        self._incarnations = 0
        self._links = 0

    def settings_of(self, topic: str) -> TopicSettings | None:
        return self.settings

    def delay(self) -> float:
        random = self.world.random
        kind = random.random()
        if kind < 0.7:
            return 0.005 + 0.05 * random.random()
        if kind < 0.95 or self.is_quiet:
            return 0.02 + 0.25 * random.random()
        return 0.7 * random.random()

    def has_path(self, one: str, other: str) -> bool:
        return self.groups is None or self.groups[one] == self.groups[other]

    # --- routers

    def start(self, id: str) -> None:
        """Start a router, unless it runs."""
        if id in self.routers:
            return
        self._incarnations += 1
        router = self.routers[id] = RouterHost(self, id, self._incarnations)
        self.world.note(f"{id} starts, incarnation {router.incarnation}")
        for other in self.ids:
            if other != id and other in self.routers:
                router.reach(other)
                self.world.later(0.02, self.tell_reach, other, id)

    def crash(self, id: str) -> None:
        """Have a router lose everything."""
        router = self.routers.pop(id, None)
        if router is None:
            return
        self.world.note(f"{id} dies")
        if self.groups is not None and not any(self.has_path(id, other) for other in self.routers):
            self.has_lost_a_side = True
        router.is_alive = False
        for connection in router.links.values():
            connection.cut(client_knows=False)

    def send(self, sender: RouterHost, to: str, what: str, *arguments: Any) -> None:
        """Have octets arrive, unless they are lost."""
        if what == "receive_copies" and self.world.chance(self.loss) and not self.is_quiet:
            return
        if what == "receive" and self.loss and self.world.chance(self.loss / 8) and not self.is_quiet:
            return
        delay = self.delay() + self.slow.get((sender.id, to), 0.0)
        if self.late_copies_s and what == "receive_copies":
            delay += self.late_copies_s * self.world.random.random()
        self.world.later(delay, self._arrive, sender.id, to, what, arguments)

    def _arrive(self, sender: str, to: str, what: str, arguments: tuple[Any, ...]) -> None:
        router = self.routers.get(to)
        if router is not None and self.has_path(sender, to):
            getattr(router, what)(*arguments)

    def tell_reach(self, one: str, other: str) -> None:
        if one in self.routers and other in self.routers and self.has_path(one, other):
            self.routers[one].reach(other)

    def tell_unreach(self, one: str, other: str) -> None:
        if one in self.routers and not self.has_path(one, other):
            self.routers[one].unreach(other)

    def split(self, groups: dict[str, int]) -> None:
        """Part the routers; some hear of it before they miss hellos."""
        self.world.note(f"split {groups}")
        self.groups = groups
        random = self.world.random
        for one in self.ids:
            for other in self.ids:
                if one != other and not self.has_path(one, other) and random.random() < 0.3:
                    self.world.later(0.3 * random.random(), self.tell_unreach, one, other)

    def heal(self) -> None:
        """End a split."""
        if self.groups is None:
            return
        self.world.note("heals")
        self.groups = None
        for one in self.ids:
            for other in self.ids:
                if one != other:
                    self.world.later(0.2 * self.world.random.random(), self.tell_reach, one, other)

    # --- clients

    def connect(self, client: "Client", router: RouterHost) -> Connection:
        self._links += 1
        connection = router.links[self._links] = Connection(self, client, router, self._links)
        return connection
