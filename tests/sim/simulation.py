"""The router, its workers and what happens to them: who there is, and what is asked about all of it."""

from itertools import count
from typing import Any

from routerd.core import Sibling
from tests.sim.checks import check_barrier, check_quiet, check_settled, check_worker
from tests.sim.clientele import Clientele
from tests.sim.ledger import Ledger
from tests.sim.network import Line
from tests.sim.table import Members, TableHost
from tests.sim.workers import WorkerHost

QUIET_S = 900.0
"""In virtual time; consumers keep messages for seconds, everything else takes less than one."""
RESTART_S = (0.1, 1.0)
TROUBLE_S = 3.0


class Simulation(Clientele):
    """Everything that there is in one run."""

    trouble_s = TROUBLE_S

    def __init__(self, seed: int, *, is_calm: bool) -> None:
        super().__init__(seed, is_calm=is_calm)
        choice = self.world.random.choice
        self.size = choice((1, 2, 2, 3, 4))
        self.is_alone = self.size == 1
        self.fabric_window = choice((4, 50, 512))
        self.fabric_frame_size = choice((512, 4096, 65_536))
        self.capacities = choice(((1, 2, 5), (5, 20), (250,)))
        self._trouble_until = 0.0
        self.ledger = Ledger(self)
        self.table = TableHost(self.world)
        self.hosts: dict[int, WorkerHost] = {}
        self.unreachable_until = 0.0
        self._incarnations = count(1)
        for index in range(self.size):
            self.start_worker(index)
        self.world.run_until_quiet(QUIET_S)

    def host_of(self, index: int) -> WorkerHost:
        """Return the worker that a client comes to."""
        return self.hosts[index]

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
                neighbour = host.router.directory.neighbours.get(other.index)
                if other is not host and (
                    neighbour is None or neighbour.sibling != other.sibling or neighbour.peer is None
                ):
                    return False
        return True

    # --- checks

    def check_worker(self, host: WorkerHost) -> None:
        """Check what holds in a worker at any time."""
        check_worker(host)

    def check_barrier(self, host: WorkerHost, answered: list[Any], members: Members) -> None:
        """Check that consumers that are answered are known everywhere."""
        check_barrier(self, host, answered, members)

    def rest(self) -> None:
        """Let all that is under way arrive, and check that everybody is of one mind."""
        self.note("rest")
        self.world.run_until_quiet(QUIET_S)
        self.world.run_for(TROUBLE_S)
        check_quiet(self)
        self.check_settlements()

    def finish(self) -> None:
        """Let all messages come to an end, and check that each has one."""
        self.rest()
        self.note("finish")
        self.is_finishing = True
        while self.finish_some():
            self.world.run_until_quiet(QUIET_S)
        self.is_finishing = False
        check_quiet(self)
        self.check_nobody_waits()
        for host in self.hosts.values():
            check_settled(host)
        self.ledger.check_all_are_told()

    def leave_all(self) -> None:
        """Have all clients go, and check that nothing is left of them."""
        self.finish()
        self.note("all leave")
        for client in self.clients:
            client.leave()
        self.world.run_until_quiet(QUIET_S)
        self.world.run_for(TROUBLE_S)
        check_quiet(self, is_empty=True)
