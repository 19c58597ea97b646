"""Routers in memory, joined by trunks, with an oracle in the place of their routing engines.

`Mesh.pump` carries everything until all is silent. The oracle knows the trunks that both ends have told of, and who has
consumers for what, and tells each router at once; `Mesh.untold` are routers that it tells nothing for now. `Neighbour`
is a client that behaves as another router as far as it is told to, for all that a router of ours would not do.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

from routerd.core import (
    HINTS,
    INTER_ROUTER,
    ControlArrived,
    MappedAddresses,
    NetworkNews,
    Peer,
    Router,
    RouteTo,
    Treatments,
    TrunkClosed,
    TrunkOpened,
    is_link_route,
)
from routerd.wire import (
    AmqpValue,
    Connection,
    ConnectionConfig,
    Int,
    Message,
    Properties,
    Source,
    Symbol,
    Target,
)
from tests.routers import Client, Line, Worker, Workers

CONTROL = "qd.router"
DATA = "qd.router-data"
COST = Symbol("qd.inter-router-cost")
PRIORITIES = 10
LINK_ROUTE_HINT = 4
CAPACITY = 250

Path = tuple[str, ...]


class JoinedRouter(Workers):
    """One router of a mesh, of one worker or several."""

    def __init__(self, mesh: "Mesh", id: str, workers: int, **options: Any) -> None:
        self._mesh = mesh
        self._treatments: Treatments
        self.events: list[Any] = []
        """What the workers have told of trunks, and not yet taken."""
        self.up: dict[int, int] = {}
        """The trunks that can take control messages, and their costs."""
        self.version = (1, 0)
        self.known: dict[str, Any] = {"routes": {}, "radius": 0, "through": {}, "mapping": {}}
        super().__init__(workers, id=id, **options)
        self._treatments = Treatments(self.settings)

    @property
    def id(self) -> str:
        return self.settings.id

    @property
    def router(self) -> Router:
        """The first worker's part of the router."""
        return self[0].router

    def pump(self, seconds: float = 0.0) -> None:
        """Let all routers go on."""
        self._mesh.pump(seconds)

    def let_pass(self, seconds: int) -> None:
        """Let seconds pass; at the end of each the workers look after their trunks."""
        for _ in range(seconds):
            self.pump(1.0)
            for worker in self.workers.values():
                worker.router.each_second(self.now)
            self.pump()

    def set_clock(self, now: float) -> None:
        """Say what time it is."""
        self.now = now
        for worker in self.workers.values():
            worker.router.set_clock(now)
        self.connect_siblings()

    def turn(self) -> bool:
        """Let each worker do what it has to; whether there was anything."""
        for worker in self.workers.values():
            worker.router.trunks.open_streams()
        has_moved = self._carry() or self._tell()
        for worker in self.workers.values():
            for event in worker.router.trunks.take_events():
                has_moved = True
                self.events.append(event)
                if isinstance(event, TrunkOpened):
                    self.up[event.trunk] = event.cost
                elif isinstance(event, TrunkClosed):
                    del self.up[event.trunk]
        return has_moved

    def take_events(self) -> list[Any]:
        """The events of trunks since the last call."""
        events, self.events = self.events, []
        return events

    def controls(self) -> list[bytes]:
        """The control messages that have come since the last call."""
        return [event.octets for event in self.take_events() if isinstance(event, ControlArrived)]

    def interests(self) -> dict[str, int]:
        """The addresses that other routers are told of, with hints."""
        wanted: dict[str, int] = {}
        for worker in self.workers.values():
            for interest in worker.router.siblings.all_interests().interests:
                if interest.key[:1] == "M":
                    wanted[interest.key] = HINTS[self._treatments.of_key(interest.key).distribution]
                elif is_link_route(interest.key):
                    wanted[interest.key] = LINK_ROUTE_HINT
        return wanted

    def tell(self, **news: Any) -> None:
        """Tell all workers of the network by hand."""
        self.version = (1, self.version[1] + 1)
        for worker in self.workers.values():
            worker.router.routes.apply_network(NetworkNews(self.version, **news))

    def learn(self, known: dict[str, Any]) -> bool:
        """Tell all workers what has changed; whether anything has."""
        if known == self.known:
            return False
        before, self.known = self.known, known
        changed: dict[str, Any] = {"radius": known["radius"]}
        changed |= {name: known[name] for name in ("routes", "through") if known[name] != before[name]}
        changed["mapped"] = tuple(_mapped(before["mapping"], known["mapping"]))
        self.tell(**changed)
        return True

    def learn_again(self, worker: Worker) -> None:
        """Tell one worker all that the others know."""
        known = self.known
        mapped = tuple(MappedAddresses(router, keys) for router, keys in known["mapping"].items())
        news = {name: known[name] for name in ("routes", "radius", "through")}
        worker.router.routes.apply_network(NetworkNews(self.version, is_full=True, mapped=mapped, **news))

    def _token(self) -> str:
        # Both ends of a trunk attach links to it, whose names must not be the same.
        return f"{self.settings.id}-{super()._token()}"


