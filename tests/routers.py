"""Workers of one router in memory: clients of our own engine, the fabric between workers, and their address table.

`Workers.pump` carries everything until all is silent, in the same order each time. What is to be late is held back by
name: octets by `Line.holds`, news of the table by `Workers.holds_deltas` and `Workers.holds_confirmations`.
"""

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any

from routerd.core import (
    FABRIC,
    AddressSettings,
    AddressTable,
    Distribution,
    Observer,
    Peer,
    Router,
    RouterSettings,
    Sibling,
)
from routerd.wire import (
    AmqpValue,
    Connection,
    ConnectionConfig,
    Data,
    Handler,
    Message,
    Properties,
    Source,
    Symbol,
    Target,
)
from tests.endpoints import Recorder

MULTICAST = AddressSettings(pattern="multicast/#", distribution=Distribution.MULTICAST)
CLOSEST = AddressSettings(pattern="closest/#", distribution=Distribution.CLOSEST)
UNAVAILABLE = AddressSettings(pattern="unavailable/#", distribution=Distribution.UNAVAILABLE)
WAYPOINT = AddressSettings(pattern="waypoint/#", ingress_phase=0, egress_phase=1)
TREATMENTS = (MULTICAST, CLOSEST, UNAVAILABLE, WAYPOINT)


def settings(**options: Any) -> RouterSettings:
    """The settings of a router under test."""
    return RouterSettings(**{"id": "R", "addresses": TREATMENTS} | options)


def message(body: Any = "hello", **sections: Any) -> bytes:
    """A message as octets; text is a value, octets are data."""
    content = Data([body]) if isinstance(body, bytes) else AmqpValue(body)
    return bytes(Message(body=content, **sections).encode())


def message_to(address: Any, body: Any = "hello", **sections: Any) -> bytes:
    """A message for an anonymous producer to send."""
    return message(body, properties=Properties(to=address), **sections)


class Line:
    """The transport between two ends of a connection."""

    def __init__(self, client: Connection, server: Connection) -> None:
        self.client = client
        self.server = server
        self.is_cut = False
        self.holds: set[Connection] = set()
        """Ends whose output does not arrive for now."""

    def carry(self, now: float) -> bool:
        """Let what either end has to send arrive; whether there was anything."""
        has_moved = False
        if self.is_cut:
            return False
        for near, far in ((self.client, self.server), (self.server, self.client)):
            if near in self.holds or (isinstance(near.context, Peer) and near.context.is_blocked):
                continue
            octets = near.data_to_send(now)
            if octets:
                has_moved = True
                far.receive_data(bytes(octets), now)
                if isinstance(near.context, Peer) and near.context.is_full:
                    near.handler.written(near.context)
        if not has_moved and (self.client.is_finished or self.server.is_finished):
            self.cut()
        return has_moved

    def cut(self) -> None:
        """End the transport."""
        self.is_cut = True
        self.client.transport_closed()
        self.server.transport_closed()


class Worker:
    """One worker: its router, and what its shell keeps for it."""

    def __init__(self, router: Router, incarnation: int) -> None:
        self.router = router
        self.index = router.worker
        self.sibling = Sibling(router.worker, incarnation, f"fabric/{router.worker}-{incarnation}")
        self.lines: list[Line] = []
        self.awaited: deque[tuple[int, tuple[int, int]]] = deque()

    def connection(self, config: ConnectionConfig, **options: Any) -> Connection:
        """This worker's end of a new connection from a client."""
        return self.end(self.router.connections.new_peer(**options), config, is_client=False)

    def end(self, peer: Peer, config: ConnectionConfig, *, is_client: bool) -> Connection:
        """An end of a connection of a peer."""
        connection = Connection(config, self.router, is_client=is_client)
        peer.connection = connection
        connection.context = peer
        return connection

    def line_to(self, other: int) -> Line:
        """The living line of the fabric to a sibling."""
        [line] = [line for line in self.lines if not line.is_cut and other in _workers_of(line)]
        return line


