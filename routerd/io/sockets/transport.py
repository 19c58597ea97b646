"""Between a socket and a connection of the engine: its beginning and its end, and back-pressure.

The octets pass by `Pipe`.
"""

import asyncio
from typing import Protocol, cast

from routerd.config import ListenerConfig
from routerd.core import Peer
from routerd.io.logs import FrameTracer, Level, module_log
from routerd.io.scheduling import PeerTimer
from routerd.io.sockets.filters import FilterBuffers
from routerd.io.sockets.round_trip import reach_octets
from routerd.io.sockets.worker_turn import Pipe, Turn
from routerd.wire import Connection

WRITE_HIGH_WATER = 1 << 20
WRITE_LOW_WATER = 1 << 18
"""Octets that may wait in the transport before nothing more is sent on the connection, and when it goes on."""
LINGER_S = 5.0
"""What a peer gets to read what is left for it, or to answer our close, before its connection is cut."""

LOST = "its socket was closed without a close"
UNOPENED = "its socket was closed before it was opened"

_protocol = module_log("PROTOCOL")
_server = module_log("SERVER")


class TransportHost(Protocol):
    """What has connections: a worker."""

    turn: Turn
    filter_buffers: FilterBuffers
    """Where sockets with filters read to."""

    def connected(self, transport: "Transport") -> None:
        """Begin with a connection."""

    def disconnected(self, transport: "Transport") -> None:
        """See to the end of a connection."""

    def set_blocked(self, transport: "Transport", is_blocked: bool) -> None:
        """Pass on whether a transport has room."""

    def close_unless_open(self, transport: "Transport") -> None:
        """Give up a peer that has had its time to send an open."""


class Transport(Pipe, asyncio.BufferedProtocol):
    """One connection's socket. All sockets of a worker read into one buffer, which is consumed at once."""

    __slots__ = ("_end_timer", "_open_timer", "_worker", "failure", "host", "is_traced", "loss")

    is_encrypted: bool = False
    """Whether a filter encrypts it. This and what follows is settled when the worker is told of the connection."""
    tls_user: str | None = None
    """Who the peer's certificate says that it is, if it has shown one that is trusted."""
    tls_protocol: str | None = None
    tls_cipher: str | None = None
    tls_ssf: int = 0
    """The bits of the cipher's key."""

    def __init__(self, worker: TransportHost, peer: Peer, connection: Connection) -> None:
        super().__init__(worker.turn, peer, connection)
        self._worker = worker
        self.failure = ""
        """Why the connection could not be, where that is not the engine's to say; whoever sets it logs it."""
        self.loss = ""
        """How the socket ended, where no close came before."""
        self.host = ""
        self._open_timer: PeerTimer | None = None
        self._end_timer: PeerTimer | None = None
        self.is_traced = False
        peer.connection = connection
        peer.shell = self
        connection.context = peer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.socket = cast(asyncio.Transport, transport)
        self.host = peer_name(transport)
        listener = self.peer.details
        if _server.is_info and isinstance(listener, ListenerConfig):
            _server.info("[C%d] Accepted connection to %s from %s", self.peer.number, listener.address, self.host)
        self.peer.reach_octets = reach_octets(transport)
        self.socket.set_write_buffer_limits(WRITE_HIGH_WATER, WRITE_LOW_WATER)
        self.heed_log()
        self.begin()

    def begin(self) -> None:
        """Have the worker begin with the connection."""
        self._worker.connected(self)

    def eof_received(self) -> bool:
        """Have the transport closed: a half-open connection is of no use."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self.forget_rest()
        self.settled()
        if not self.connection.is_finished:
            loss = UNOPENED if self.connection.remote_open is None else LOST
            self.loss = loss if exc is None else getattr(exc, "strerror", None) or str(exc)
        self._worker.disconnected(self)
        self.socket = None
        if self._end_timer is not None:
            self._end_timer.cancel()
            self._end_timer = None

    @property
    def is_over(self) -> bool:
        """Whether the socket is gone."""
        return self.socket is None

    @property
    def buffered_octets(self) -> int:
        """How much waits to be written."""
        return 0 if self.socket is None else self.socket.get_write_buffer_size()

    def pause_writing(self) -> None:
        """The transport is full: begin no delivery on this connection."""
        self._worker.set_blocked(self, True)

    def resume_writing(self) -> None:
        """There is room again."""
        self._worker.set_blocked(self, False)
        self.relax()

    def finish(self) -> None:
        """Close the socket, once all is written: nothing more will be said."""
        self._close()
        self.end_soon()

    def _close(self) -> None:
        if self.socket is not None:
            self.socket.close()

    def set_trace(self, is_on: bool) -> None:
        """Trace the frames of this connection, or leave it to the log whether they are traced."""
        self.is_traced = is_on
        self.heed_log()

    def heed_log(self) -> None:
        """Begin to trace frames, or stop, as the log is set now; those between workers are nobody's business."""
        is_wanted = (self.is_traced or _protocol.is_trace) and not self.peer.is_fabric
        if is_wanted and self.tracer is None:
            self.tracer = FrameTracer(self.peer.number, _write_trace, self.connection.cut_frame)
        elif not is_wanted:
            self.tracer = None

    def expect_open(self, seconds: float) -> None:
        """Cut the connection when the peer has not opened it in time."""
        self._open_timer = PeerTimer(asyncio.get_running_loop(), seconds, self._worker.close_unless_open, self)

    def settled(self) -> None:
        """Wait for no open any more: it has come, or never will."""
        if self._open_timer is not None:
            self._open_timer.cancel()
            self._open_timer = None

    def end_soon(self) -> None:
        """Cut the connection before long, unless it ends by itself."""
        if self._end_timer is None and self.socket is not None:
            self._end_timer = PeerTimer(asyncio.get_running_loop(), LINGER_S, self.abort)

    def give_up(self, reason: str) -> None:
        """Cut the connection, and have it known why."""
        self.failure = reason
        self.abort()


def _write_trace(text: str) -> None:
    _protocol.record(Level.TRACE, text)


def peer_name(transport: asyncio.BaseTransport) -> str:
    """Return the peer's address and port as text."""
    name = transport.get_extra_info("peername")
    if not isinstance(name, tuple):
        return str(name or "")
    return f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"
