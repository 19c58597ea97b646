"""Two workers of one router in this process, as if on hosts of their own: the launcher's, and another."""

import threading
from dataclasses import replace
from pathlib import Path

from actors.fabric_authority import keys_for
from routerd.config import ListenerConfig
from routerd.core import Changes, Delta, Interest, Ledger, Report, RouterSettings
from routerd.io import Node, Worker, WorkerConfig
from routerd.io.connections.fabric_endpoint import FabricEndpoint
from routerd.io.settings.fabric_keys import FabricKeys
from tests.system.proton_client import ProtonClient

WITHIN_S = 20.0
AWAY_ADDRESS = "127.0.0.2"
CONNECTIONS_MAX = 1000


class TwoWorkers:
    """The workers 0 (at home) and 1 (away), and what they need of an address table and a ledger."""

    def __init__(self, folder: Path) -> None:
        self.keys: dict[int, FabricKeys] = keys_for(range(2))
        self._version = 0
        self._ledger = Ledger(CONNECTIONS_MAX)
        self._lock = threading.Lock()
        self._interests: dict[int, dict[str, int]] = {0: {}, 1: {}}
        self._ports: list[int] = []
        nodes = (Node("home", "127.0.0.1"), Node("away", AWAY_ADDRESS, is_away=True))
        self.workers = [self._worker(index, node, folder) for index, node in enumerate(nodes)]
        for worker in self.workers:
            (text,) = worker.start()
            self._ports.append(int(text.rpartition(":")[2]))
        self.tell()

    def _worker(self, index: int, node: Node, folder: Path) -> Worker:
        config = WorkerConfig(
            router=RouterSettings(id="A"),
            listeners=(ListenerConfig(host="127.0.0.1", port=0),),
            index=index,
            workers=2,
            incarnation=100 + index,
            fabric_folder=str(folder),
            fabric_keys=self.keys[index],
            node=node,
        )
        return Worker(
            config,
            lambda changes: self._changed(index, changes),
            on_report=lambda report: self._reported(index, report),
        )

    def _reported(self, index: int, report: Report) -> None:
        """Called in the worker's thread."""
        worker = self.workers[index]
        with self._lock:
            self._ledger.take(index, worker.config.incarnation, report)
            worker.take_verdict(self._ledger.decide(index, worker.config.incarnation, report))

    def _changed(self, index: int, changes: Changes) -> None:
        """Called in the worker's thread: tell the other, and then let the attach be answered."""
        self._interests[index].update({one.key: one.consumers for one in changes.interests})
        self._version += 1
        interests = tuple((index, one) for one in changes.interests)
        told = self.workers[1 - index].apply(Delta((1, self._version), False, None, interests))
        told.add_done_callback(lambda _: self.workers[index].confirm(changes.sequence))

    def tell(self) -> None:
        """Tell both workers everything."""
        self._version += 1
        siblings = tuple(worker.sibling() for worker in self.workers)
        interests = tuple(
            (index, Interest(key, count)) for index, found in self._interests.items() for key, count in found.items()
        )
        for worker in self.workers:
            worker.apply(Delta((1, self._version), True, siblings, interests)).result(WITHIN_S)
        for worker in self.workers:
            worker.confirm(0)

    @property
    def away(self) -> FabricEndpoint:
        """Where the worker away listens."""
        return FabricEndpoint.of(self.workers[1].sibling().endpoint)

    def connected(self) -> tuple[int, ...]:
        """Return how many siblings each worker is connected to."""
        return tuple(worker.reports.counters().result(WITHIN_S).siblings for worker in self.workers)

    def connections(self) -> list[tuple[str, bool]]:
        """Return the connections of the worker away: their roles, and whether they are encrypted."""
        rows = self.workers[1].reports.connections().result(WITHIN_S)
        return [(row.role, row.is_encrypted) for row in rows]

    def connect(self, index: int) -> ProtonClient:
        """Return a client of a worker."""
        return ProtonClient(self._ports[index], container_id=f"client-{index}")

    def other_keys(self, **changes: str) -> FabricKeys:
        """Return the keys of the worker at home with something else in them."""
        return replace(self.keys[0], **changes)

    def close(self) -> None:
        """End both."""
        for worker in self.workers:
            worker.stop()
