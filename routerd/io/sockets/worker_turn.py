"""The turns of a worker's loop: octets that were read go to the engine, and its output goes to the sockets.

This is compiled, since all octets pass here. Steps that happen once a connection are in `Transport`, and rare steps in
`Worker`.

No connection can hold up the others: each has a share of time in a turn. The rest of its octets is kept for later
turns, and its socket is not read until all of them are taken. A peer that does not read is answered up to `ANSWERS_MAX`
octets. Then its socket is not read either. Only answers count: two routers with much to send to each other have to go
on reading, or neither would.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from routerd.io.logs import module_log
from routerd.io.sockets.deadlines import NEVER

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.router import Router
    from routerd.io.logs import FrameTracer
    from routerd.io.scheduling.busy_poll import BusyPoll
    from routerd.wire.connection import Connection

READ_SIZE = 1 << 18
"""Octets of one read; one buffer serves all connections."""
STEP = 1 << 16
"""Octets that are taken before the resulting output is written, so that other threads have work meanwhile."""
SHARE_S = 0.004
"""The time that one connection may take in a turn, give or take a step."""
REST_S = 0.008
"""The time in a turn for all connections that have used their share."""
ANSWERS_MAX = 1 << 22
"""Octets of answers that may wait for a peer whose socket is full; beyond that its socket is not read."""

LEAST_READ = 1 << 12

_READ_SIZE = READ_SIZE
_LEAST_READ = LEAST_READ
_STEP = STEP
_FIRST_STEP = 1 << 13
_SHORTEST_STEP = 1 << 9
_LONG_S = SHARE_S / 2
"""After a step that takes longer, the next one is shorter."""
_SHORT_S = SHARE_S / 8
_SHARE_S = SHARE_S
_REST_S = REST_S
_ANSWERS_MAX = ANSWERS_MAX

_log = module_log("SERVER")


class TurnHost(Protocol):
    """The worker that a turn is part of."""

    def look_at(self, pipe: Any, was_open: bool, now: float) -> None:
        """Continue with a connection after its open or its end."""

    def conclude(self, now: float) -> None:
        """Pass on all output that is not for peers: the turn ends."""


class Pipe:
    """The path of octets between a socket and its connection."""

    def __init__(self, turn: "Turn", peer: "Peer", connection: "Connection") -> None:
        self.turn = turn
        self.peer = peer
        self.connection = connection
        self.socket: asyncio.Transport | None = None
        self.tracer: FrameTracer | None = None
        # Whether output of the engine can be written.
        self.is_ready = True
        self.deadline = NEVER
        self.step_octets = _FIRST_STEP
        """Octets of one step; fewer if they cause much work."""
        self.read_octets = READ_SIZE
        """Octets of one read; fewer if a step does not take all of them, as the rest is copied."""
        self.turn_number = 0
        """The turn that `used_s` belongs to."""
        self.used_s = 0.0
        self.rest: bytearray | None = None
        """Octets that were read and not taken yet, from `rest_at` on."""
        self.rest_at = 0
        self.is_put_off = False
        """Whether it has used its share, and waits behind others."""
        self.answered = 0
        """Octets of answers to the peer while its socket was full."""
        self.is_choked = False
        """Whether nothing is taken from the peer until it has read its waiting output."""
        self.is_paused = False
        """Whether the socket is not read."""
        self.octets_in = 0
        """Octets received for the engine."""
        self.octets_out = 0
        """Octets sent by the engine."""
        self._is_behind = False

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the memory for the next read."""
        view = self.turn.buffer_view
        return view if self.read_octets == _READ_SIZE else view[: self.read_octets]

    def buffer_updated(self, nbytes: int) -> None:
        """Hand the read octets to the engine."""
        self.turn.received(self, nbytes)

    def flush(self, now: float) -> None:
        """Write the engine's output, and close the socket when the engine has finished."""
        if self.socket is None:
            return
        if self.is_ready and not self.peer.is_blocked:
            octets = self.connection.data_to_send(now)
            if octets:
                self.octets_out += len(octets)
                if self.tracer is not None:
                    self.tracer.sent(memoryview(octets))
                self.put(octets)
                if self.peer.is_full:
                    self.turn.router.written(self.peer)
        if self.connection.is_finished:
            self.finish()

    def put(self, octets: bytearray) -> None:
        """Write octets of the engine; their memory is reused as soon as possible."""
        socket = self.socket
        if socket is None:
            return
        if self._is_behind and socket.get_write_buffer_size() > 0:
            # The octets have to wait: copy them into memory of their size.
            socket.write(bytes(octets))
            self.connection.written(octets)
        else:
            socket.write(octets)
            self._is_behind = not self.connection.written(octets)

    def finish(self) -> None:
        """Close the socket once everything is written: there is no more output."""

    def abort(self) -> None:
        """Cut the connection."""
        if self.socket is not None:
            self.socket.abort()

    def spent(self, seconds: float) -> None:
        """Note the time of a step; after a long one, the next ones are shorter."""
        self.used_s += seconds
        if seconds > _LONG_S and self.step_octets > _SHORTEST_STEP:
            self.step_octets >>= 1

    def keep(self, data: bytearray, start: int, end: int) -> None:
        """Keep data[start:end] for later, behind the octets that are kept already."""
        octets = data[start:end]
        if self.rest is None:
            self.rest = octets
        else:
            self.rest = self.rest[self.rest_at :] + octets
        self.rest_at = 0

    def choke(self) -> None:
        """Take nothing from the peer until it has read."""
        if not self.is_choked:
            self.is_choked = True
            self.turn.choked[self] = None
        self.heed_reading()

    def relax(self) -> None:
        """Continue with the peer, which has read."""
        self.answered = 0
        if self.is_choked:
            self.is_choked = False
            self.turn.choked.pop(self, None)
            if self.rest is not None:
                self.turn.put_off(self)
            self.heed_reading()

    def forget_rest(self) -> None:
        """Drop the octets that were kept: the socket is gone."""
        self.rest = None
        self.turn.choked.pop(self, None)

    def heed_reading(self) -> None:
        """Start or stop reading the socket, as it should be now."""
        is_paused = self.is_put_off or self.is_choked
        socket = self.socket
        if is_paused == self.is_paused or socket is None or socket.is_closing():
            return
        self.is_paused = is_paused
        if is_paused:
            socket.pause_reading()
        else:
            socket.resume_reading()


