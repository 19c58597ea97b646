"""A connection's socket with filters on it.

A connection without filters has a `Transport` alone, which reads straight into the worker's one buffer. The last filter
of a stack puts what it hands on into that same buffer.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

from routerd.core import Peer
from routerd.io.logs import failure_of, module_log
from routerd.io.sockets.filters import Filter, Octets, Security
from routerd.io.sockets.transport import Transport, TransportHost
from routerd.io.sockets.worker_turn import LEAST_READ, READ_SIZE, SHARE_S
from routerd.wire import Connection

FIRST_READ = 1 << 16
"""Octets that are read at a time, to begin with."""

_log = module_log("SERVER")


class FilteredTransport(Transport):
    """One connection's socket, with filters between it and the engine.

    The worker is told of the connection once all filters are ready.
    """

    __slots__ = (
        *("_filters", "_has_ended", "_send", "_view"),
        *("is_encrypted", "tls_cipher", "tls_protocol", "tls_ssf", "tls_user"),
    )

    def __init__(self, worker: TransportHost, peer: Peer, connection: Connection, filters: Sequence[Filter]) -> None:
        """The first filter is at the socket, the last one at the engine."""
        super().__init__(worker, peer, connection)
        self._filters = list(filters)
        self._view = worker.filter_buffers.at(0)
        self._send: Callable[[Octets], object] | None = None
        """What the last filter sends by; None without filters."""
        self._has_ended = False
        self.read_octets = FIRST_READ
        self.is_ready = False
        self.is_encrypted = False
        self.tls_user: str | None = None
        self.tls_protocol: str | None = None
        self.tls_cipher: str | None = None
        self.tls_ssf = 0

    # --- called by the event loop

    def begin(self) -> None:
        """Have the first filter begin."""
        self._join_filters()
        self._go_on()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to read to."""
        return self._view[: self.read_octets] if self._filters else super().get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        """Hand what was read to the first filter."""
        if self._has_ended:
            return
        if not self._filters:
            self.turn.received(self, nbytes)
        else:
            # The turn itself sees only what the engine takes; what filters take counts from the first octets on.
            began, used_s = time.monotonic(), self.turn.used_by(self)
            self._filters[0].receive(self._view[:nbytes])
            taken_s = time.monotonic() - began
            if self._filters:
                self._fit_reads(nbytes, taken_s)
            self.turn.charge(self, used_s + taken_s)

    def _fit_reads(self, octets: int, taken_s: float) -> None:
        """Read fewer octets at a time where they cost much, as tiny records do, and more where they do not."""
        if taken_s > SHARE_S:
            self.read_octets = max(octets >> 1, LEAST_READ)
        elif octets == self.read_octets:
            self.read_octets = min(2 * octets, READ_SIZE)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        if not (self._has_ended or self.is_ready or self.failure):
            self.failure = next((one.early_loss for one in self._filters if not one.is_ready), "")
        self._end()
        super().connection_lost(exc)
        # They point back here, and garbage is collected rarely.
        self._filters = []
        self._send = None

    # --- the stack

    def _join_filters(self) -> None:
        """Give each filter its neighbours."""
        socket = self.socket
        assert socket is not None, "it has begun"
        filters, buffers = self._filters, self._worker.filter_buffers
        below: Callable[[Octets], object] = socket.write
        for place, one in enumerate(filters):
            if one is filters[-1]:
                one.join(self, below, self.turn.buffer_view, self._deliver)
            else:
                room = buffers.at(place + 1)
                one.join(self, below, room, partial(self._pass_on, filters[place + 1], room))
            below = one.send
        self._send = below if filters else None

    def _go_on(self) -> None:
        """Have the next filter begin, or the connection: those below are ready."""
        for one in self._filters:
            if not one.is_ready:
                one.begin()
                return
        self.is_ready = True
        self._worker.connected(self)
        self.flush(time.monotonic())

    def filter_ready(self, security: Security | None) -> None:
        """Go on with the filter above, or with the connection."""
        if security is not None:
            self.is_encrypted = True
            self.tls_user, self.tls_ssf = security.user, security.ssf
            self.tls_protocol, self.tls_cipher = security.protocol, security.cipher
        self._go_on()

    def remove(self, leaving: Filter, octets: bytes) -> None:
        """Do without a filter; whoever is above it takes the octets, which came from below."""
        place = self._filters.index(leaving)
        del self._filters[place]
        if not self._filters:
            self.read_octets = READ_SIZE
        self._join_filters()
        self._go_on()
        if not self.is_open:
            return
        if place < len(self._filters):
            self._filters[place].receive(memoryview(octets))
        else:
            self.turn.buffer_view[: len(octets)] = octets
            self._deliver(len(octets))

    def _pass_on(self, above: Filter, room: memoryview, size: int) -> None:
        """Have the next filter take what the one below it has put into its buffer."""
        if not self._has_ended:
            above.receive(room[:size])

    def _deliver(self, size: int) -> None:
        """Have the engine take what the last filter has put into the worker's buffer."""
        socket = self.socket
        if self.is_ready and socket is not None and not socket.is_closing():
            self.turn.received(self, size)

    def put(self, octets: bytearray) -> None:
        """Write octets of the engine, through all filters."""
        send = self._send
        if send is None:
            super().put(octets)
        elif self.socket is not None:
            send(octets)
            if self.is_ready:
                self.connection.written(octets)

    @property
    def is_open(self) -> bool:
        """Whether the socket is there, and nobody has closed it."""
        return self.socket is not None and not self.socket.is_closing()

    @property
    def buffered_octets(self) -> int:
        """How much waits to be written."""
        return super().buffered_octets + sum(one.waiting_octets for one in self._filters)

    def count_answer(self, octets: int) -> None:
        """Count octets that a filter writes by itself; a peer that does not read may cause only so many."""
        if self.peer.is_blocked:
            self.answered += octets

    # --- the end

    def peer_ended(self) -> None:
        """End the connection as at the end of a stream without filters: one that is half open is of no use."""
        self.flush(time.monotonic())
        self._close()

    def _close(self) -> None:
        """Close the socket once all is written, saying before that this is the end."""
        for one in reversed(self._filters):
            if one.is_ready:
                one.close()
        self._end()
        super()._close()

    def give_up(self, reason: str) -> None:
        """End the connection at once, for a reason."""
        self.fail(reason)
        self.abort()

    def fail(self, reason: str) -> None:
        """Close the connection for a reason, with what has been written before."""
        if not self.failure:
            self.failure = reason
            if not self.peer.is_initiator:
                # A connector logs it itself.
                _log.info("%s", failure_of(self.peer, reason))
        self._end()
        if self.socket is not None:
            self.socket.close()
            self.end_soon()

    def _end(self) -> None:
        self._has_ended = True
        self.is_ready = False
        for one in self._filters:
            one.is_ready = False
            one.end()