def _workers_of(line: Line) -> list[int]:
    return [end.handler.worker for end in (line.client, line.server) if isinstance(end.handler, Router)]


class Workers:
    """All workers of a router, and its address table."""

    def __init__(
        self,
        workers: int = 1,
        *,
        observer: Callable[[], Observer] = Observer,
        fabric: dict[str, Any] | None = None,
        chance: Callable[[], float] = float,
        **options: Any,
    ) -> None:
        self.now = 100.0
        self.settings = settings(**options)
        self.table = AddressTable(1)
        self.lines: list[Line] = []
        self.holds_changes = False
        self.holds_deltas: set[int] = set()
        """Workers that are told nothing for now."""
        self.holds_confirmations = False
        self.connects = True
        self._is_alone = workers == 1
        self._observer = observer
        self._fabric = fabric or {}
        self._chance = chance
        self._tokens = count(1)
        self._clients = count(1)
        self._incarnations = count(1)
        self._worker_count = workers
        self.workers: dict[int, Worker] = {}
        for index in range(workers):
            self.start(index)
        self.pump()

    def __getitem__(self, index: int) -> Worker:
        return self.workers[index]

    @property
    def last(self) -> int:
        """The index of the last worker."""
        return self._worker_count - 1

    def start(self, index: int) -> Worker:
        """Start a worker, in the place of an earlier incarnation if there was one."""
        router = Router(
            self.settings,
            self._token,
            self._observer(),
            worker=index,
            workers=self._worker_count,
            is_alone=self._is_alone,
            chance=self._chance,
        )
        worker = self.workers[index] = Worker(router, next(self._incarnations))
        if not self._is_alone:
            self.join(worker)
        return worker

    def join(self, worker: Worker) -> None:
        """Have a worker join the table with all that it has."""
        everything = worker.router.siblings.all_interests()
        worker.awaited.append((everything.sequence, self.table.join(worker.sibling, everything)))

    def kill(self, index: int, *, is_noticed: bool = True) -> None:
        """End a worker at once."""
        worker = self.workers.pop(index)
        for line in worker.lines:
            line.is_cut = True
            for end in (line.client, line.server):
                if end.handler is not worker.router:
                    end.transport_closed()
        if is_noticed and not self._is_alone:
            self.table.leave(index, worker.sibling.incarnation)

    def restart_table(self) -> None:
        """Let the table die, and everybody join a new one."""
        self.table = AddressTable(self.table.version[0] + 1)
        for worker in self.workers.values():
            worker.awaited.clear()
            self.join(worker)

    def client(
        self, worker: int = 0, *, peer: dict[str, Any] | None = None, kind: Any = None, **config: Any
    ) -> Any:
        """A client with an open connection to a worker, of a kind of its own if one is given."""
        host = self.workers[worker]
        client = (kind or Client)(self)
        name = f"client-{next(self._clients)}"
        connection = Connection(ConnectionConfig(**{"container_id": name} | config), client, is_client=True)
        server = host.connection(ConnectionConfig(container_id=self.settings.id), **(peer or {}))
        client.connect(connection, self.line(connection, server, host))
        self.pump()
        return client

    def ends(self) -> tuple[Any, Any]:
        """A client for producers at the first worker, and one for consumers at the last."""
        return self.client(0), self.client(self.last)

    def line(self, client: Connection, server: Connection, *hosts: Worker) -> Line:
        """A new transport between two ends."""
        line = Line(client, server)
        self.lines.append(line)
        for host in hosts:
            host.lines.append(line)
        server.start(self.now)
        client.start(self.now)
        return line

    def connect_siblings(self) -> None:
        """Make the connections of the fabric that are missing; of two siblings the one with the higher number does."""
        for worker in self.workers.values():
            for other, neighbour in worker.router.directory.neighbours.items():
                host = self.workers.get(other)
                if other < worker.index and neighbour.peer is None and not self._is_connecting(worker, other):
                    if host is None or host.sibling != neighbour.sibling or not self.connects:
                        worker.router.siblings.connect_failed(other)
                    else:
                        self._connect(worker, host)

    def _is_connecting(self, worker: Worker, other: int) -> bool:
        return any(not line.is_cut and other in _workers_of(line) for line in worker.lines)

    def _connect(self, worker: Worker, other: Worker) -> None:
        ends = [
            host.end(
                host.router.connections.new_peer(FABRIC),
                ConnectionConfig(
                    **{
                        "container_id": f"{self.settings.id}#{host.index}",
                        "incoming_window": 512,
                        "properties": {
                            Symbol("worker"): host.index,
                            Symbol("incarnation"): host.sibling.incarnation,
                        },
                    }
                    | self._fabric
                ),
                is_client=host is worker,
            )
            for host in (worker, other)
        ]
        ends[0].open()
        self.line(*ends, worker, other)

    def pump(self, seconds: float = 0.0) -> None:
        """Let time pass, and carry octets and news until all is silent."""
        self.now += seconds
        for worker in self.workers.values():
            worker.router.set_clock(self.now)
        self.connect_siblings()
        while self._carry() or self._tell():
            pass

    def _carry(self) -> bool:
        for worker in self.workers.values():
            worker.router.end_turn()
        return sum(line.carry(self.now) for line in list(self.lines)) > 0

    def _tell(self) -> bool:
        has_moved = False
        for worker in [] if self.holds_changes or self._is_alone else self.workers.values():
            changes = worker.router.siblings.take_changes()
            if changes is not None:
                has_moved = True
                version = self.table.update(worker.index, worker.sibling.incarnation, changes)
                worker.awaited.append((changes.sequence, version))
        for index, worker in self.workers.items():
            delta = None if index in self.holds_deltas else self.table.delta_for(index)
            if delta is not None:
                has_moved = True
                worker.router.siblings.apply(delta)
                self.connect_siblings()
                self.table.acknowledge(index, worker.sibling.incarnation, delta.version)
        return self._confirm() or has_moved

    def _confirm(self) -> bool:
        known = self.table.known_by_all()
        has_moved = False
        for worker in [] if self.holds_confirmations else self.workers.values():
            while worker.awaited and worker.awaited[0][1] <= known:
                has_moved = True
                worker.router.clients.confirm(worker.awaited.popleft()[0])
        return has_moved

    def _token(self) -> str:
        return f"token{next(self._tokens)}"

    def left_over(self) -> dict[str, Any]:
        """What the workers hold that should be gone once no client is there: nothing."""
        found: dict[str, Any] = {}
        for index, worker in self.workers.items():
            router = worker.router
            found |= {f"{index} address {key}": address for key, address in router.addresses.items()}
            for number, peer in router.peers.items():
                ends = {"peer": not peer.is_fabric, "inlets": peer.inlets, "outlets": peer.outlets}
                ends |= {"starved": peer.starved, "sessions": peer.connection.sessions()}
                ends |= {"links": len(peer.connection.links)}
                found |= {f"{index} {name} of {number}": value for name, value in ends.items() if value}
            found |= {
                f"{index} outlets to {other}": neighbour.outlets
                for other, neighbour in router.directory.neighbours.items()
                if neighbour.outlets
            }
        return found