class Turn:
    """The work of one worker between two polls of its sockets."""

    def __init__(
        self,
        host: TurnHost,
        router: "Router",
        call_soon: Callable[[Callable[[], None]], object],
        busy_poll: "BusyPoll",
    ) -> None:
        self.router = router
        self._host = host
        self._call_soon = call_soon
        self._busy_poll = busy_poll
        self._buffer = bytearray(READ_SIZE)
        self.buffer_view = memoryview(self._buffer)
        self.choked: dict[Pipe, None] = {}
        """Connections that nothing is taken from until their peers have read."""
        self._put_off: deque[Pipe] = deque()
        """Connections that have used their share, the next one first."""
        self._go_on = self.go_on
        self._is_going_on = False
        self._number = 1
        self._end = self.end
        self._is_end_due = False
        self._is_more_due = False
        self._began = 0.0
        self.longest_s = 0.0

    def begin(self) -> float:
        """Set the router's clock before any call to the router; return the time."""
        now = monotonic()
        self.router.set_clock(now)
        return now

    def received(self, pipe: "Pipe", size: int) -> None:
        """Let the engine take the read octets, as far as the connection's share allows."""
        now = self.begin()
        pipe.octets_in += size
        if pipe.tracer is not None:
            pipe.tracer.received(self.buffer_view[:size])
        if pipe.rest is not None:
            pipe.keep(self._buffer, 0, size)
            return
        at = self._take(pipe, self._buffer, 0, size, now)
        if at < size:
            pipe.keep(self._buffer, at, size)
            pipe.read_octets = max(pipe.read_octets >> 1, _LEAST_READ)
        elif size == pipe.read_octets and size < _READ_SIZE:
            pipe.read_octets <<= 1
        if at < size or pipe.used_s >= _SHARE_S:
            self.put_off(pipe)

    def used_by(self, pipe: "Pipe") -> float:
        """Return the time that a connection has used of its share in this turn."""
        if pipe.turn_number != self._number:
            pipe.turn_number = self._number
            pipe.used_s = 0.0
        return pipe.used_s

    def charge(self, pipe: "Pipe", used_s: float) -> None:
        """Note the time used so far. It exceeds the time in the engine, which does not include TLS."""
        pipe.used_s = used_s
        if pipe.peer.is_blocked and pipe.answered >= _ANSWERS_MAX:
            pipe.choke()
        if used_s >= _SHARE_S:
            self.put_off(pipe)

    def put_off(self, pipe: "Pipe") -> None:
        """Continue with a connection after others have had their turns."""
        if pipe.is_choked:
            # It continues when its peer has read.
            return
        if not pipe.is_put_off:
            pipe.is_put_off = True
            pipe.heed_reading()
            self._put_off.append(pipe)
        if not self._is_going_on:
            self._is_going_on = True
            self._call_soon(self._go_on)

    def go_on(self) -> None:
        """Give another share to each connection that has used its own, while there is time."""
        self._is_going_on = False
        waiting = self._put_off
        began = now = self.begin()
        self._number += 1
        try:
            for _ in range(len(waiting)):
                pipe = waiting.popleft()
                pipe.is_put_off = False
                self._take_rest(pipe, now)
                pipe.heed_reading()
                now = self.begin()
                if now - began >= _REST_S:
                    break
        finally:
            if waiting and not self._is_going_on:
                self._is_going_on = True
                self._call_soon(self._go_on)

    def _take_rest(self, pipe: "Pipe", now: float) -> None:
        rest = pipe.rest
        if rest is None or pipe.is_choked or pipe.socket is None:
            return
        end = len(rest)
        at = self._take(pipe, rest, pipe.rest_at, end, now)
        if at < end:
            pipe.rest_at = at
            self.put_off(pipe)
        else:
            pipe.rest = None

    def _take(self, pipe: "Pipe", data: bytearray, at: int, end: int, now: float) -> int:
        """Let the engine take data[at:end], up to the connection's share; return the offset where to continue."""
        connection, peer = pipe.connection, pipe.peer
        was_open = peer.is_open
        self.used_by(pipe)
        began = now
        said = connection.output.end
        try:
            at = connection.receive_some(data, now, at, end, pipe.step_octets)
            then = self.begin()
            while at < end:
                pipe.spent(then - began)
                if then - began < _SHORT_S and pipe.step_octets < _STEP:
                    pipe.step_octets <<= 1
                if peer.is_blocked:
                    pipe.answered += connection.output.end - said
                    if pipe.answered >= _ANSWERS_MAX:
                        break
                if pipe.used_s >= _SHARE_S:
                    break
                # A router has credit for many more messages, but a producer may have used all of its credit.
                self.write(then, None if peer.trunk is None else connection)
                began = then
                said = connection.output.end
                at = connection.receive_some(data, then, at, end, pipe.step_octets)
                then = self.begin()
            else:
                pipe.spent(then - began)
                if peer.is_blocked:
                    pipe.answered += connection.output.end - said
        except Exception:
            # A fault of ours: it ends this connection only.
            _log.exception("[C%d] Connection is given up", peer.number)
            pipe.abort()
            at = end
        if peer.is_blocked and pipe.answered >= _ANSWERS_MAX:
            pipe.choke()
        if not was_open or not peer.is_open or connection.is_finished:
            self._is_more_due = True
            self._host.look_at(pipe, was_open, now)
        if not self._is_end_due:
            self._is_end_due = True
            self._began = now
            self._call_soon(self._end)
        return at

    def due(self, began: float = 0.0) -> None:
        """End the turn soon: something was done that may have caused output."""
        self._is_more_due = True
        if not self._is_end_due:
            self._is_end_due = True
            self._began = began or monotonic()
            self._call_soon(self._end)

    def end(self) -> None:
        """Write the output of the turn, and pass on what is not for peers."""
        self._is_end_due = False
        self._number += 1
        now = self.begin()
        self._busy_poll.worked(now)
        if now - self._began > self.longest_s:
            self.longest_s = now - self._began
        router = self.router
        router.end_turn()
        if self._is_more_due or router.has_news():
            self._is_more_due = False
            self._host.conclude(now)
        if self.write(now, None) and router.awake:
            # An endpoint inside the router has written an answer.
            self.due()

    def write(self, now: float, spared: "Connection | None") -> bool:
        """Write the output of connections, except for one that comes too early; return whether there was any."""
        router = self.router
        awake = router.awake
        if not awake:
            return False
        router.awake = []
        for connection in awake:
            if connection is spared:
                router.awake.append(connection)
                continue
            shell = connection.context.shell
            try:
                shell.flush(now)
            except Exception:
                # A fault of ours: it ends this connection only.
                _log.exception("[C%d] Connection is given up", connection.context.number)
                shell.abort()
        return True