def _mapped(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[MappedAddresses]:
    mapped = []
    for router in {**before, **after}:
        old, new = before.get(router, {}), after.get(router, {})
        added = {key: hint for key, hint in new.items() if key not in old}
        removed = tuple(key for key in old if key not in new)
        if added or removed:
            mapped.append(MappedAddresses(router, added, removed))
    return mapped


class Trunk:
    """A connection between two routers: the first one of the two has made it."""

    def __init__(self, line: Line, routers: tuple[JoinedRouter, JoinedRouter]) -> None:
        self.line = line
        self.routers = routers

    @property
    def peers(self) -> tuple[Peer, Peer]:
        """The record that each end has of it."""
        return self.line.client.context, self.line.server.context

    def cost(self) -> int | None:
        """What it costs, if both ends can use it."""
        costs = [router.up.get(peer.number) for router, peer in zip(self.routers, self.peers, strict=True)]
        return None if None in costs else costs[0]

    def cut(self) -> None:
        """End the transport."""
        self.line.cut()
        self.routers[0].pump()


class Mesh:
    """Routers, the trunks between them, and who tells them of each other."""

    def __init__(self, *ids: str, workers: int = 1, **options: Any) -> None:
        self.now = 100.0
        self.routers: dict[str, JoinedRouter] = {}
        self.trunks: list[Trunk] = []
        self.untold: set[str] = set()
        """Routers that are told nothing for now."""
        for id in ids:
            self.add(id, workers, **options)

    def __getitem__(self, id: str) -> JoinedRouter:
        return self.routers[id]

    def add(self, id: str, workers: int = 1, **options: Any) -> JoinedRouter:
        """Start another router."""
        router = JoinedRouter(self, id, workers, **options)
        self.routers[id] = router
        self.pump()
        return router

    def join(
        self,
        first: str,
        second: str,
        cost: int = 1,
        *,
        costs: tuple[int, int] | None = None,
        at: tuple[int, int] = (0, 0),
        configs: tuple[dict[str, Any], dict[str, Any]] = ({}, {}),
        capacity: int = 0,
    ) -> Trunk:
        """Have a worker of the first router connect to one of the second; each end has its own idea of the cost."""
        routers = self.routers[first], self.routers[second]
        ends = []
        for router, worker, own_cost, config in zip(routers, at, costs or (cost, cost), configs, strict=True):
            host = router[worker]
            peer = host.router.connections.new_peer(INTER_ROUTER, capacity=capacity)
            peer.cost = own_cost
            peer.is_initiator = router is routers[0]
            options = {"container_id": router.id, "channel_max": 0x7FFF, "properties": {COST: Int(own_cost)}}
            ends.append(host.end(peer, ConnectionConfig(**options | config), is_client=peer.is_initiator))
        ends[0].open()
        ends[1].start(self.now)
        ends[0].start(self.now)
        trunk = Trunk(Line(*ends), routers)
        self.trunks.append(trunk)
        self.pump()
        return trunk

    def pump(self, seconds: float = 0.0) -> None:
        """Let time pass, and carry octets and news until all is silent."""
        self.now += seconds
        for router in self.routers.values():
            router.set_clock(self.now)
        while self._turn():
            pass

    def _turn(self) -> bool:
        has_moved = False
        for router in self.routers.values():
            has_moved = router.turn() or has_moved
        for trunk in self.trunks:
            has_moved = trunk.line.carry(self.now) or has_moved
        return has_moved or self._tell()

    # --- the oracle

    def _tell(self) -> bool:
        paths = {origin: self._paths(origin) for origin in self.routers}
        has_moved = False
        for id, router in self.routers.items():
            if id not in self.untold:
                has_moved = router.learn(self._known(id, paths)) or has_moved
        return has_moved

    def _known(self, id: str, paths: Mapping[str, Mapping[str, tuple[int, Path]]]) -> dict[str, Any]:
        own = paths[id]
        numbers = {one.routers[1 - end].id: one.peers[end].number for one, end in self._ends(id)}
        through = {
            origin: frozenset(target for target, (_, path) in targets.items() if id in path[1:-1])
            for origin, targets in paths.items()
        }
        return {
            "routes": {to: RouteTo(path[1], numbers[path[1]], cost) for to, (cost, path) in own.items() if to != id},
            "radius": max(len(path) - 1 for _, path in own.values()),
            "through": {origin: targets for origin, targets in through.items() if targets},
            "mapping": {to: self.routers[to].interests() for to in own if to != id and self.routers[to].interests()},
        }

    def _paths(self, origin: str) -> dict[str, tuple[int, Path]]:
        """The best path to each router: the cheapest, and of equally cheap ones the first by name."""
        best: dict[str, tuple[int, Path]] = {}
        found: list[tuple[int, Path]] = [(0, (origin,))]
        while found:
            cost, path = min(found)
            found.remove((cost, path))
            if path[-1] in best:
                continue
            best[path[-1]] = cost, path
            for trunk, end in self._ends(path[-1]):
                found.append((cost + (trunk.cost() or 0), (*path, trunk.routers[1 - end].id)))
        return best

    def _ends(self, id: str) -> list[tuple[Trunk, int]]:
        """The trunks of a router that are up, and which end it has."""
        found = [(trunk, [one.id for one in trunk.routers]) for trunk in self.trunks if trunk.cost() is not None]
        return [(trunk, ids.index(id)) for trunk, ids in found if id in ids]

    # --- what is left

    def left_over(self) -> dict[str, Any]:
        """What the routers hold that should be gone once no client is there: nothing."""
        found: dict[str, Any] = {}
        for id, joined in self.routers.items():
            for index, worker in joined.workers.items():
                router = worker.router
                found |= {f"{id}{index} address {key}": address for key, address in router.addresses.items()}
                for number, peer in router.peers.items():
                    found |= {f"{id}{index} {name} of {number}": value for name, value in _left(peer) if value}
        return found


def _left(peer: Peer) -> list[tuple[str, Any]]:
    ends = [*peer.inlets, *peer.outlets]
    left: list[tuple[str, Any]] = [("unsettled", sum(end.link.unsettled_count for end in ends))]
    if peer.is_router and peer.trunk is not None:
        return [*left, ("hungry", peer.trunk.hungry), ("control", peer.trunk.queue), ("starved", peer.starved)]
    return [*left, ("peer", not peer.is_fabric), ("links", ends), ("sessions", peer.connection.sessions())]


class Neighbour(Client):
    """A router that does only what it is told to, at the other end of a trunk."""

    def __init__(self, router: JoinedRouter, id: str) -> None:
        super().__init__(router)
        self.id = id
        self.control_in: Any = None
        self.control_out: Any = None
        self.data_in: list[Any] = []
        self.data_out: list[Any] = []
        self.streams: list[Any] = []
        """The links for large messages that the router has attached."""
        self.stream_credit = CAPACITY
        self._link_names = count(1)

    @property
    def peer(self) -> Peer:
        """The router's record of the trunk."""
        [peer] = [end.context for end in (self.line.client, self.line.server) if end is not self.connection]
        return peer

    @property
    def number(self) -> int:
        """The trunk's number, at the router."""
        return self.peer.number

    def attach(
        self, *, pairs: int = PRIORITIES, is_controlling: bool = True, credit: int = CAPACITY
    ) -> "Neighbour":
        """Attach the links of a trunk, as the side that has connected."""
        if is_controlling:
            self.control_in = self.attach_in(CONTROL)
            self.control_out = self.attach_out(CONTROL)
        for _ in range(pairs):
            self.data_in.append(self.attach_in(DATA, credit=credit))
            self.data_out.append(self.attach_out(DATA))
        return self

    def attach_in(self, capability: str = DATA, *, credit: int = CAPACITY, session: Any = None) -> Any:
        """Attach a link from the router."""
        link = (session or self.session).receiver(f"in-{next(self._link_names)}")
        return self._attached(link, capability, credit)

    def attach_out(self, capability: str = DATA, *, session: Any = None) -> Any:
        """Attach a link to the router."""
        link = (session or self.session).sender(f"out-{next(self._link_names)}")
        return self._attached(link, capability, 0)

    def _attached(self, link: Any, capability: str, credit: int) -> Any:
        termini = {"capabilities": (Symbol(capability),)} if capability else {}
        link.attach(source=Source(**termini), target=Target(**termini))
        self._workers.pump()
        if credit:
            link.grant(credit)
            self._workers.pump()
        return link

    def on_link_attached(self, link: Any, performative: Any) -> None:
        """Take a link of the router, and let it send."""
        Client.on_link_attached(self, link, performative)
        if self.connection.is_client and link not in (*self.data_in, *self.streams) and link.name.startswith("qdlink."):
            self.streams.append(link)
            if self.stream_credit:
                link.grant(self.stream_credit)

    def arrived(self) -> list[bytes]:
        """The messages that came whole, link by link."""
        return [octets for link in (*self.data_in, *self.streams) for octets in self.received(link)]

    def priorities(self) -> list[int]:
        """How many messages came on each data link."""
        return [len(self.received(link)) for link in self.data_in]

    def settle_all(self, outcome: str = "accept") -> None:
        """Settle all that came."""
        for link in (*self.data_in, *self.streams):
            for delivery in self.unsettled.pop(link.name, []):
                getattr(delivery, outcome)()
        self._workers.pump()

    def pass_on(self, octets: bytes, *, priority: int = 4, **options: Any) -> Any:
        """Send a message on a data link."""
        return self.send(self.data_out[priority], octets, **options)


def neighbour(router: JoinedRouter, id: str = "N", *, worker: int = 0, capacity: int = 0, **config: Any) -> Neighbour:
    """A neighbour that has connected to a worker of a router, and has attached nothing."""
    host = router[worker]
    neighbour = Neighbour(router, id)
    connection = Connection(ConnectionConfig(**{"container_id": id} | config), neighbour, is_client=True)
    server = host.connection(ConnectionConfig(container_id=router.id), role=INTER_ROUTER, capacity=capacity)
    neighbour.connect(connection, router.line(connection, server, host))
    router.pump()
    return neighbour


def dialled(
    router: JoinedRouter, id: str = "N", *, worker: int = 0, cost: int = 1, answers: bool = True, **config: Any
) -> Neighbour:
    """A neighbour that a worker of a router has connected to; it answers what the router attaches."""
    host = router[worker]
    neighbour = Neighbour(router, id)
    neighbour.answers = answers
    peer = host.router.connections.new_peer(INTER_ROUTER)
    peer.is_initiator, peer.cost = True, cost
    client = host.end(peer, ConnectionConfig(container_id=router.id, channel_max=0x7FFF), is_client=True)
    neighbour.connection = Connection(ConnectionConfig(**{"container_id": id} | config), neighbour, is_client=False)
    client.open()
    neighbour.line = router.line(client, neighbour.connection, host)
    router.pump()
    return neighbour


def routes(*paths: tuple[Neighbour, Mapping[str, int]]) -> dict[str, RouteTo]:
    """The routes over each neighbour, by the cost of each router that it leads to."""
    return {
        router: RouteTo(neighbour.id, neighbour.number, cost)
        for neighbour, costs in paths
        for router, cost in costs.items()
    }


def mapped(hint: int = -1, **routers: tuple[str, ...]) -> tuple[MappedAddresses, ...]:
    """What each router has consumers for."""
    return tuple(MappedAddresses(router, dict.fromkeys(keys, hint)) for router, keys in routers.items())


def to_router(to: Any = None, body: Any = "hello", *, annotations: Any = None, **sections: Any) -> bytes:
    """A message as a router sends it to another one; annotations are given by their names behind `x-opt-qd.`."""
    marked = {Symbol(key): value for key, value in routers_keys(annotations or {}).items()}
    properties = None if to is None else Properties(to=to)
    content = Message(body=AmqpValue(body), message_annotations=marked or None, properties=properties, **sections)
    return bytes(content.encode())


def routers_keys(annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations with the keys that routers use."""
    return {f"x-opt-qd.{name}": value for name, value in annotations.items()}


def marked(octets: bytes) -> dict[str, Any]:
    """What the annotations of a message say, those of routers by their short names."""
    found = Message.decode(octets).message_annotations or {}
    return {str(key).removeprefix("x-opt-qd."): value for key, value in found.items()}
