"""The beginning and the end of a connection's socket, and back-pressure.

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
"""Octets that may wait in the transport before no more deliveries begin, and the level at which they begin again."""
LINGER_S = 5.0
"""The time for a peer to read the rest of its output or to answer our close, before its connection is cut."""

LOST = "its socket was closed without a close"
UNOPENED = "its socket was closed before it was opened"

_protocol = module_log("PROTOCOL")
_server = module_log("SERVER")


class TransportHost(Protocol):
    """The owner of connections: a worker."""

    turn: Turn
    filter_buffers: FilterBuffers
    """The memory that sockets with filters read to."""

    def connected(self, transport: "Transport") -> None:
        """Begin with a connection."""

    def disconnected(self, transport: "Transport") -> None:
        """Handle the end of a connection."""

    def set_blocked(self, transport: "Transport", is_blocked: bool) -> None:
        """Note whether a transport has room."""

    def close_unless_open(self, transport: "Transport") -> None:
        """Give up a peer whose time for an open is over."""


class Transport(Pipe, asyncio.BufferedProtocol):
    """One connection's socket. All sockets of a worker read into one buffer, which is consumed at once."""

    __slots__ = ("_end_timer", "_is_silenced", "_open_timer", "_worker", "failure", "host", "is_traced", "loss")

    is_encrypted: bool = False
    """Whether a filter encrypts it. This and the next attributes are set before the worker learns of the connection."""
    tls_user: str | None = None
    """The identity in the peer's certificate, if it has shown a trusted one."""
    tls_protocol: str | None = None
    tls_cipher: str | None = None
    tls_ssf: int = 0
    """The key length of the cipher, in bits."""

    def __init__(self, worker: TransportHost, peer: Peer, connection: Connection) -> None:
        super().__init__(worker.turn, peer, connection)
        self._worker = worker
        self.failure = ""
        """The reason for a failure that the engine does not report. The code that sets it logs it."""
        self.loss = ""
        """The end of a socket without a close."""
        self.host = ""
        self._open_timer: PeerTimer | None = None
        self._end_timer: PeerTimer | None = None
        self.is_traced = False
        self._is_silenced = False
        """Whether the connection has no trace, whatever the log says."""
        peer.connection = connection
        peer.shell = self
        connection.context = peer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.socket = cast(asyncio.Transport, transport)
        self.host = peer_name(transport)
        if self.carries_amqp:
            self.note_accepted()
        self.peer.reach_octets = reach_octets(transport)
        self.socket.set_write_buffer_limits(WRITE_HIGH_WATER, WRITE_LOW_WATER)
        self.heed_log()
        self.begin()

    @property
    def carries_amqp(self) -> bool:
        """Whether this is, or will be, an AMQP connection."""
        return True

    def note_accepted(self) -> None:
        """Log the new connection."""
        listener = self.peer.details
        if _server.is_info and isinstance(listener, ListenerConfig):
            _server.info("[C%d] Accepted connection to %s from %s", self.peer.number, listener.address, self.host)

    def begin(self) -> None:
        """Let the worker begin with the connection."""
        self._worker.connected(self)

    def eof_received(self) -> bool:
        """Close the transport: a half-open connection is of no use."""
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
        """The octets that wait to be written."""
        return 0 if self.socket is None else self.socket.get_write_buffer_size()

    def pause_writing(self) -> None:
        """The transport is full: begin no delivery on this connection."""
        self._worker.set_blocked(self, True)

    def resume_writing(self) -> None:
        """There is room again."""
        self._worker.set_blocked(self, False)
        self.relax()

    def finish(self) -> None:
        """Close the socket, once everything is written: there is no more output."""
        self._close()
        self.end_soon()

    def retire(self) -> None:
        """Tell the filters that the router is draining; there are none here."""

    def _close(self) -> None:
        if self.socket is not None:
            self.socket.close()

    def set_trace(self, is_on: bool) -> None:
        """Trace the frames of this connection or do not, whatever the log says."""
        self.is_traced = is_on
        self._is_silenced = not is_on
        self.heed_log()

    def heed_log(self) -> None:
        """Start or stop the trace by the present settings of the log. Connections between workers have no trace."""
        follows_log = _protocol.is_trace and not self._is_silenced
        is_wanted = (self.is_traced or follows_log) and not self.peer.is_fabric
        if is_wanted and self.tracer is None:
            self.tracer = FrameTracer(self.peer.number, _write_trace, self.connection.cut_frame)
        elif not is_wanted:
            self.tracer = None

    def expect_open(self, seconds: float) -> None:
        """Cut the connection if the peer does not open it in time."""
        self._open_timer = PeerTimer(asyncio.get_running_loop(), seconds, self._worker.close_unless_open, self)

    def settled(self) -> None:
        """Stop waiting for an open: it has come, or never will."""
        if self._open_timer is not None:
            self._open_timer.cancel()
            self._open_timer = None

    def end_soon(self) -> None:
        """Cut the connection soon, unless it ends by itself."""
        if self._end_timer is None and self.socket is not None:
            self._end_timer = PeerTimer(asyncio.get_running_loop(), LINGER_S, self.abort)

    def give_up(self, reason: str) -> None:
        """Cut the connection, and note the reason."""
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
