"""A worker as a process hosts it: what it has to do with the table and with its siblings."""

from typing import TYPE_CHECKING, Any

from routerd.core import FABRIC, Changes, Delta, Observer, Peer, Router, Sibling
from routerd.core.errors import FullDeltaMissing
from routerd.wire import Connection, ConnectionConfig, RemoteError, Symbol
from tests.sim.host import Host
from tests.sim.network import End
from tests.sim.table import Members
from tests.sim.world import Broken, Channel

if TYPE_CHECKING:
    from tests.sim.simulation import Simulation

RECONNECT_S = 0.1


class Watcher(Observer):
    """Nobody breaks the protocol here."""

    def violation(self, peer: Peer, error: RemoteError) -> None:
        """Fail."""
        raise Broken(f"a worker says of connection {peer.number} that it broke the protocol: {error!r}")


class WorkerHost(Host):
    """One incarnation of a worker."""

    def __init__(self, simulation: "Simulation", index: int, incarnation: int) -> None:
        self._simulation = simulation
        router = Router(
            simulation.settings,
            simulation.token,
            Watcher(),
            worker=index,
            is_alone=simulation.is_alone,
        )
        super().__init__(simulation.world, router)
        self.sibling = Sibling(index, incarnation, f"fabric/{index}-{incarnation}")
        self._connecting: set[int] = set()
        self._to_table: Channel | None = None
        self._answered: dict[Any, None] = {}
        """Consumers whose attaches were answered when they had been confirmed."""

    @property
    def index(self) -> int:
        """Its number."""
        return self.sibling.worker

    def die(self) -> None:
        """End without a word."""
        super().die()
        if self._to_table is not None:
            self._to_table.is_closed = True

    def _lost(self, end: End) -> None:
        end.connection.transport_closed()
        self._seek_siblings()
        self.turn_ends()

    def tell(self) -> None:
        """Tell the table what consumers there are."""
        changes = self.router.siblings.take_changes()
        if changes is not None and self._to_table is not None:
            self._to_table.send(self._simulation.table.update, self, changes)

    def check(self) -> None:
        """Check that no attach was answered too early, and what holds at any time."""
        self._check_answered()
        self._simulation.check_worker(self)

    def ended(self) -> None:
        """Exit, to be started again."""
        self._simulation.worker_ended(self)

    # --- the table

    def rejoin(self) -> None:
        """Join the table, for the first time or again, with all that there is."""
        table = self._simulation.table
        if self._to_table is not None:
            self._to_table.is_closed = True
        if not table.is_alive:
            self._to_table = None
            return
        self._to_table = Channel(self.world)
        everything: Changes = self.router.siblings.all_interests()
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
            self.router.siblings.apply(delta)
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
        self.router.clients.confirm(sequence)
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
        for other, neighbour in self.router.directory.neighbours.items():
            if other < self.index and neighbour.peer is None and other not in self._connecting:
                self._connecting.add(other)
                self.world.later(self.world.random.uniform(0.0, 0.01), self.do, self._connect, other)

    def _connect(self, other: int) -> None:
        neighbour = self.router.directory.neighbours.get(other)
        if neighbour is None or neighbour.peer is not None:
            self._connecting.discard(other)
            return
        host = self._simulation.hosts.get(other)
        if host is None or host.sibling != neighbour.sibling or self._simulation.is_unreachable(self.index, other):
            self.router.siblings.connect_failed(other)
            self.turn_ends()
        else:
            self._simulation.join_siblings(self, host)
        self.world.later(RECONNECT_S, self.do, self._connect, other)

    def fabric_end(self, *, is_client: bool) -> Connection:
        """Return this worker's end of a connection to a sibling."""
        config = ConnectionConfig(
            container_id=f"R#{self.index}",
            incoming_window=self._simulation.fabric_window,
            max_frame_size=self._simulation.fabric_frame_size,
            properties={Symbol("worker"): self.index, Symbol("incarnation"): self.sibling.incarnation},
        )
        connection = self.connection(self.router.connections.new_peer(FABRIC), config, is_client=is_client)
        if is_client:
            connection.open()
        return connection