class Client(Recorder):
    """A client's end, with a session; it keeps the messages that came whole, by link."""

    def __init__(self, workers: Workers) -> None:
        super().__init__()
        self._workers = workers
        self._names = count(1)
        self._octets: dict[Any, bytearray] = {}
        self.messages: dict[str, list[bytes]] = {}
        self.unsettled: dict[str, list[Any]] = {}
        self.aborted: list[str] = []
        self.errors: dict[str, Any] = {}
        """With what links were detached, by their names."""
        self.returns_credit = True
        """Whether it answers a drain by returning all credit."""
        self.connection: Connection
        self.line: Line
        self.session: Any

    def connect(self, connection: Connection, line: Line) -> None:
        """Open the connection, and begin a session."""
        self.connection = connection
        self.line = line
        connection.open()
        self.session = connection.session()
        self.session.begin()

    def on_link_flow(self, link: Any) -> None:
        """Note it, and answer a drain."""
        super().on_link_flow(link)
        if self.returns_credit and link.is_sender and link.drain:
            link.drained()

    @property
    def server(self) -> Connection:
        """The worker's end."""
        return self.line.server

    @property
    def peer(self) -> Peer:
        """The worker's record of the connection."""
        peer: Peer = self.line.server.context
        return peer

    def another_session(self, **options: Any) -> Any:
        """A further session."""
        session = self.connection.session()
        session.begin(**options)
        self._workers.pump()
        return session

    def producer(self, address: Any, name: str = "", *, session: Any = None, **options: Any) -> Any:
        """A link on which this client sends, attached; `target` and `source` may be given whole."""
        link = (session or self.session).sender(name or f"producer-{next(self._names)}")
        termini = {"source": Source(), "target": Target(address=address)}
        link.attach(**termini | options)
        self._workers.pump()
        return link

    def consumer(self, address: Any, name: str = "", *, credit: int = 0, session: Any = None, **options: Any) -> Any:
        """A link on which this client receives, attached, with credit."""
        link = (session or self.session).receiver(name or f"consumer-{next(self._names)}")
        termini = {"source": Source(address=address), "target": Target()}
        link.attach(**termini | options)
        self._workers.pump()
        if credit:
            link.grant(credit)
            self._workers.pump()
        return link

    def send(self, link: Any, octets: bytes, **options: Any) -> Any:
        """Send a message, and carry it as far as it goes."""
        delivery = link.send(octets, **options)
        self._workers.pump()
        return delivery

    def stream(self, link: Any, *parts: bytes, settled: bool = False, ends: bool = True) -> Any:
        """Send a message in parts, each carried before the next."""
        delivery = link.begin(settled=settled)
        for number, part in enumerate(parts, 1):
            self.go_on(delivery, part, more=not ends or number < len(parts))
        return delivery

    def go_on(self, delivery: Any, part: bytes, *, more: bool = True) -> None:
        """Send another part of a message."""
        delivery.link.write(delivery, part, 0, len(part), more)
        self._workers.pump()

    def leave(self) -> None:
        """Close the connection."""
        self.connection.close()
        self._workers.pump()

    def vanish(self) -> None:
        """Lose the transport."""
        self.line.cut()
        self._workers.pump()

    def detach(self, link: Any, **options: Any) -> None:
        """Detach a link."""
        link.detach(**options)
        self._workers.pump()

    def received(self, link: Any) -> list[bytes]:
        """The messages that came whole on a link."""
        return self.messages.get(link.name, [])

    @property
    def partial(self) -> list[Any]:
        """The deliveries of which more is to come."""
        return list(self._octets)

    def begun(self, link: Any) -> int:
        """The octets that came on a link of a delivery of which more is to come."""
        return sum(len(octets) for delivery, octets in self._octets.items() if delivery.link is link)

    def latest(self, link: Any) -> Any:
        """The delivery that came last on a link."""
        return self.unsettled[link.name][-1]

    def on_link_detached(self, link: Any, closed: bool, error: Any) -> None:
        """Keep the error."""
        Recorder.on_link_detached(self, link, closed, error)
        self.errors[link.name] = error

    def on_transfer(self, receiver: Any, delivery: Any, data: bytes | bytearray, start: int, end: int) -> None:
        """Keep it."""
        Recorder.on_transfer(self, receiver, delivery, data, start, end)
        octets = self._octets.setdefault(delivery, bytearray())
        octets += data[start:end]
        if delivery.is_partial and not delivery.is_aborted:
            return
        del self._octets[delivery]
        if delivery.is_aborted:
            self.aborted.append(receiver.name)
        else:
            self.messages.setdefault(receiver.name, []).append(bytes(octets))
            self.unsettled.setdefault(receiver.name, []).append(delivery)


def outcome(delivery: Any) -> tuple[Any, bool]:
    """What a producer was told of its delivery."""
    return delivery.remote_state, delivery.remote_settled


__all__ = ["Client", "Handler", "Line", "Worker", "Workers", "message", "message_to", "outcome", "settings"]
