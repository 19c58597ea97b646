"""The turns of a worker's loop: what was read goes to the engine, and what came of it to the sockets.

Compiled, since all octets pass here; what is done once a connection is in `Transport`, and what is done once in a while
in `Worker`.
"""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from routerd.io.deadlines import NEVER
from routerd.io.logs import module_log

if TYPE_CHECKING:
    from routerd.core.peer import Peer
    from routerd.core.router import Router
    from routerd.io.busy_poll import BusyPoll
    from routerd.io.protocol_trace import FrameTracer
    from routerd.wire.connection import Connection

READ_SIZE = 1 << 18
"""Octets that are read at once; one buffer serves all connections."""
STEP = 1 << 16
"""Octets of what was read that are taken before what they brought about is written, so that others work meanwhile."""

_STEP = STEP

_log = module_log("SERVER")


class TurnHost(Protocol):
    """What a turn is part of."""

    def look_at(self, pipe: Any, was_open: bool, now: float) -> None:
        """See to a connection that has been opened, or is over."""

    def conclude(self, now: float) -> None:
        """Pass on what is for others than peers: the turn ends."""


class Pipe:
    """What octets pass on their way between a socket and the connection that they are of."""

    def __init__(self, turn: "Turn", peer: "Peer", connection: "Connection") -> None:
        self.turn = turn
        self.peer = peer
        self.connection = connection
        self.socket: asyncio.Transport | None = None
        self.tracer: FrameTracer | None = None
        # Whether what the engine has to send can be sent.
        self.is_ready = True
        self.deadline = NEVER
        self._is_behind = False

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to read to."""
        return self.turn.buffer_view

    def buffer_updated(self, nbytes: int) -> None:
        """Hand what was read to the engine."""
        self.turn.received(self, nbytes)

    def flush(self, now: float) -> None:
        """Write what the engine has, and close when it is done."""
        if self.socket is None:
            return
        if self.is_ready and not self.peer.is_blocked:
            octets = self.connection.data_to_send(now)
            if octets:
                if self.tracer is not None:
                    self.tracer.sent(memoryview(octets))
                self.put(octets)
                if self.peer.is_full:
                    self.turn.router.written(self.peer)
        if self.connection.is_finished:
            self.finish()

    def put(self, octets: bytearray) -> None:
        """Write octets of the engine, whose memory goes back to it as soon as it can."""
        socket = self.socket
        if socket is None:
            return
        if self._is_behind and socket.get_write_buffer_size() > 0:
            # It has to wait, in no more memory than it takes.
            socket.write(bytes(octets))
            self.connection.written(octets)
        else:
            socket.write(octets)
            self._is_behind = not self.connection.written(octets)

    def finish(self) -> None:
        """Close the socket, once all is written: nothing more will be said."""

    def abort(self) -> None:
        """Cut the connection."""
        if self.socket is not None:
            self.socket.abort()


class Turn:
    """What goes on in one worker between two looks of the loop at its sockets."""

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
        self._end = self.end
        self._is_end_due = False
        self._is_more_due = False
        self._began = 0.0
        self.longest_s = 0.0

    def received(self, pipe: "Pipe", size: int) -> None:
        """Have the engine take what was read."""
        now = monotonic()
        router = self.router
        router.now = now
        connection, peer = pipe.connection, pipe.peer
        was_open = peer.is_open
        try:
            if pipe.tracer is not None:
                pipe.tracer.received(self.buffer_view[:size])
            at = connection.receive_some(self._buffer, now, 0, size, _STEP)
            while at < size:
                # A router has credit for many more; a producer may have used all of its own.
                self.write(now, None if peer.trunk is None else connection)
                at = connection.receive_some(self._buffer, now, at, size, _STEP)
        except Exception:
            # A fault of ours: it costs this connection, and no other.
            _log.exception("[C%d] Connection is given up", peer.number)
            pipe.abort()
        if not was_open or not peer.is_open or connection.is_finished:
            self._is_more_due = True
            self._host.look_at(pipe, was_open, now)
        if not self._is_end_due:
            self._is_end_due = True
            self._began = now
            self._call_soon(self._end)

    def due(self, began: float = 0.0) -> None:
        """Have the turn end soon: something was done that may have brought about something for anybody."""
        self._is_more_due = True
        if not self._is_end_due:
            self._is_end_due = True
            self._began = began or monotonic()
            self._call_soon(self._end)

    def end(self) -> None:
        """Write what the turn brought about, and pass on what is not for peers."""
        self._is_end_due = False
        now = monotonic()
        self._busy_poll.worked(now)
        if now - self._began > self.longest_s:
            self.longest_s = now - self._began
        router = self.router
        router.end_turn()
        if self._is_more_due or router.has_news():
            self._is_more_due = False
            self._host.conclude(now)
        if self.write(now, None) and router.awake:
            # An endpoint inside the router has answered.
            self.due()

    def write(self, now: float, spared: "Connection | None") -> bool:
        """Write what connections have, save one for which it is too early; return whether any had."""
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
                # A fault of ours: it costs this connection, and no other.
                _log.exception("[C%d] Connection is given up", connection.context.number)
                shell.abort()
        return True
