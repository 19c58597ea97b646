"""A worker as a process hosts it: its router, its connections, its calls to the table; it can hang, drain and die."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.core import FABRIC, Changes, Delta, Observer, Peer, Router, Sibling
from routerd.core.errors import FullDeltaMissing
from routerd.wire import Connection, ConnectionConfig, RemoteError, Symbol
from tests.sim.network import End, Line
from tests.sim.table import Members
from tests.sim.world import Broken, Channel

if TYPE_CHECKING:
    from tests.sim.simulation import Simulation

RECONNECT_S = 0.1
DRAIN_STEP_S = 0.05


class Watcher(Observer):
    """Nobody breaks the protocol here."""

    def violation(self, peer: Peer, error: RemoteError) -> None:
        """Fail."""
        raise Broken(f"a worker says of connection {peer.number} that it broke the protocol: {error!r}")


class WorkerHost:
    """One incarnation of a worker."""

    def __init__(self, simulation: "Simulation", index: int, incarnation: int) -> None:
        self._simulation = simulation
        self._world = simulation.world
        self.router = Router(
            simulation.settings,
            simulation.token,
            Watcher(),
            worker=index,
            is_alone=simulation.is_alone,
        )
        self.sibling = Sibling(index, incarnation, f"fabric/{index}-{incarnation}")
        self.lines: list[Line] = []
        self.is_alive = True
        self.is_hung = False
        self.is_draining = False
        self._deferred: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._is_flush_due = False
        self._connecting: set[int] = set()
        self._to_table: Channel | None = None
        self._answered: dict[Any, None] = {}
        """Consumers whose attaches were answered when they had been confirmed."""

    @property
    def index(self) -> int:
        """Its number."""
        return self.sibling.worker

    # --- time in this process

    def do(self, call: Callable[..., None], *arguments: Any) -> None:
        """Have something happen here: later while this process hangs, never once it is dead."""
        if self.is_hung:
            self._deferred.append((call, arguments))
        elif self.is_alive:
            self.router.now = self._world.now
            call(*arguments)

    def hang(self, seconds: float) -> None:
        """Do nothing for a while, as when stopped by a signal."""
        self.is_hung = True
        self._world.later(seconds, self._wake)

    def _wake(self) -> None:
        self.is_hung = False
        while self._deferred and not self.is_hung:
            call, arguments = self._deferred.popleft()
            self.do(call, *arguments)

    def die(self) -> None:
        """End without a word."""
        self.is_alive = self.is_hung = False
        self._deferred.clear()
        for line in self.lines:
            for end in line.ends:
                if end.owner is self:
                    line.kill(end)
        if self._to_table is not None:
            self._to_table.is_closed = True

    # --- connections

    def accept(self, config: ConnectionConfig, **options: Any) -> Connection:
        """Return this worker's end of a client's connection."""
        return self._connection(self.router.new_peer(**options), config, is_client=False)

    def _connection(self, peer: Peer, config: ConnectionConfig, *, is_client: bool) -> Connection:
        connection = Connection(config, self.router, is_client=is_client)
        peer.connection = connection
        connection.context = peer
        return connection

    def joined_by(self, line: Line, end: End) -> None:
        """Begin with a connection whose transport is there."""
        self.lines = [each for each in self.lines if not each.is_over]
        self.lines.append(line)
        end.connection.context.shell = end
        self.do(self._begin, end)

    def _begin(self, end: End) -> None:
        end.connection.start(self._world.now)
        self.turn_ends()

    def received(self, end: End, octets: bytes) -> None:
        """Have the engine take octets."""
        self.do(self._received, end, octets)

    def _received(self, end: End, octets: bytes) -> None:
        if not end.is_gone:
            end.connection.receive_data(octets, self._world.now)
            self.turn_ends()

    def lost(self, end: End) -> None:
        """Report the end of a connection."""
        self.do(self._lost, end)

    def _lost(self, end: End) -> None:
        end.connection.transport_closed()
        self._seek_siblings()
        self.turn_ends()

    def set_blocked(self, end: End, is_blocked: bool) -> None:
        """Pass on whether a transport has room."""
        self.do(self._set_blocked, end, is_blocked)

    def _set_blocked(self, end: End, is_blocked: bool) -> None:
        self.router.set_blocked(end.connection.context, is_blocked)
        if not is_blocked:
            end.flush(self._world.now)
        self.turn_ends()

    # --- the end of a turn

    def turn_ends(self) -> None:
        """Have what this brought about written soon."""
        if not self._is_flush_due:
            self._is_flush_due = True
            self._world.later(self._world.random.choice((0.0, 0.0, 0.001)), self.do, self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        router = self.router
        router.end_turn()
        changes = router.take_changes()
        if changes is not None and self._to_table is not None:
            self._to_table.send(self._simulation.table.update, self, changes)
        awake = router.awake
        router.awake = []
        for connection in awake:
            shell: End | None = connection.context.shell
            if shell is not None:
                shell.flush(self._world.now)
        self._check_answered()
        self._simulation.check_worker(self)

    # --- the table

    def rejoin(self) -> None:
        """Join the table, for the first time or again, with all that there is."""
        table = self._simulation.table
        if self._to_table is not None:
            self._to_table.is_closed = True
        if not table.is_alive:
            self._to_table = None
            return
        self._to_table = Channel(self._world)
        everything: Changes = self.router.all_interests()
        self._to_table.send(table.join, self, everything)

    @property
    def needs_table(self) -> bool:
        """Whether it has no table to call."""
        return self._to_table is None

    def table_died(self) -> None:
        """Nobody to call for now."""
        if self._to_table is not None:
            self._to_table.is_closed = True
            self._to_table = None

    def apply(self, delta: Delta) -> None:
        """Take news of the siblings."""
        try:
            self.router.apply(delta)
        except FullDeltaMissing:
            self.rejoin()
            return
        self._seek_siblings()
        if self._to_table is not None:
            self._to_table.send(self._simulation.table.acknowledge, self, delta.version)
        self.turn_ends()

    def confirm(self, sequence: int, members: Members) -> None:
        """Answer attaches that waited."""
        self._check_answered()
        self.router.confirm(sequence)
        answered = [outlet for outlet in self.consumers() if outlet.is_open and outlet not in self._answered]
        self._answered.update(dict.fromkeys(answered))
        self._simulation.check_barrier(self, answered, members)
        self.turn_ends()

    def _check_answered(self) -> None:
        for outlet in [] if self._simulation.is_alone else self.consumers():
            if outlet.is_open and outlet not in self._answered:
                raise Broken(f"an attach to {outlet.address.key} is answered, and nobody has confirmed it")

    def consumers(self) -> list[Any]:
        """The outlets to clients."""
        return [outlet for peer in self.router.peers.values() if not peer.is_fabric for outlet in peer.outlets]

    # --- siblings

    def _seek_siblings(self) -> None:
        for other, neighbour in self.router.neighbours.items():
            if other < self.index and neighbour.peer is None and other not in self._connecting:
                self._connecting.add(other)
                self._world.later(self._world.random.uniform(0.0, 0.01), self.do, self._connect, other)

    def _connect(self, other: int) -> None:
        neighbour = self.router.neighbours.get(other)
        if neighbour is None or neighbour.peer is not None:
            self._connecting.discard(other)
            return
        host = self._simulation.hosts.get(other)
        if host is None or host.sibling != neighbour.sibling or self._simulation.is_unreachable(self.index, other):
            self.router.connect_failed(other)
            self.turn_ends()
        else:
            self._simulation.join_siblings(self, host)
        self._world.later(RECONNECT_S, self.do, self._connect, other)

    def fabric_end(self, *, is_client: bool) -> Connection:
        """Return this worker's end of a connection to a sibling."""
        config = ConnectionConfig(
            container_id=f"R#{self.index}",
            incoming_window=self._simulation.fabric_window,
            max_frame_size=self._simulation.fabric_frame_size,
            properties={Symbol("worker"): self.index, Symbol("incarnation"): self.sibling.incarnation},
        )
        connection = self._connection(self.router.new_peer(FABRIC), config, is_client=is_client)
        if is_client:
            connection.open()
        return connection

    # --- its end

    def drain(self, grace_s: float) -> None:
        """End in order."""
        self.is_draining = True
        self.router.drain()
        self.turn_ends()
        self._drain_step(self._world.now + grace_s)

    def _drain_step(self, end: float) -> None:
        if self.router.is_drained() or self._world.now >= end:
            self.router.close_all()
            self.turn_ends()
            self._world.later(0.5, self.do, self._simulation.worker_ended, self)
        else:
            self.turn_ends()
            self._world.later(DRAIN_STEP_S, self.do, self._drain_step, end)
