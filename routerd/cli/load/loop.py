"""The event loop of a worker: epoll over its lines, one shared buffer to read into, and writes at the end of a turn."""

import select
import socket
import time
from collections.abc import Callable

from routerd.cli.load.line import Line
from routerd.cli.load.meter import Meter

READ_SIZE = 1 << 18
TICK_S = 0.5
_COARSE_S = 0.1
_NS_PER_S = 1_000_000_000
_READ = select.EPOLLIN
_WRITE = select.EPOLLOUT


class Loop:
    """Turns the lines of a process; `watch` adds other descriptors."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.lines: dict[int, Line] = {}
        self.awake: list[Line] = []
        self.is_attach_held = False
        """Whether links are attached only when `start_roles` is called."""
        self.is_timed = False
        """Whether roles have a time at which they want to be pumped."""
        self.open_count = 0
        self.attached_count = 0
        self.is_changed = True
        """Whether a connection or link came up or went since this was last set to False."""
        self._epoll = select.epoll()
        self._buffer = bytearray(READ_SIZE)
        self._watched: dict[int, Callable[[], None]] = {}
        self._tick_at = time.monotonic() + TICK_S

    def watch(self, fd: int, on_readable: Callable[[], None]) -> None:
        """Call back whenever a descriptor is readable."""
        self._watched[fd] = on_readable
        self._epoll.register(fd, _READ)

    def unwatch(self, fd: int) -> None:
        """Watch a descriptor no more."""
        del self._watched[fd]
        self._epoll.unregister(fd)

    def add(self, line: Line) -> None:
        """Take in a line whose socket is connected."""
        line.sock.setblocking(False)
        if line.sock.family != socket.AF_UNIX:
            line.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines[line.fd] = line
        self._epoll.register(line.fd, _READ)
        line.start(time.monotonic())

    def remove(self, line: Line) -> None:
        """Let go of a line, before its socket is closed."""
        del self.lines[line.fd]
        self._epoll.unregister(line.fd)
        self.is_changed = True

    def watch_output(self, line: Line) -> None:
        """Watch for room in the socket of a line while it is blocked."""
        self._epoll.modify(line.fd, _READ | _WRITE if line.is_blocked else _READ)

    def turn(self, timeout_s: float) -> None:
        """Wait for events, read, and serve the lines that have something to do."""
        for fd, event in self._wait(timeout_s):
            line = self.lines.get(fd)
            if line is None:
                # A line that went in this turn is watched no more, either.
                if fd in self._watched:
                    self._watched[fd]()
                continue
            if event != _WRITE:
                line.read(self._buffer, time.monotonic())
            line.wake()
        now = time.monotonic()
        if self.is_timed:
            self._wake_what_is_due()
        awake = self.awake
        self.awake = []
        for line in awake:
            line.serve(now)
        if now >= self._tick_at:
            self._tick_at = now + TICK_S
            for line in list(self.lines.values()):
                line.connection.tick(now)

    # What the lines tell

    def opened(self, line: Line) -> None:
        """A line of ours is open."""
        self.open_count += 1
        self.is_changed = True

    def closed(self, line: Line) -> None:
        """A line is closed; its socket may have output left."""
        self.is_changed = True
        line.wake()

    def attached(self) -> None:
        """A link of ours is attached."""
        self.attached_count += 1
        self.is_changed = True

    def fail(self, failure: str) -> None:
        """Something went wrong that is not the end of everything."""
        self.meter.fail(failure)
        self.is_changed = True

    def _wait(self, timeout_s: float) -> list[tuple[int, int]]:
        if self.awake:
            timeout_s = 0.0
        elif self.is_timed:
            timeout_s = min(timeout_s, self._until_due())
            if 0.0 < timeout_s < _COARSE_S:
                # epoll counts in milliseconds; select, which can wait for an epoll, in microseconds.
                select.select([self._epoll.fileno()], [], [], timeout_s)
                timeout_s = 0.0
        return self._epoll.poll(timeout_s)

    def _until_due(self) -> float:
        earliest = min(filter(None, (line.due_ns() for line in self.lines.values())), default=0)
        return max(0.0, (earliest - time.monotonic_ns()) / _NS_PER_S) if earliest else TICK_S

    def _wake_what_is_due(self) -> None:
        now_ns = time.monotonic_ns()
        for line in self.lines.values():
            if 0 < line.due_ns() <= now_ns:
                line.wake()
