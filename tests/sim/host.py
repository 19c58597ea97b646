"""A process with a router in it: its connections and its turns; it can hang, drain and die.

A worker sets the router's clock at each entry. Here only octets, ends of connections and what the routing engine says
do that, and each step of a drain: what the router decides must follow from the time that it is handed.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from routerd.core import Peer, Router
from routerd.wire import Connection, ConnectionConfig
from tests.sim.network import End, Line
from tests.sim.world import World

DRAIN_STEP_S = 0.05


class Host:
    """What any such process does; kinds of it say what else belongs to a turn."""

    def __init__(self, world: World, router: Router) -> None:
        self.world = world
        self.router = router
        self.lines: list[Line] = []
        self.is_alive = True
        self.is_hung = False
        self.is_draining = False
        self._deferred: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._is_flush_due = False

    # --- what kinds of it say

    def shell(self, end: End) -> Any:
        """Return what the router may ask of a transport."""
        return end

    def tell(self) -> None:
        """Tell others what this turn has brought."""

    def check(self) -> None:
        """Check what holds after any turn."""

    def ended(self) -> None:
        """Exit, after the end in order."""

    # --- time in this process

    def do(self, call: Callable[..., None], *arguments: Any) -> None:
        """Have something happen here: later while this process hangs, never once it is dead."""
        if self.is_hung:
            self._deferred.append((call, arguments))
        elif self.is_alive:
            call(*arguments)

    def hang(self, seconds: float) -> None:
        """Do nothing for a while, as when stopped by a signal."""
        self.is_hung = True
        self.world.later(seconds, self._wake)

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

    # --- connections

    def accept(self, config: ConnectionConfig, **options: Any) -> Connection:
        """Return the router's end of a client's connection."""
        return self.connection(self.router.connections.new_peer(**options), config, is_client=False)

    def connection(self, peer: Peer, config: ConnectionConfig, *, is_client: bool) -> Connection:
        """Return the router's end of a connection."""
        connection = Connection(config, self.router, is_client=is_client)
        peer.connection = connection
        connection.context = peer
        return connection

    def joined_by(self, line: Line, end: End) -> None:
        """Begin with a connection whose transport is there."""
        self.lines = [each for each in self.lines if not each.is_over]
        self.lines.append(line)
        end.connection.context.shell = self.shell(end)
        self.do(self._begin, end)

    def _begin(self, end: End) -> None:
        end.connection.start(self.world.now)
        self.turn_ends()

    def received(self, end: End, octets: bytes) -> None:
        """Have the engine take octets."""
        self.do(self._received, end, octets)

    def _received(self, end: End, octets: bytes) -> None:
        if not end.is_gone:
            self.router.set_clock(self.world.now)
            end.connection.receive_data(octets, self.world.now)
            self.turn_ends()

    def lost(self, end: End) -> None:
        """Report the end of a connection."""
        self.do(self._lost, end)

    def _lost(self, end: End) -> None:
        self.router.set_clock(self.world.now)
        end.connection.transport_closed()
        self.turn_ends()

    def set_blocked(self, end: End, is_blocked: bool) -> None:
        """Pass on whether a transport has room."""
        self.do(self._set_blocked, end, is_blocked)

    def _set_blocked(self, end: End, is_blocked: bool) -> None:
        self.router.set_blocked(end.connection.context, is_blocked)
        if not is_blocked:
            end.flush(self.world.now)
            self._go_on(end.connection.context)
        self.turn_ends()

    # --- the end of a turn

    def turn_ends(self) -> None:
        """Have what this brought about written soon."""
        if not self._is_flush_due:
            self._is_flush_due = True
            self.world.later(self.world.random.choice((0.0, 0.0, 0.001)), self.do, self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        self.router.end_turn()
        self.tell()
        awake, self.router.awake = self.router.awake, []
        for connection in awake:
            shell = connection.context.shell
            if shell is not None:
                shell.flush(self.world.now)
                self._go_on(connection.context)
        if self.router.awake:
            self.turn_ends()
        self.check()

    def _go_on(self, peer: Peer) -> None:
        if peer.is_full and not peer.is_blocked:
            self.router.written(peer)

    # --- its end

    def drain(self, grace_s: float) -> None:
        """End in order."""
        self.is_draining = True
        self.router.leaving.drain()
        self.turn_ends()
        self._drain_step(self.world.now + grace_s)

    def _drain_step(self, end: float) -> None:
        if self.router.leaving.is_drained() or self.world.now >= end:
            self.router.leaving.close_all()
            self.turn_ends()
            self.world.later(0.5, self.do, self.ended)
        else:
            self.router.set_clock(self.world.now)
            self.turn_ends()
            self.world.later(DRAIN_STEP_S, self.do, self._drain_step, end)
