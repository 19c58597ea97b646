"""The router, its clients and what happens to them: who there is, and what is asked about all of it."""

from itertools import count
from typing import Any

from routerd.core import AddressSettings, Distribution, RouterSettings, Sibling
from routerd.wire import Connection, ConnectionConfig
from tests.sim.checks import check_barrier, check_quiet, check_worker
from tests.sim.client import Client
from tests.sim.ledger import Ledger, Sent
from tests.sim.links import Consumer
from tests.sim.network import Line
from tests.sim.table import Members, TableHost
from tests.sim.workers import WorkerHost
from tests.sim.world import World

QUIET_S = 900.0
"""In virtual time; consumers keep messages for seconds, everything else takes less than one."""
RESTART_S = (0.1, 1.0)
TROUBLE_S = 3.0
SETTINGS = RouterSettings(
    id="R",
    addresses=(
        AddressSettings(pattern="multicast/#", distribution=Distribution.MULTICAST),
        AddressSettings(pattern="closest/#", distribution=Distribution.CLOSEST),
    ),
)


class Simulation:
    """Everything that there is in one run."""

    def __init__(self, seed: int, *, is_calm: bool) -> None:
        self.world = World(seed)
        choice = self.world.random.choice
        self.is_calm = is_calm
        """Whether nothing goes wrong, and no consumer leaves."""
        self.settings = SETTINGS
        self.size = choice((1, 2, 2, 3, 4))
        self.is_alone = self.size == 1
        self.fabric_window = choice((4, 50, 512))
        self.fabric_frame_size = choice((512, 4096, 65_536))
        self.capacities = choice(((1, 2, 5), (5, 20), (250,)))
        self.epoch = 0
        """How often something went wrong in the router, for which messages may have to be given up."""
        self._trouble_until = 0.0
        self._losses: dict[str, float] = {}
        self.is_finishing = False
        self.ledger = Ledger(self)
        self.table = TableHost(self.world)
        self.hosts: dict[int, WorkerHost] = {}
        self.clients: list[Client] = []
        self.absent: list[Client] = []
        self.lines: list[Line] = []
        self.settling_addresses: set[str] = set()
        self.unreachable_until = 0.0
        self._incarnations = count(1)
        self._names = count(1)
        self._tokens = count(1)
        for index in range(self.size):
            self.start_worker(index)
        self.world.run_until_quiet(QUIET_S)

    def token(self) -> str:
        """What dynamic addresses are made of."""
        return f"t{next(self._tokens)}"

    # --- workers and the table

    def start_worker(self, index: int) -> None:
        """Start a worker, or its next incarnation."""
        host = WorkerHost(self, index, next(self._incarnations))
        self.hosts[index] = host
        self.note(f"worker {index} starts as incarnation {host.sibling.incarnation}")
        self.trouble()
        if not self.is_alone:
            host.rejoin()

    def kill_worker(self, host: WorkerHost) -> None:
        """Let a worker die without a word."""
        self.note(f"worker {host.index} dies")
        self._end_worker(host)

    def worker_ended(self, host: WorkerHost) -> None:
        """A worker has drained, and exits."""
        self.note(f"worker {host.index} has drained")
        self._end_worker(host)

    def _end_worker(self, host: WorkerHost) -> None:
        self.trouble()
        host.die()
        if self.hosts.get(host.index) is host:
            del self.hosts[host.index]
        uniform = self.world.random.uniform
        self.world.later(uniform(0.01, 0.5), self.give_up, host.sibling)
        self.world.later(uniform(*RESTART_S), self.start_worker, host.index)

    def kill_table(self) -> None:
        """Let the table die; another one begins with nothing."""
        self.note("the table dies")
        self.table.die()
        for host in self.hosts.values():
            host.table_died()
        self.world.later(self.world.random.uniform(*RESTART_S), self._restart_table)

    def _restart_table(self) -> None:
        self.note("the table is back")
        self.table.restart({each.sibling.worker for each in self.hosts.values()})
        for host in self.hosts.values():
            self.world.later(self.world.random.uniform(0.0, 0.1), self._rejoin, host)

    def _rejoin(self, host: WorkerHost) -> None:
        if host.is_alive and host.needs_table:
            host.do(host.rejoin)

    def join_siblings(self, near: WorkerHost, far: WorkerHost) -> None:
        """Connect two workers."""
        ends = near.fabric_end(is_client=True), far.fabric_end(is_client=False)
        line = Line(self.world, ends[0], near, ends[1], far, 0.005)
        self.lines.append(line)
        near.joined_by(line, line.near)
        far.joined_by(line, line.far)

    def is_unreachable(self, one: int, other: int) -> bool:
        """Whether no connection between two siblings can be made now."""
        return self.world.now < self.unreachable_until

    def trouble(self) -> None:
        """Note that messages under way may be lost, now and until all that comes of it has come."""
        self.epoch += 1
        self._trouble_until = self.world.now + TROUBLE_S

    def give_up(self, sibling: Sibling) -> None:
        """Have the table take a worker for dead."""
        self.trouble()
        self.table.give_up(sibling)

    @property
    def is_whole(self) -> bool:
        """Whether each worker is there and knows all others, and nothing went wrong lately."""
        if len(self.hosts) < self.size or self.world.now < self._trouble_until:
            return False
        for host in self.hosts.values():
            if host.is_hung or host.is_draining:
                return False
            for other in self.hosts.values():
                neighbour = host.router.neighbours.get(other.index)
                if other is not host and (
                    neighbour is None or neighbour.sibling != other.sibling or neighbour.peer is None
                ):
                    return False
        return True

    def had_trouble_since(self, sent: Sent) -> bool:
        """Whether the router may have had to give up a message."""
        return sent.epoch != self.epoch or sent.began_in_trouble

    # --- clients

    def new_client(self) -> Client:
        """Have one more client."""
        client = Client(self, f"client{next(self._names)}")
        client.is_stripped = self.world.chance(0.8)
        self.clients.append(client)
        self.absent.append(client)
        return client

    def connect(self, client: Client, connection: Connection, worker: int) -> Line:
        """Make a transport for a client."""
        host = self.hosts[worker]
        random = self.world.random
        config = ConnectionConfig(
            container_id="R",
            incoming_window=random.choice((4, 30, 512)),
            max_frame_size=random.choice((512, 4096, 65_536)),
        )
        server = host.accept(
            config,
            capacity=random.choice(self.capacities),
            strips_in=client.is_stripped,
            strips_out=True,
        )
        line = Line(self.world, connection, client, server, host, random.choice((0.0, 0.001, 0.01)))
        self.lines = [each for each in self.lines if not each.is_over]
        self.lines.append(line)
        host.joined_by(line, line.far)
        return line

    def client_opened(self, client: Client) -> None:
        """A client is there."""

    def client_lost(self, client: Client) -> None:
        """A client has lost its connection, or closed it."""
        self.note(f"{client.name} is off")
        self.absent.append(client)

    def consumer_came(self, consumer: Consumer) -> None:
        """A consumer attaches, and its attach is answered."""
        if consumer.wants_settled:
            self.settling_addresses.add(consumer.address)

    def consumer_went(self, consumer: Consumer) -> None:
        """A consumer's link is over."""
        self._losses[consumer.address] = self.world.now

    def lost_consumer_since(self, sent: Sent) -> bool:
        """Whether a consumer of its address has gone since a message was sent, or was just not known to have gone."""
        return self._losses.get(sent.address, 0.0) > sent.sent_at - TROUBLE_S

    def has_settling_consumer(self, address: str) -> bool:
        """Whether there ever was one that wants all settled: what went to it is accepted once it has left."""
        return address in self.settling_addresses

    def consumers_of(self, address: str) -> list[Consumer]:
        """The consumers of an address that attach or are attached."""
        return [each for client in self.clients for each in client.consumers if each.address == address]

    # --- checks

    def check_worker(self, host: WorkerHost) -> None:
        """Check what holds in a worker at any time."""
        check_worker(host)

    def check_barrier(self, host: WorkerHost, answered: list[Any], members: Members) -> None:
        """Check that consumers that are answered are known everywhere."""
        check_barrier(self, host, answered, members)

    def note(self, text: str) -> None:
        """Record what happens."""
        self.world.note(text)

    def rest(self) -> None:
        """Let all that is under way arrive, and check that everybody is of one mind."""
        self.note("rest")
        self.world.run_until_quiet(QUIET_S)
        self.world.run_for(TROUBLE_S)
        check_quiet(self)

    def finish(self) -> None:
        """Let all messages come to an end, and check that each has one."""
        self.rest()
        self.note("finish")
        self.is_finishing = True
        while self._finish_some():
            self.world.run_until_quiet(QUIET_S)
        self.is_finishing = False
        check_quiet(self)
        self.ledger.check_all_are_told()

    def _finish_some(self) -> bool:
        has_more = False
        for client in self.clients:
            for consumer in client.consumers:
                if consumer.is_attached and consumer.undecided:
                    has_more = True
                    for delivery in list(consumer.undecided):
                        consumer.decide(delivery)
                if consumer.is_attached and consumer.link.credit == 0:
                    has_more = True
                    consumer.top_up()
            for producer in client.producers:
                if producer.is_attached and producer.stream is not None:
                    has_more = True
                    producer.go_on()
        return has_more

    def leave_all(self) -> None:
        """Have all clients go, and check that nothing is left of them."""
        self.finish()
        self.note("all leave")
        for client in self.clients:
            client.leave()
        self.world.run_until_quiet(QUIET_S)
        self.world.run_for(TROUBLE_S)
        check_quiet(self, is_empty=True)
