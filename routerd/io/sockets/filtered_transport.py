"""A connection's socket with filters on it.

A connection without filters has only a `Transport`, which reads straight into the worker's one buffer. The last filter
of a stack writes its output into the same buffer.
"""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from routerd.core import Peer, host_of
from routerd.io.logs import SeldomLog, failure_of, module_log
from routerd.io.sockets.filters import Filter, Octets, Security
from routerd.io.sockets.transport import Transport, TransportHost
from routerd.io.sockets.worker_turn import LEAST_READ, READ_SIZE, SHARE_S
from routerd.wire import Connection

FIRST_READ = 1 << 16
"""Octets of a read, in the beginning."""

_log = module_log("SERVER")
_http = SeldomLog(_log, time.monotonic, again_s=1.0)
"""Connections that come for HTTP: browsers and probes try again at once."""


class FilteredTransport(Transport):
    """One connection's socket, with filters between it and the engine.

    The worker learns of the connection once all filters are ready.
    """

    __slots__ = (
        *("_filters", "_has_ended", "_has_peer_ended", "_send", "_view"),
        *("is_encrypted", "tls_cipher", "tls_protocol", "tls_ssf", "tls_user"),
    )

    def __init__(self, worker: TransportHost, peer: Peer, connection: Connection, filters: Sequence[Filter]) -> None:
        """The first filter is at the socket, the last one at the engine."""
        super().__init__(worker, peer, connection)
        self._filters = list(filters)
        self._view = worker.filter_buffers.at(0)
        self._send: Callable[[Octets], object] | None = None
        """The path of the last filter's output; None without filters."""
        self._has_ended = False
        self._has_peer_ended = False
        self.read_octets = FIRST_READ
        self.is_ready = False
        self.is_encrypted = False
        self.tls_user: str | None = None
        self.tls_protocol: str | None = None
        self.tls_cipher: str | None = None
        self.tls_ssf = 0

    # --- called by the event loop

    def begin(self) -> None:
        """Let the first filter begin."""
        self._join_filters()
        self._go_on()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the memory for the next read."""
        return self._view[: self.read_octets] if self._filters else super().get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        """Hand the read octets to the first filter."""
        if self._has_ended:
            return
        if not self._filters:
            self.turn.received(self, nbytes)
        else:
            # The turn sees only the time of the engine. The time of filters counts from the first octets on.
            began, used_s = time.monotonic(), self.turn.used_by(self)
            self._filters[0].receive(self._view[:nbytes])
            taken_s = time.monotonic() - began
            if self._filters:
                self._fit_reads(nbytes, taken_s)
            self.turn.charge(self, used_s + taken_s)

    def _fit_reads(self, octets: int, taken_s: float) -> None:
        """Read fewer octets at a time if they cost much, as tiny records do, and more otherwise."""
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
        # They refer to this object, and garbage is collected rarely.
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
                one.join(self, below, room, partial(self._pass_on, place + 1, room))
            below = one.send
        self._send = below if filters else None

    def _go_on(self) -> None:
        """Let the next filter or the connection begin: those below are ready."""
        for one in self._filters:
            if not one.is_ready:
                one.begin()
                return
        self.is_ready = True
        self._worker.connected(self)
        self.flush(time.monotonic())

    def filter_ready(self, security: Security | None) -> None:
        """Continue with the filter above, or with the connection."""
        if security is not None:
            self.is_encrypted = True
            self.tls_user, self.tls_ssf = security.user, security.ssf
            self.tls_protocol, self.tls_cipher = security.protocol, security.cipher
        self._go_on()

    def remove(self, leaving: Filter, octets: bytes) -> None:
        """Remove a filter; the one above it takes the octets, which came from below."""
        place = self._filters.index(leaving)
        carried_amqp = self.carries_amqp
        del self._filters[place]
        if not self._filters:
            self.read_octets = READ_SIZE
        if self.carries_amqp and not carried_amqp:
            self.note_accepted()
        self._join_filters()
        self._go_on()
        if not self.is_open:
            return
        if place < len(self._filters):
            self._filters[place].receive(memoryview(octets))
        else:
            self.turn.buffer_view[: len(octets)] = octets
            self._deliver(len(octets))

    def _pass_on(self, place: int, room: memoryview, size: int) -> None:
        """Let the filter at a place take the octets that the one below it has put into its buffer."""
        if self._has_ended:
            return
        if place < len(self._filters):
            self._filters[place].receive(room[:size])
        else:
            # The last filter has left while the one below it was passing octets on.
            self.turn.buffer_view[:size] = room[:size]
            self._deliver(size)

    def _deliver(self, size: int) -> None:
        """Let the engine take the octets that the last filter has put into the worker's buffer."""
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
    def carries_amqp(self) -> bool:
        """Whether this is, or will be, an AMQP connection; HTTP is not, until it changes to a WebSocket."""
        return all(one.carries_amqp for one in self._filters)

    @property
    def is_open(self) -> bool:
        """Whether the socket is open, and nobody has closed it."""
        return self.socket is not None and not self.socket.is_closing()

    @property
    def buffered_octets(self) -> int:
        """The octets that wait for the socket."""
        return super().buffered_octets + sum(one.waiting_octets for one in self._filters)

    def count_answer(self, octets: int) -> None:
        """Count octets that a filter writes by itself: there is a limit for a peer that does not read."""
        if self.peer.is_blocked:
            self.answered += octets

    # --- the end

    def peer_ended(self) -> None:
        """End the connection, as at the end of a stream without filters: a half-open connection is of no use."""
        self._has_peer_ended = True
        self.flush(time.monotonic())
        self._close()

    def retire(self) -> None:
        """Tell the filters to begin nothing new."""
        for one in list(self._filters):
            one.retire()

    def _close(self) -> None:
        """Close the socket once everything is written, after the filters have told their peers.

        If a filter's peer answers that, the socket waits for its answer, up to the time of `end_soon`.
        """
        for one in reversed(self._filters):
            if one.is_ready:
                one.close()
                if one.is_awaiting_end and not self._has_peer_ended:
                    return
        self._end()
        super()._close()

    def give_up(self, reason: str) -> None:
        """End the connection at once, for a reason."""
        self.fail(reason)
        self.abort()

    def fail(self, reason: str) -> None:
        """Close the connection for a reason, after everything before was written."""
        if not self.failure:
            self.failure = reason
            if not self.peer.is_initiator:
                # A connector logs it itself.
                self._log_failure(failure_of(self.peer, reason))
        self._end()
        if self.socket is not None:
            self.socket.close()
            self.end_soon()

    def _log_failure(self, text: str) -> None:
        if self.carries_amqp:
            _log.info("%s", text)
        else:
            _http.say(logging.INFO, host_of(self.host), text)

    def _end(self) -> None:
        self._has_ended = True
        self.is_ready = False
        for one in self._filters:
            one.is_ready = False
            one.end()


