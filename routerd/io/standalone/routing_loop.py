"""The routing engine of a router in one process: it lives in the loop of the router's only worker."""

import asyncio
import time
from concurrent.futures import Future

from routerd.core import Changes, RouterSettings, TrunkEvent
from routerd.io.routing import RoutingHost, new_instance
from routerd.io.scheduling import Standstill
from routerd.io.worker import Worker
from routerd.management import NodeRow


class RoutingLoop:
    """Takes the worker's events as they come, and has a timer. To be used in the worker's loop."""

    def __init__(self, settings: RouterSettings) -> None:
        now = time.monotonic()
        wall_clock = time.time()
        self._host = RoutingHost(
            settings, epoch=1, instance=new_instance(wall_clock), now=now, wall_clock=wall_clock
        )
        self._worker: Worker | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._standstill = Standstill()

    def serve(self, worker: Worker) -> None:
        """Work for this worker."""
        self._worker = worker

    def on_trunks(self, events: list[TrunkEvent]) -> None:
        """Take what became of trunks, and what came on them."""
        self._host.take_events(events, self._now())
        self._go_on()

    def on_changes(self, changes: Changes) -> None:
        """Take what consumers want."""
        self._host.take_changes(changes, self._now())
        self._go_on()

    def nodes(self) -> "Future[list[NodeRow]]":
        """Return the routers of the network; from any thread."""
        assert self._worker is not None
        return self._worker.call(self._host.nodes)

    def _tick(self) -> None:
        self._timer = None
        self._host.tick(self._now())
        self._go_on()

    def _go_on(self) -> None:
        assert self._worker is not None
        now = time.monotonic()
        outputs = self._host.outputs(now)
        if outputs.news is not None or outputs.controls:
            self._worker.take_outputs(() if outputs.news is None else (outputs.news,), outputs.controls)
        if self._timer is not None:
            self._timer.cancel()
        due = max(now, self._host.next_deadline())
        self._standstill.expect(due)
        self._timer = asyncio.get_running_loop().call_later(due - now, self._tick)

    def _now(self) -> float:
        """Return the time, after the host has been told of a standstill of the loop."""
        now = time.monotonic()
        self._host.forgive(self._standstill.seconds(now))
        return now
