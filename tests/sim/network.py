"""Transports between engines: octets in random pieces after random times, stalls, cuts, and ends that hear late."""

from collections import deque
from typing import Protocol

from routerd.wire import Connection
from tests.sim.world import World

HIGH_WATER = 6_000
LOW_WATER = 1_500
"""Octets that wait in a transport before its writer is told to stop, and to go on."""


class Owner(Protocol):
    """Who an end belongs to."""

    def received(self, end: "End", octets: bytes) -> None:
        """Octets have come."""

    def lost(self, end: "End") -> None:
        """The transport has ended."""

    def set_blocked(self, end: "End", is_blocked: bool) -> None:
        """The transport has no room, or has room again."""


class Pipe:
    """One direction of a transport."""

    def __init__(self, world: World, delay: float) -> None:
        self._world = world
        self._delay = delay
        self._last = 0.0
        self._held: deque[tuple[str, bytes]] = deque()
        self.size = 0
        self.is_stalled = False
        self.is_closed = False
        self.writer: End
        self.reader: End

    def write(self, octets: bytes) -> None:
        """Send octets on their way, in pieces."""
        world = self._world
        self.size += len(octets)
        pieces = 1 if world.chance(0.5) else world.random.randint(2, 5)
        cuts = sorted(world.random.randrange(len(octets) + 1) for _ in range(pieces - 1))
        for start, end in zip([0, *cuts], [*cuts, len(octets)], strict=True):
            if start < end:
                self._send("octets", octets[start:end])
        if self.size > HIGH_WATER:
            self.writer.set_blocked(True)

    def end(self) -> None:
        """Send the end of the stream behind what is on its way."""
        self._send("end", b"")

    def stall(self, seconds: float) -> None:
        """Let the reader not read for a while."""
        if not self.is_stalled:
            self.is_stalled = True
            self._world.later(seconds, self._go_on)

    def _go_on(self) -> None:
        self.is_stalled = False
        # At once: what was written later and is still on its way comes behind it.
        while self._held and not self.is_stalled:
            self._arrive(*self._held.popleft())

    def _send(self, kind: str, octets: bytes) -> None:
        world = self._world
        self._last = max(self._last, world.now + world.random.uniform(0.0, self._delay))
        world.at(self._last, self._arrive, kind, octets)

    def _arrive(self, kind: str, octets: bytes) -> None:
        if self.is_closed:
            return
        if self.is_stalled:
            self._held.append((kind, octets))
            return
        self.size -= len(octets)
        if kind == "octets":
            self.reader.receive(octets)
            if self.size < LOW_WATER:
                self.writer.set_blocked(False)
        else:
            self.reader.lose()


class End:
    """One end of a transport: an engine, whom it belongs to, and the two pipes."""

    def __init__(self, connection: Connection, owner: Owner, outgoing: Pipe, incoming: Pipe) -> None:
        self.connection = connection
        self.owner = owner
        self.outgoing = outgoing
        self.incoming = incoming
        outgoing.writer = incoming.reader = self
        self.is_gone = False
        self.is_blocked = False

    def flush(self, now: float) -> None:
        """Write what the engine has, and close when it is done."""
        if self.is_gone:
            return
        if not self.is_blocked:
            octets = bytes(self.connection.data_to_send(now))
            if octets:
                self.outgoing.write(octets)
        if self.connection.is_finished:
            self.outgoing.end()
            self._go()

    def receive(self, octets: bytes) -> None:
        """Hand octets to the owner."""
        if not self.is_gone:
            self.owner.received(self, octets)

    def lose(self) -> None:
        """Learn that the transport has ended; the other end will learn it, too."""
        if not self.is_gone:
            self.outgoing.end()
            self._go()

    def _go(self) -> None:
        self.is_gone = True
        self.owner.lost(self)

    def set_blocked(self, is_blocked: bool) -> None:
        """Tell the owner when the transport fills or has room."""
        if self.is_blocked != is_blocked and not self.is_gone:
            self.is_blocked = is_blocked
            self.owner.set_blocked(self, is_blocked)


class Line:
    """A transport with its two ends."""

    def __init__(
        self, world: World, near: Connection, near_owner: Owner, far: Connection, far_owner: Owner, delay: float
    ) -> None:
        self._world = world
        there, back = Pipe(world, delay), Pipe(world, delay)
        self.near = End(near, near_owner, there, back)
        self.far = End(far, far_owner, back, there)
        self.is_broken = False
        """Whether it ends, though its ends may not know yet."""

    @property
    def ends(self) -> tuple[End, End]:
        """Both."""
        return self.near, self.far

    @property
    def is_over(self) -> bool:
        """Whether both ends know that it has ended."""
        return self.near.is_gone and self.far.is_gone

    @property
    def is_whole(self) -> bool:
        """Whether neither end knows of an end, and all that is written will arrive."""
        return not (self.near.is_gone or self.far.is_gone or self.is_broken)

    def cut(self) -> None:
        """Break it: what is on its way is lost at some point, and each end hears of it in its own time."""
        self.is_broken = True
        for end in self.ends:
            self._world.later(self._world.random.uniform(0.0, 0.02), self._close, end.outgoing)
            self._world.later(self._world.random.uniform(0.02, 0.2), self._lose, end)

    def kill(self, end: End) -> None:
        """Let one end die without a word; the other hears of it before long."""
        self.is_broken = True
        end.is_gone = True
        end.outgoing.is_closed = True
        self._world.later(self._world.random.uniform(0.0, 0.1), self._lose, self.near if end is self.far else self.far)

    def half_close(self, end: End) -> None:
        """Let one end say that it writes no more, though it still reads."""
        self.is_broken = True
        end.outgoing.end()

    def stall(self, end: End, seconds: float) -> None:
        """Let one end not read for a while."""
        end.incoming.stall(seconds)

    @staticmethod
    def _close(pipe: Pipe) -> None:
        pipe.is_closed = True

    @staticmethod
    def _lose(end: End) -> None:
        end.lose()


def is_quiet(line: Line) -> bool:
    """Whether nothing is on its way, and neither end has anything to say."""
    return all(end.outgoing.size == 0 and not end.connection.is_awake for end in line.ends)
