"""The routing engine of a router: in the process of its worker, or in one of its own that may end."""

from collections import deque
from typing import TYPE_CHECKING, Any

from routerd.core import NetworkNews, TrunkEvent
from routerd.io.routing.host import RoutingHost
from routerd.mesh import Checkpoint
from tests.sim.world import Channel

if TYPE_CHECKING:
    from routerd.core import Changes
    from tests.sim.mesh_router import MeshRouter

NEVER = float("inf")


class MeshEngine:
    """Hosts one `RoutingHost` as the loop of a worker does, or as its actor does when `delay` is not 0."""

    def __init__(self, router: "MeshRouter", epoch: int, instance: int, delay: float) -> None:
        self._router = router
        self._world = router.world
        self._up = Channel(self._world, delay) if delay else None
        self._down = Channel(self._world, delay) if delay else None
        self._wake_at = NEVER
        self._untaken: deque[list[TrunkEvent]] = deque()
        self.is_over = False
        network = router.router.directory.network
        checkpoint = network.checkpoint
        self.is_resumed = isinstance(checkpoint, Checkpoint)
        self._host = RoutingHost(
            router.settings,
            epoch=epoch,
            instance=instance,
            now=self._world.now,
            wall_clock=self._world.now,
            resumed=checkpoint if isinstance(checkpoint, Checkpoint) else None,
            mapping=network.mapping() if self.is_resumed else (),
        )

    def begin(self) -> None:
        """Take what there is in the worker, and tell it all that is known: it may come from another engine."""
        router, now = self._router.router, self._world.now
        self._host.set_interests(router.siblings.all_interests().interests, now)
        self._host.take_events(router.trunks.open_trunks(), now)
        outputs = self._host.outputs(now)
        self._tell([self._host.full_news()], outputs.controls)
        self._schedule()

    def end(self) -> list[TrunkEvent]:
        """End without a word: what is under way from it is lost; return what has not come to it."""
        self.is_over = True
        for channel in (self._up, self._down):
            if channel is not None:
                channel.is_closed = True
        return [event for events in self._untaken for event in events]

    # --- for the worker

    def take_changes(self, changes: "Changes") -> None:
        """Have the engine learn what consumers want."""
        self._call(self._take_changes, changes)

    def take_events(self, events: list[TrunkEvent]) -> None:
        """Have the engine learn what became of trunks, and what came on them."""
        self._untaken.append(events)
        self._call(self._take_events, events)

    # --- in the engine's process

    def _call(self, call: Any, argument: Any) -> None:
        if self._up is None:
            call(argument)
        else:
            self._up.send(call, argument)

    def _take_changes(self, changes: "Changes") -> None:
        self._host.take_changes(changes, self._world.now)
        self._go_on()

    def _take_events(self, events: list[TrunkEvent]) -> None:
        self._untaken.popleft()
        self._host.take_events(events, self._world.now)
        self._go_on()

    def _go_on(self) -> None:
        outputs = self._host.outputs(self._world.now)
        if outputs.news is not None or outputs.controls:
            self._tell([] if outputs.news is None else [outputs.news], outputs.controls)
        self._schedule()

    def _tell(self, news: list[NetworkNews], controls: list[tuple[int, bytes]]) -> None:
        if self._down is None:
            self._router.learn(news, controls)
        else:
            self._down.send(self._router.do, self._router.learn, news, controls)

    def _schedule(self) -> None:
        at = max(self._host.next_deadline(), self._world.now)
        if at != self._wake_at:
            self._wake_at = self._world.at(at, self._wake, at)

    def _wake(self, at: float) -> None:
        if at != self._wake_at or self.is_over:
            return
        if self._up is None and self._router.is_hung:
            # It hangs with the worker, whose loop it lives in.
            self._router.do(self._wake, at)
            return
        self._wake_at = NEVER
        self._host.tick(self._world.now)
        self._go_on()
