"""The address table as an actor hosts it: calls come and go late, it dies and begins anew, members are given up."""

from typing import TYPE_CHECKING

from routerd.core import AddressTable, Changes, Delta, Sibling
from routerd.core.errors import JoinRequired, StaleMember
from tests.sim.world import Channel, World

if TYPE_CHECKING:
    from tests.sim.workers import WorkerHost

GRACE_S = 0.5
Members = tuple[Sibling, ...]


class TableHost:
    """Hosts one `AddressTable` after the other; workers call it over channels, and it calls them over others."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._epoch = 1
        self.table = AddressTable(1, changes_kept=20)
        self.is_alive = True
        self._hosts: dict[Sibling, WorkerHost] = {}
        self._channels: dict[Sibling, Channel] = {}
        self._latest: dict[Sibling, Delta] = {}
        self._pending: list[tuple[Sibling, int, tuple[int, int]]] = []

    # --- what workers call

    def join(self, host: "WorkerHost", everything: Changes) -> None:
        """Make a worker a member."""
        try:
            version = self.table.join(host.sibling, everything)
        except StaleMember:
            return
        self._hosts[host.sibling] = host
        self._channels.setdefault(host.sibling, Channel(self._world))
        self._took(host.sibling, everything.sequence, version)

    def update(self, host: "WorkerHost", changes: Changes) -> None:
        """Take over changes."""
        sibling = host.sibling
        try:
            version = self.table.update(sibling.worker, sibling.incarnation, changes)
        except JoinRequired:
            self._call(host, host.rejoin)
        except StaleMember:
            return
        else:
            self._took(sibling, changes.sequence, version)

    def acknowledge(self, host: "WorkerHost", version: tuple[int, int]) -> None:
        """Note that a worker has applied a delta."""
        sibling = host.sibling
        try:
            self.table.acknowledge(sibling.worker, sibling.incarnation, version)
        except (JoinRequired, StaleMember):
            return
        self.push()

    # --- what happens to it

    def give_up(self, sibling: Sibling) -> None:
        """End the membership of a worker that is dead, or seems to be; it is told, if it can hear."""
        if not self.is_alive or sibling not in self.table.siblings:
            return
        self._world.note(f"table gives up worker {sibling.worker} of incarnation {sibling.incarnation}")
        self.table.leave(sibling.worker, sibling.incarnation)
        host = self._hosts.pop(sibling)
        self._pending = [each for each in self._pending if each[0] != sibling]
        if host.is_alive:
            self._call(host, host.rejoin)
        self.push()

    def doubt(self, sibling: Sibling) -> None:
        """Take a delta that is under way for lost; it may arrive all the same, even behind the next."""
        if self.is_alive and sibling in self.table.siblings:
            version = self.table.known_by_all()
            for count in range(version[1], self.table.version[1] + 1):
                self.table.undelivered(sibling.worker, sibling.incarnation, (version[0], count))
            latest = self._latest.get(sibling)
            self.push()
            if latest is not None:
                self._call(self._hosts[sibling], self._hosts[sibling].apply, latest)

    def die(self) -> None:
        """Lose everything."""
        self.is_alive = False
        self._hosts = {}
        self._pending = []
        for channel in self._channels.values():
            channel.is_closed = True
        self._channels = {}
        self._latest = {}

    def restart(self, workers: set[int]) -> None:
        """Begin a new epoch; workers will join, and are told nothing until all have, or had the time to."""
        self._epoch += 1
        self.table = AddressTable(self._epoch, changes_kept=20, awaited=workers)
        self.is_alive = True
        self._world.later(GRACE_S, self._end_grace, self._epoch)

    def _end_grace(self, epoch: int) -> None:
        if epoch == self._epoch and self.is_alive:
            self.table.await_no_more()
            self.push()

    def push(self) -> None:
        """Send members what they do not know, and confirm what all do."""
        known = self.table.known_by_all()
        done = [each for each in self._pending if each[2] <= known]
        self._pending = [each for each in self._pending if each[2] > known]
        for sibling, sequence, _ in done:
            host = self._hosts[sibling]
            self._call(host, host.confirm, sequence, self.table.siblings)
        for sibling in self.table.siblings:
            delta = self.table.delta_for(sibling.worker)
            if delta is not None:
                self._latest[sibling] = delta
                self._call(self._hosts[sibling], self._hosts[sibling].apply, delta)

    def _took(self, sibling: Sibling, sequence: int, version: tuple[int, int]) -> None:
        self._pending.append((sibling, sequence, version))
        self.push()

    def _call(self, host: "WorkerHost", call: object, *arguments: object) -> None:
        self._channels[host.sibling].send(host.do, call, *arguments)
